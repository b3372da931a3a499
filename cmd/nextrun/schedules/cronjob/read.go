package cronjob

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/periodic"
)

// Settings of a CronJob and of its job that are carried over, or that say nothing
// about what runs.
var (
	specKeys = []string{"schedule", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy", "suspend", "jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}
	jobKeys  = []string{"template", "backoffLimit", "activeDeadlineSeconds", "parallelism", "completions", "ttlSecondsAfterFinished", "completionMode", "suspend", "manualSelector", "selector", "podReplacementPolicy"}
)

// cronJob reads a CronJob.
func (r *reader) cronJob(n node) {
	name, namespace := n.at("metadata", "name").text(), n.at("metadata", "namespace").text()
	title := strings.TrimPrefix(namespace+"/"+name, "/")
	item := schedules.Item{Line: n.line(), Source: schedules.Shorten("CronJob " + title)}
	defer func() { r.add(item) }()
	spec := n.get("spec")
	if name == "" || !spec.is(yaml.MappingNode) {
		item.Refused = "it has no name, or no spec"
		return
	}
	if err := schedules.CheckText(title); err != nil {
		item.Refused = err.Error()
		return
	}
	task := periodic.NewTask("", "", "")
	if !r.timer(spec, &task, &item) || !policies(spec, &task, &item) {
		return
	}
	job := spec.at("jobTemplate", "spec")
	if !limits(job, &task, &item) {
		return
	}
	c := container(job.at("template", "spec"), &item)
	task.Summary = schedules.Shorten(title + ": " + c.summary())
	names := []string{schedules.Name(name)}
	if namespace != "" {
		names = append(names, schedules.Name(namespace+"-"+name))
	}
	e := &schedules.Entry{Names: names, Origin: schedules.NewOrigin(r.options.Host, r.path), Shares: "", Task: task, Payload: c.payload()}
	if len(c.argv) > 0 {
		e.Handler = &config.Handler{Command: &handlers.CommandConfig{Argv: c.argv, Env: c.env, Dir: c.dir}}
	} else {
		item.Change(fmt.Sprintf("the program is that of the image %q: write a handler for it", c.image))
	}
	item.Entry = e
}

// timer reads schedule and timeZone.
func (r *reader) timer(spec node, task *periodic.Task, item *schedules.Item) bool {
	schedule, zone := strings.Join(strings.Fields(spec.get("schedule").text()), " "), spec.get("timeZone").text()
	item.Source = schedules.Shorten(item.Source + ": " + schedule)
	if strings.Contains(schedule, "TZ=") {
		item.Refused = "Kubernetes refuses TZ= and CRON_TZ= in a schedule; use timeZone"
		return false
	}
	switch {
	case zone == "":
		zone = r.options.Zone
	case strings.EqualFold(zone, "Local"):
		item.Refused = "Kubernetes refuses the zone Local"
		return false
	}
	timer, change, err := Timer(schedule, zone)
	if err != nil {
		item.Refused = err.Error()
		return false
	}
	if change != "" {
		item.Change(change)
	}
	task.Timer = timer
	return true
}

// nicknames are those that Kubernetes knows.
var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// Timer is the timer of a schedule of Kubernetes in a zone, and what is not as it was.
func Timer(schedule, zone string) (timer, change string, err error) {
	if text, ok := strings.CutPrefix(schedule, "@every "); ok {
		d, err := time.ParseDuration(text)
		if err != nil {
			return "", "", fmt.Errorf("%q is no duration", text)
		}
		d = max(d.Truncate(time.Second), time.Second) // as Kubernetes does
		return "every " + d.String(), "it counts from the creation of the task, not of the CronJob", nil
	}
	expression := schedule
	if nickname, ok := nicknames[schedule]; ok {
		expression = nickname
	}
	fields := strings.Fields(expression)
	for i, field := range fields {
		items := strings.FieldsFunc(field, func(r rune) bool { return r == ',' }) // Kubernetes passes over empty ones
		if len(items) == 0 {
			return "", "", fmt.Errorf("%q never elapses: a field is empty", schedule)
		}
		fields[i] = strings.Join(items, ",")
	}
	if len(fields) != 5 || strings.ContainsAny(expression, "#LlWw") && badDays(fields) || strings.Contains(fields[4], "7") && hasSeven(fields[4]) {
		return "", "", fmt.Errorf("%q is no schedule of Kubernetes, which refuses it, too", schedule)
	}
	fields[2], fields[4] = eitherDay(fields[2], fields[4])
	timer = strings.Join(fields, " ")
	if zone != "" && zone != "UTC" && zone != "Etc/UTC" {
		timer = "CRON_TZ=" + zone + " " + timer
	}
	_, err = calendar.Parse(timer)
	return timer, "", err
}

// badDays finds what nextrun knows in the fields of days, and Kubernetes does not.
func badDays(fields []string) bool {
	return strings.ContainsAny(strings.ReplaceAll(strings.ToUpper(fields[2]+" "+fields[4]), "WED", ""), "#LW")
}

