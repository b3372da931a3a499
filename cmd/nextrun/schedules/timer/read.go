package timer

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/periodic"
)

// reader turns a timer into items.
type reader struct {
	*finder
	unit    *unit
	items   []schedules.Item
	general []string // changes of all tasks of the timer
}

// monotonic are the settings of triggers that count from an event.
var monotonic = map[string]string{
	"OnActiveSec": "the start of the timer", "OnBootSec": "the start of the machine", "OnStartupSec": "the start of systemd",
	"OnUnitActiveSec": "the last start of the unit", "OnUnitInactiveSec": "the last end of the unit",
}

// known are the other settings of a timer.
var known = []string{
	"OnCalendar", "Persistent", "RandomizedDelaySec", "FixedRandomDelay", "AccuracySec", "Unit", "WakeSystem", "RemainAfterElapse",
	"OnClockChange", "OnTimezoneChange", "RandomizedOffsetSec", "DeferReactivation",
}

func (r *reader) read() ([]schedules.Item, error) {
	for _, b := range r.unit.broken {
		r.items = append(r.items, schedules.Item{File: b.file, Line: b.line, Source: b.key, Changed: []string{"ignored, as systemd does: " + b.value}})
	}
	task := periodic.NewTask("", "", "")
	r.policies(&task)
	r.rest()
	triggers := r.triggers()
	calendars := slices.DeleteFunc(slices.Clone(triggers), func(s setting) bool { return s.key != "OnCalendar" })
	if len(triggers) == 0 {
		r.items = append(r.items, schedules.Item{File: r.unit.files[0], Source: r.unit.name, Refused: "it has no OnCalendar= and never elapses by itself"})
	}
	entry := schedules.Entry{}
	if len(calendars) > 0 {
		var err error
		if entry, err = r.entry(task, len(calendars)); err != nil {
			return nil, err
		}
	}
	first := true
	of := ""
	if template := templateOf(r.unit.name); template != "" {
		of = r.unit.name + ": " // the file is that of all instances
	}
	for _, s := range triggers {
		item := schedules.Item{File: s.file, Line: s.line, Source: schedules.Shorten(of + s.String())}
		if s.key != "OnCalendar" {
			item.Refused = r.nearest(s)
		} else if timer, err := inZone(s.value, r.options.Zone); err != nil {
			item.Refused = err.Error()
		} else {
			e := entry
			e.Task.Timer = timer
			item.Entry = &e
			if first {
				item.Changed = r.general
				first = false
			}
		}
		r.items = append(r.items, item)
	}
	return r.items, nil
}

// triggers are the lines that make the timer elapse. An empty one of them forgets
// all before it.
func (r *reader) triggers() (list []setting) {
	for _, s := range r.unit.all("Timer") {
		on := isOn(s.value)
		switch event := s.key == "OnClockChange" || s.key == "OnTimezoneChange"; {
		case monotonic[s.key] == "" && s.key != "OnCalendar" && !(event && on):
		case s.value == "":
			list = nil
		default:
			list = append(list, s)
		}
	}
	return list
}

// nearest says why a trigger is refused, and what comes next to it.
func (r *reader) nearest(s setting) string {
	from := monotonic[s.key]
	if from == "" {
		return s.key + ": no timer elapses when the clock or the zone is set"
	}
	text := fmt.Sprintf("%s counts from %s, which nextrun does not know", s.key, from)
	d, err := parseSpan(s.value)
	if err != nil {
		return err.Error()
	}
	if s.key == "OnUnitActiveSec" || s.key == "OnUnitInactiveSec" {
		return text + "; the nearest timer is: " + every(d)
	}
	if repeats := r.unit.last("Timer", "OnUnitActiveSec") + r.unit.last("Timer", "OnUnitInactiveSec") + r.unit.last("Timer", "OnCalendar"); repeats != "" {
		return text + "; the other lines of the timer make it elapse again"
	}
	return text + "; it elapses once only: use the service manager"
}

