package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/diagnosis"
	"github.com/nextrun/nextrun/ops/internal/figures"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// troubledRow is a task that needs attention.
type troubledRow struct {
	taskRow

	Harm   string `json:"harm"`  // one of harms
	Times  int    `json:"times"` // failed, missed or late ones after each other; more than are looked at count as these
	Cause  string `json:"cause"`
	Said   string `json:"last_line,omitempty"` // that the job of the newest one wrote
	rank   int
	first  int  // its priority
	paused bool // after failures
}

// harms are what may be wrong with a task, the worst first.
var harms = []string{"overdue", "blocked", "failed", "missed", "late", "unsteady", "warning"}

// Shape is the shape of the row.
func (t troubledRow) Shape() string {
	if t.rank <= slices.Index(harms, "failed") {
		return "bad"
	}
	return "warn"
}

// ranSince reports whether the newest tick of the task fell due since a time.
func (t troubledRow) ranSince(at time.Time) bool {
	return len(t.Cells) > 0 && !t.Cells[len(t.Cells)-1].Due.Before(at)
}

// looked is how many troubled tasks are looked at closely; if more need attention, those with a
// problem and those of the highest priority are.
const looked = 50

// troubled are the tasks that need attention, and which of them are overdue.
func (s *source) troubled(ctx context.Context, t *figures.Totals) (tasks []periodic.Task, late map[string]bool, err error) {
	late = map[string]bool{}
	tasks, err = s.tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskAttention})
	if err != nil || t.Overdue == 0 || t.NoScheduler() {
		return tasks, late, err
	}
	overdue, err := s.tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskOverdue})
	for _, one := range overdue {
		late[one.ID] = true
	}
	return merged(overdue, tasks), late, err
}

// readTrouble finds the tasks that need attention, and adds the worst of them.
func (d *nowView) readTrouble(ctx context.Context, s *server, t figures.Totals, zone *time.Location) error {
	tasks, late, err := s.troubled(ctx, &t)
	if err != nil {
		return err
	}
	d.Totals.Troubled = len(tasks)
	slices.SortStableFunc(tasks, func(a, b periodic.Task) int {
		return cmp.Or(-compare(late[a.ID], late[b.ID]), -compare(a.Blocked() != "", b.Blocked() != ""), cmp.Compare(b.Priority, a.Priority))
	})
	rows := make([]taskRow, min(len(tasks), looked))
	for i := range rows {
		rows[i] = taskRow{ID: tasks[i].ID, Problem: tasks[i].Problem}
	}
	history, err := s.history(ctx, rows, shownTicks)
	if err != nil {
		return err
	}
	for i, r := range rows {
		for _, k := range slices.Backward(history[r.ID].Ticks) {
			r.Cells = append(r.Cells, s.cell(k, zone))
		}
		d.Troubled = append(d.Troubled, s.trouble(&tasks[i], r, late[r.ID], history[r.ID].Ticks, zone))
	}
	slices.SortStableFunc(d.Troubled, func(a, b troubledRow) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.first, a.first), cmp.Compare(b.Times, a.Times), cmp.Compare(a.ID, b.ID))
	})
	d.Troubled = d.Troubled[:min(len(d.Troubled), troubledTasks)]
	if d.Further = len(tasks) - len(d.Troubled); d.Page > 1 {
		return nil // the page does not show them
	}
	return cmp.Or(d.readFailures(ctx, s, t.Now, zone), d.addDays(ctx, s, t.Now, zone))
}

// readFailures says since when the tasks fail, and what their jobs said last.
func (d *nowView) readFailures(ctx context.Context, s *server, now time.Time, zone *time.Location) error {
	var ids, jids []string
	for _, t := range d.Troubled {
		if t.Harm == "failed" || t.Harm == "missed" || t.Harm == "late" {
			if t.Times > 1 {
				ids = append(ids, t.ID)
			}
			if t.Wrong != nil && t.Wrong.Own {
				jids = append(jids, t.Wrong.JID)
			}
		}
	}
	since, err := figures.Of(s.db).Streaks(ctx, ids)
	if err != nil {
		return err
	}
	said, err := figures.Of(s.db).LastLines(ctx, jids)
	for i := range d.Troubled {
		t := &d.Troubled[i]
		if streak, ok := since[t.ID]; ok && t.Harm == "failed" {
			if streak.Failed > t.Times {
				t.Times = streak.Failed
				if !t.paused {
					t.Cause = show.Word(t.Harm)
				}
			}
		}
		if streak, ok := since[t.ID]; ok && !t.paused {
			t.Cause = diagnosis.InARow(t.Cause, t.Times, streak, func(at time.Time) string { return show.Clock(at, now, zone) })
		}
		if t.Wrong != nil && t.Wrong.Own {
			if line := show.Shorten(show.Printable(s.mask.Line(said[t.Wrong.JID])), 200); !strings.Contains(t.Wrong.Why, line) {
				t.Said = line
			}
		}
	}
	return err
}

// stuckTopic are events that do not get out.
type stuckTopic struct {
	Topic string    `json:"topic"`
	What  string    `json:"what"`
	Why   string    `json:"why"`
	Since time.Time `json:"since,omitzero"`
	Dead  bool      `json:"dead"`
	Hook  bool      `json:"hook"` // Topic is the group of the jobs of hooks
}

