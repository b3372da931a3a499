package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// ticksPerPage is how many rows a page of ticks has.
const ticksPerPage = 100

// tickList is the page of the ticks of all tasks in a time, first of all those that did not run.
type tickList struct {
	Decision string         `json:"decision,omitempty"` // or not-run; empty: any
	Group    string         `json:"group,omitempty"`
	Task     string         `json:"task,omitempty"`
	From     time.Time      `json:"from"`
	To       time.Time      `json:"to"`
	Last     string         `json:"-"`      // the name of a time until now; empty: another time
	Counts   map[string]int `json:"counts"` // of those that have no job, by decision; nil: they are too many
	Ticks    []listedTick   `json:"ticks"`
	paged
}

// listedTick is a tick, or several that were missed together.
type listedTick struct {
	cell

	Task  string    `json:"task"`
	Until time.Time `json:"until,omitzero"`
	Times int       `json:"times"` // -1: more than 10,000
}

// lastTime is a time until now.
type lastTime struct {
	name string
	long time.Duration
}

// lasts are the times until now that the page offers, and the day before.
var lasts = []lastTime{{"24 hours", 24 * time.Hour}, {yesterday, 0}, {"7 days", 7 * 24 * time.Hour}, {"30 days", 30 * 24 * time.Hour}}

const yesterday = "yesterday"

// tickDecisions are what ticks can be selected by; empty: all.
var tickDecisions = []string{periodic.NotRun, string(periodic.Skipped), string(periodic.Missed), string(periodic.Late), string(periodic.Submitted), ""}

func (s *server) ticksPage(ctx context.Context, r *http.Request) (any, error) {
	q, zone := r.URL.Query(), frame.Zone(r)
	d := tickList{Decision: periodic.NotRun, Group: q.Get("group"), Task: q.Get("task"), Ticks: []listedTick{}, paged: pageOf(r)}
	if q.Has("decision") {
		d.Decision = q.Get("decision")
	}
	if !slices.Contains(tickDecisions, d.Decision) {
		return nil, frame.Bad("unknown decision %q; use one of %s", show.Printable(d.Decision), strings.Join(tickDecisions, " "))
	}
	if err := d.readTime(q.Get("last"), q.Get("from"), q.Get("to"), s.now(), zone); err != nil {
		return nil, err
	}
	list, err := view.Of(s.db).List(ctx, s.tasks, periodic.TickFilter{TaskID: d.Task, Group: d.Group, Decision: periodic.Decision(d.Decision), DueFrom: d.From, DueTo: d.To, Limit: d.Page*ticksPerPage + 1})
	if err == nil {
		d.Counts, err = s.notRun(ctx, d.From, d.To, d.Group)
	}
	if err != nil {
		return nil, err
	}
	list = cut(&d.paged, list, ticksPerPage)
	for _, r := range list {
		row := listedTick{cell: s.cell(r, zone), Task: r.TaskID, Until: r.Until, Times: r.Missed}
		row.Why = show.Shorten(text.Tails(show.Printable(s.mask.Line(row.Why))), 300)
		d.Ticks = append(d.Ticks, row)
	}
	return &d, nil
}

// readTime finds the time that is asked for: until now, or of the address.
func (d *tickList) readTime(last, from, to string, now time.Time, zone *time.Location) (err error) {
	i := max(slices.IndexFunc(lasts, func(one lastTime) bool { return one.name == last }), 0)
	d.To = now.UTC().Truncate(time.Minute).Add(time.Minute)
	d.From, d.Last = d.To.Add(-lasts[i].long), lasts[i].name
	if d.Last == yesterday {
		year, month, day := now.In(zone).Date()
		noon := time.Date(year, month, day, 12, 0, 0, 0, zone)
		d.From, d.To = midnight(noon.AddDate(0, 0, -1)).UTC(), midnight(noon).UTC()
	}
	for asked, at := range map[string]*time.Time{from: &d.From, to: &d.To} {
		if asked != "" {
			d.Last = ""
			if *at, err = momentOf(asked, zone); err != nil {
				return err
			}
		}
	}
	if !d.From.Before(d.To) {
		return frame.Bad("from is %s, which is not before %s", show.Moment(d.From, zone), show.Moment(d.To, zone))
	}
	return nil
}