// hasSeven reports whether Sunday has the number 7, which Kubernetes refuses.
func hasSeven(weekdays string) bool {
	for item := range strings.SplitSeq(weekdays, ",") {
		numbers, _, _ := strings.Cut(item, "/")
		if slices.Contains(strings.Split(numbers, "-"), "7") {
			return true
		}
	}
	return false
}

// eitherDay writes days so that nextrun combines them as Kubernetes does. There, */2 is
// a restriction like any other, and a day elapses when one of two restrictions matches.
// For cron and nextrun both must match when one begins with a star.
func eitherDay(days, weekdays string) (newDays, newWeekdays string) {
	star := func(field string) bool {
		for item := range strings.SplitSeq(field, ",") {
			if item == "*" || item == "?" || item == "*/1" || item == "?/1" {
				return true
			}
		}
		return false
	}
	if star(days) {
		days = "*"
	}
	if star(weekdays) {
		weekdays = "*"
	}
	if days == "*" || weekdays == "*" {
		return days, weekdays
	}
	stepped := func(field, all string) string {
		items := strings.Split(field, ",")
		for i, item := range items {
			for _, star := range []string{"*/", "?/"} {
				if step, ok := strings.CutPrefix(item, star); ok {
					items[i] = all + "/" + step
				}
			}
		}
		return strings.Join(items, ",")
	}
	return stepped(days, "1-31"), stepped(weekdays, "0-6")
}

// policies reads what is to happen with jobs that overlap, are late or are suspended.
func policies(spec node, task *periodic.Task, item *schedules.Item) bool {
	switch policy := spec.get("concurrencyPolicy").text(); policy {
	case "", "Allow":
		task.Overlap = periodic.OverlapAllow
	case "Forbid":
		task.Overlap = periodic.OverlapSkip
	case "Replace":
		task.Overlap = periodic.OverlapReplace
	default:
		item.Refused = fmt.Sprintf("concurrencyPolicy is %q; Kubernetes knows Allow, Forbid and Replace", policy)
		return false
	}
	if n := spec.get("startingDeadlineSeconds"); n.isSet() {
		seconds, ok := n.integer()
		if !ok || seconds < 0 || seconds > math.MaxInt32 {
			item.Refused = fmt.Sprintf("startingDeadlineSeconds is %q; use a whole number", n.text())
			return false
		}
		deadline := time.Duration(seconds) * time.Second
		task.Deadline = &deadline
	}
	switch suspend := spec.get("suspend").text(); suspend {
	case "", "false":
	case "true":
		task.Enabled = false
	default:
		item.Refused = fmt.Sprintf("suspend is %q; use true or false", suspend)
		return false
	}
	for _, key := range []string{"successfulJobsHistoryLimit", "failedJobsHistoryLimit"} {
		if n := spec.get(key); n.isSet() && n.text() != "3" && n.text() != "1" {
			item.Change(key + ": nextrun keeps jobs for a time, not by their number (housekeeping)")
		}
	}
	unknown(spec, specKeys, "spec", item)
	return true
}

// defaultBackoff is how often Kubernetes tries a job again by default, and its first
// delay.
const (
	defaultBackoff = 6
	backoffDelay   = 10 * time.Second
	longestTimeout = 365 * 24 * time.Hour
)

// limits reads how often and how long a job is tried.
func limits(job node, task *periodic.Task, item *schedules.Item) bool {
	retries := defaultBackoff
	if n := job.get("backoffLimit"); n.isSet() {
		var ok bool
		if retries, ok = n.integer(); !ok || retries < 0 {
			item.Refused = fmt.Sprintf("backoffLimit is %q; use a whole number", n.text())
			return false
		}
	}
	retries = min(retries, 1_000_000)
	task.RetryLimit = &retries
	if retries > 0 {
		task.RetryDelay = backoffDelay
	}
	if n := job.get("activeDeadlineSeconds"); n.isSet() {
		seconds, ok := n.integer()
		if !ok || seconds <= 0 {
			item.Refused = fmt.Sprintf("activeDeadlineSeconds is %q; use a whole number", n.text())
			return false
		}
		task.Timeout = min(time.Duration(min(seconds, math.MaxInt32))*time.Second, longestTimeout)
		if retries > 0 {
			item.Change("activeDeadlineSeconds: the timeout is for each attempt, not for all of them together")
		}
	}
	for _, key := range []string{"parallelism", "completions"} {
		if n := job.get(key); n.isSet() && n.text() != "1" {
			item.Change(key + ": a tick has one job")
		}
	}
	unknown(job, jobKeys, "the job's spec", item)
	return true
}

// unknown names the keys that have no equivalent.
func unknown(n node, known []string, place string, item *schedules.Item) {
	var list []string
	for _, key := range n.keys() {
		if !slices.Contains(known, key) && n.get(key).isSet() {
			list = append(list, schedules.Shorten(key))
		}
	}
	if len(list) > 0 {
		item.Change(fmt.Sprintf("of %s not carried over: %s", place, strings.Join(list, ", ")))
	}
}