// inZone is the timer of a calendar event, in a zone if it names none.
func inZone(event, zone string) (string, error) {
	event = strings.Join(strings.Fields(event), " ")
	s, err := calendar.Parse(event)
	if err != nil {
		return "", err
	}
	normal := s.String()
	if strings.HasPrefix(normal, "every ") || len(strings.Fields(strings.TrimPrefix(normal, "CRON_TZ="))) > 4 {
		return "", fmt.Errorf("%q is no calendar event of systemd, which refuses the line, too", event)
	}
	if zone == "" || zone == "UTC" || strings.HasPrefix(event, "@") {
		return event, nil
	}
	if _, err := calendar.Parse(event + " " + zone); err != nil {
		return event, nil //nolint:nilerr // it names a zone already
	}
	return event + " " + zone, nil
}

// policies reads what the timer says beside its elapses.
func (r *reader) policies(task *periodic.Task) {
	task.Catchup = periodic.CatchupNone
	if isOn(r.unit.last("Timer", "Persistent")) {
		task.Catchup = periodic.CatchupOne
	}
	if text := r.unit.last("Timer", "RandomizedDelaySec"); text != "" {
		d, err := parseSpan(text)
		if err != nil {
			r.change("RandomizedDelaySec: %v", err)
		}
		task.Jitter = min(wholeSeconds(d), 1<<31*time.Second-time.Second)
	}
	if isOn(r.unit.last("Timer", "FixedRandomDelay")) && task.Jitter > 0 {
		r.change("FixedRandomDelay: the delay of the jitter is fixed for each tick, and differs between ticks")
	}
	if d, err := parseSpan(r.unit.last("Timer", "AccuracySec")); err == nil && d > time.Minute {
		r.change("AccuracySec: nextrun elapses on time, and spreads tasks only by their jitter")
	}
	if text := r.unit.last("Timer", "RandomizedOffsetSec"); text != "" {
		r.change("RandomizedOffsetSec: nextrun has no offset; give the task a jitter")
	}
	if isOn(r.unit.last("Timer", "WakeSystem")) {
		r.change("WakeSystem: nextrun does not wake a machine that sleeps")
	}
}

func (r *reader) change(format string, args ...any) {
	r.general = append(r.general, fmt.Sprintf(format, args...))
}

// rest names what has no equivalent.
func (r *reader) rest() {
	for _, s := range r.unit.all("Timer") {
		if monotonic[s.key] == "" && !slices.Contains(known, s.key) {
			r.change("%s: systemd has no such setting for timers; ignored", s.key)
		}
	}
	for _, s := range r.unit.all("Unit") {
		if strings.HasPrefix(s.key, "Condition") || strings.HasPrefix(s.key, "Assert") {
			r.change("%s: nextrun has no conditions; let the command check it", schedules.Shorten(s.String()))
		}
	}
}

// unitName is what systemd.unit(5) allows. What is no name may be a path, which is not
// followed.
var unitName = regexp.MustCompile(`^[A-Za-z0-9:_.\\@-]+\.[a-z]+$`)

// entry is what all tasks of the timer have in common.
func (r *reader) entry(task periodic.Task, lines int) (schedules.Entry, error) {
	stem := strings.TrimSuffix(r.unit.name, ".timer")
	target := r.unit.last("Timer", "Unit")
	if target == "" {
		target = stem + ".service"
	}
	target, unknown := specifiers(target, r.unit.name)
	if unknown != "" {
		r.change("Unit: %s is not expanded", unknown)
		target = stem + ".service"
	}
	if !unitName.MatchString(target) {
		r.change("Unit=%s is no name of a unit, and systemd ignores it", schedules.Shorten(target))
		target = stem + ".service"
	}
	s, err := r.service(target, &task)
	if err != nil {
		return schedules.Entry{}, err
	}
	name := schedules.Name(stem)
	e := schedules.Entry{
		Names: []string{name}, Origin: schedules.NewOrigin(r.options.Host, filepath.Join(filepath.Dir(r.unit.files[0]), r.unit.name)),
		Task: task, Handler: &config.Handler{Command: &s}, Shares: r.unit.name,
		Payload: schedules.CommandPayload{Command: s.Argv, Env: s.Env, Dir: s.Dir},
	}
	if lines > 1 {
		e.Handler.Limits.Concurrency = 1
		r.change("several lines of OnCalendar become several tasks; their handler runs one job at a time")
	}
	return e, nil
}