// midnight is when the day of a noon begins: where clocks skip midnight, an hour later.
func midnight(noon time.Time) time.Time {
	at := time.Date(noon.Year(), noon.Month(), noon.Day(), 0, 0, 0, 0, noon.Location())
	if at.Day() != noon.Day() {
		return at.Add(time.Hour)
	}
	return at
}

// mostCounted is how many records of ticks are counted.
const mostCounted = 10_000

// notRun counts the ticks of a time that got no job, by decision; nil: they are too many. Of ticks that were missed together, each counts.
func (s *source) notRun(ctx context.Context, from, to time.Time, group string) (map[string]int, error) {
	list, err := s.tasks.Ticks(ctx, periodic.TickFilter{Group: group, Decision: periodic.NotRun, DueFrom: from, DueTo: to, Limit: mostCounted})
	if len(list) == mostCounted {
		return nil, err
	}
	counts := map[string]int{}
	for _, k := range list {
		if k.Missed < 0 {
			k.Missed = periodic.MaxCounted
		}
		counts[string(k.Decision)] += max(k.Missed, 1)
	}
	return counts, err
}

// NotRun is how many ticks were skipped, missed or late.
func (d *tickList) NotRun() int { return notRun(d.Counts) }

func notRun(counts map[string]int) int {
	return counts[string(periodic.Skipped)] + counts[string(periodic.Missed)] + counts[string(periodic.Late)]
}

// Uncounted reports whether there are too many to count them.
func (d *tickList) Uncounted() bool { return d.Counts == nil }

// Number is how many ticks have a decision; -1: they are not counted.
func (d *tickList) Number(decision string) int {
	if d.Uncounted() {
		return -1
	}
	switch decision {
	case periodic.NotRun:
		return d.NotRun()
	case string(periodic.Submitted), "":
		return -1
	}
	return d.Counts[decision]
}

// Title is the first line of the page.
func (d *tickList) Title() string {
	switch n := d.Number(d.Decision); {
	case d.Uncounted() && d.Decision == periodic.NotRun && d.Task == "":
		return "Ticks that did not run"
	case n < 0 || d.Task != "":
		return "Ticks"
	case d.Decision != periodic.NotRun:
		return count(n, "tick") + " " + show.Word(d.Decision)
	case n == 0:
		return "No tick was left out"
	}
	return fmt.Sprintf("%s did not run", count(d.NotRun(), "tick"))
}

// Command lists the same ticks in a terminal.
func (d *tickList) Command() string {
	command := "nextrun tick list --since " + d.From.UTC().Format(time.RFC3339) + " --until " + d.To.UTC().Format(time.RFC3339)
	for _, flag := range [][2]string{{"decision", d.Decision}, {"task", d.Task}, {"group", d.Group}} {
		if flag[1] != "" {
			command += " --" + flag[0] + " '" + strings.ReplaceAll(flag[1], "'", `'\''`) + "'"
		}
	}
	return command
}

// Decisions are what the page lets one choose.
func (d *tickList) Decisions() []string { return tickDecisions }

// Lasts are the times until now that the page offers.
func (d *tickList) Lasts() (names []string) {
	for _, one := range lasts {
		names = append(names, one.name)
	}
	return names
}

// Field is a time as a form has it.
func (d *tickList) Field(at time.Time, zone *time.Location) string {
	return at.In(zone).Format("2006-01-02T15:04")
}

// Link is what leads to the same time, with another decision and another page.
func (d *tickList) Link(prefix, decision string, page int) string {
	pairs := []any{"group", d.Group, "task", d.Task, "last", d.Last}
	if d.Last == "" {
		pairs = append(pairs, "from", d.From.UTC().Format(time.RFC3339), "to", d.To.UTC().Format(time.RFC3339))
	}
	if page > 1 {
		pairs = append(pairs, "page", page)
	}
	link := frame.Path(prefix, "ticks", append(pairs, "decision", decision)...)
	if decision == "" {
		link += "&decision="
	}
	return link
}