// undeliveredLong is how long events may wait before the page says so.
const undeliveredLong = time.Minute

// readUndelivered finds the hooks and the events that do not get out, hooks first: they are alarms.
func (d *nowView) readUndelivered(topics []outbox.Lag, hooks []jobqueue.Job, mask show.Mask) {
	if len(hooks) > 0 {
		oldest := hooks[len(hooks)-1].Submitted
		why := show.Shorten(show.Printable(mask.Line(hooks[0].Subject+": "+text.FirstLine(hooks[0].Result))), 300)
		d.Stuck = append(d.Stuck, stuckTopic{Topic: jobqueue.HookGroup, What: "Messages of hooks: " + count(len(hooks), "job"), Why: why, Since: oldest,
			Dead: slices.ContainsFunc(hooks, func(j jobqueue.Job) bool { return j.State == jobqueue.Failed }), Hook: true})
	}
	for _, l := range topics {
		one := stuckTopic{Topic: l.Topic, What: "Events of " + l.Topic, Since: l.Oldest, Dead: l.Dead > 0, Why: l.Problem}
		switch d.Totals.Dead += l.Dead; {
		case l.Dead > 0:
			one.Why = strings.TrimSuffix(count(l.Dead, "event")+" given up after too many attempts: "+l.Problem, ": ")
		case l.Age < undeliveredLong || l.Problem == "" && !l.Unattended():
			continue
		case l.Problem == "":
			one.Why = "no relay has this topic"
		}
		one.Why = show.Shorten(show.Printable(mask.Line(one.Why)), 300)
		d.Stuck = append(d.Stuck, one)
	}
	d.Undelivered = len(d.Stuck)
	d.Stuck = d.Stuck[:min(len(d.Stuck), 5)]
}

// addDays adds the last 24 hours of the tasks that need attention.
func (d *nowView) addDays(ctx context.Context, s *server, now time.Time, zone *time.Location) error {
	list := make([]taskRow, len(d.Troubled))
	for i := range list {
		list[i] = d.Troubled[i].taskRow
	}
	err := s.days(ctx, list, now, zone)
	for i := range list {
		d.Troubled[i].taskRow = list[i]
	}
	return err
}

func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// merged are the tasks of both lists, each once.
func merged(list, others []periodic.Task) []periodic.Task {
	seen := make(map[string]bool, len(list))
	for _, t := range list {
		seen[t.ID] = true
	}
	for _, t := range others {
		if !seen[t.ID] {
			list = append(list, t)
		}
	}
	return list
}

// trouble says what is wrong with a task.
func (s *source) trouble(t *periodic.Task, r taskRow, overdue bool, newest []figures.TickResult, zone *time.Location) troubledRow {
	row := troubledRow{taskRow: r, first: t.Priority}
	row.Pause = pauseOf(t, s.now(), zone)
	row.count()
	warning, isWarning := reasons.CutWarning(t.Problem)
	unsteady, failed := diagnosis.Unsteady(newest)
	switch {
	case overdue:
		row.Harm, row.Cause = "overdue", "due for "+text.Text(s.now().Sub(later(t.NextRun, t.Created)).Truncate(time.Second))+", and no scheduler has taken it"
	case t.Problem != "" && !isWarning:
		row.Harm, row.Cause = "blocked", t.Problem
	case t.Pause.AfterFailures():
		cause, _, _ := strings.Cut(t.Pause.Reason, ";")
		row.Harm, row.Cause, row.paused = "failed", cause, true
	case row.Wrong != nil && row.Times == shownTicks:
		row.Cause = fmt.Sprintf("%s the last %d times", show.Word(row.Harm), row.Times)
	case row.Wrong != nil:
		row.Cause = show.Word(row.Harm)
	case unsteady != "":
		if row.Harm, row.Cause = "unsteady", unsteady; failed != nil {
			wrong := s.cell(*failed, zone)
			row.Wrong = &wrong
		}
	case isWarning:
		row.Harm, row.Cause = "warning", warning
	default:
		row.Harm, row.Cause = "late", "its newest run has just ended, later than it had to or with a failure"
	}
	row.Cause = show.Shorten(show.Printable(s.mask.Line(show.Local(strings.TrimSpace(row.Cause), s.now(), zone))), 300)
	row.rank = slices.Index(harms, row.Harm)
	if row.Harm == "blocked" && len(r.Cells) == 0 { // nobody misses it yet
		row.rank = slices.Index(harms, "failed")
	}
	return row
}

// count counts those of the newest ticks that went wrong in a row.
func (t *troubledRow) count() {
	for i := len(t.Cells) - 1; i >= 0 && t.Cells[i].State != "success"; i-- {
		switch c := &t.Cells[i]; c.State { // others have not ended, or did not have to
		case "failed", "missed", "late":
			if t.Times++; t.Times == 1 {
				t.Wrong, t.Harm = c, c.State
			}
		}
	}
}

// BadTimer reports whether another timer helps.
func (t troubledRow) BadTimer() bool { return strings.HasPrefix(t.Problem, reasons.UnreadablePrefix) }
