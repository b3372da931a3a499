package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
)

// troubledRow is a task that needs attention.
type troubledRow struct {
	taskRow

	Times    int       `json:"times"`               // failed, missed or late ones after each other
	Since    time.Time `json:"since,omitzero"`      // when the first of these was due, or since when it needs attention
	Wrong    *shownRun `json:"wrong,omitempty"`     // the newest tick that did not end well
	Said     string    `json:"last_line,omitempty"` // that the job of the newest one wrote
	Headline string    `json:"headline"`            // what is wrong, and since when
	first    int       // its priority
	rank     int
}

// ranks are the causes, the worst first. A task that has never run misses nobody yet.
var ranks = []view.Code{view.TaskOverdue, view.TaskProblem, view.TaskPaused, view.RunFailed, view.TickMissed, view.TaskStale, view.TaskWarning}

// Shape is the shape of the row.
func (t troubledRow) Shape() string {
	switch t.Cause {
	case view.TaskOverdue, view.TaskProblem, view.TaskPaused, view.RunFailed:
		return "bad"
	}
	return "warn"
}

// Ended reports whether a run went wrong, so that another one may help.
func (t troubledRow) Ended() bool {
	return t.Cause == view.RunFailed || t.Cause == view.TickMissed || t.Cause == view.TaskPaused
}

// troubledTasks is how many tasks that need attention are listed.
const troubledTasks = 20

// looked is how many troubled tasks are looked at closely.
const looked = 25

// worst are those of tasks that are looked at closely: those with a problem, where no scheduler runs those that fail, and those of the
// highest priority.
func (s *server) worst(ctx context.Context, tasks []periodic.Task, alone bool) ([]periodic.Task, error) {
	failing := map[string]bool{}
	if alone {
		list, err := s.tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskFailed, Limit: looked, Slim: true})
		if err != nil {
			return nil, err
		}
		for i := range list {
			failing[list[i].ID] = true
		}
	}
	rank := func(t *periodic.Task) int {
		switch {
		case t.Blocked() != "":
			return t.Priority + 2000
		case failing[t.ID]:
			return t.Priority + 1000
		}
		return t.Priority
	}
	worst := slices.Clone(tasks)
	slices.SortStableFunc(worst, func(a, b periodic.Task) int { return cmp.Compare(rank(&b), rank(&a)) })
	return worst[:min(len(worst), looked)], nil
}

// needAttention are the tasks that need attention.
func (s *server) needAttention(ctx context.Context, t view.Totals) ([]periodic.Task, error) {
	return s.troubled.get(time.Now(), func() ([]periodic.Task, int, error) {
		tasks, err := s.tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskAttention})
		return tasks, t.Tasks(), err
	})
}

// readTrouble finds the tasks that need attention, and adds the worst of them.
func (d *nowView) readTrouble(ctx context.Context, s *server, t view.Totals, zone *time.Location) error {
	tasks, err := s.needAttention(ctx, t)
	if err != nil {
		return err
	}
	worst, err := s.worst(ctx, tasks, t.NoScheduler())
	if err != nil {
		return err
	}
	facts, err := view.Of(s.db).Tasks(ctx, worst, shownTicks)
	if err != nil {
		return err
	}
	all := len(tasks)
	for i := range facts {
		cause := facts[i].Status().Cause
		if cause == "" { // meanwhile it is well
			all--
			continue
		}
		if cause == view.TaskOverdue && t.NoScheduler() { // the page says so once: what else is wrong, but that no run succeeds?
			facts[i].Waits = true
			if cause = facts[i].Status().Cause; cause == "" || cause == view.TaskStale {
				continue
			}
		}
		d.Troubled = append(d.Troubled, s.trouble(&facts[i], zone))
	}
	slices.SortStableFunc(d.Troubled, func(a, b troubledRow) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.first, a.first), cmp.Compare(b.Times, a.Times), cmp.Compare(a.ID, b.ID))
	})
	d.Troubled = d.Troubled[:min(len(d.Troubled), troubledTasks)]
	d.Totals.Troubled, d.Further = all, all-len(d.Troubled)
	return d.readFailures(ctx, s)
}

// trouble is a task that needs attention.
func (s *source) trouble(f *view.Task, zone *time.Location) troubledRow {
	status := f.Status()
	row := troubledRow{taskRow: s.row(f, zone), first: f.Task.Priority, Times: status.Failures, Since: status.Since}
	row.Cells = row.Cells[max(len(row.Cells)-shownTicks, 0):]
	row.rank = slices.Index(ranks, row.Cause)
	if row.Cause == view.TaskProblem && len(row.Cells) == 0 { // nobody misses it yet
		row.rank = slices.Index(ranks, view.RunFailed)
	}
	var wrong *view.Run
	for i := 0; i < len(row.Cells) && row.Wrong == nil && f.Runs[i].Outcome() != "success"; i++ {
		if c := &row.Cells[len(row.Cells)-1-i]; c.State == "failed" || c.State == "missed" || c.State == "late" {
			row.Wrong, wrong = c, &f.Runs[i]
		}
	}
	if row.Cause == view.TickMissed && wrong != nil {
		row.Times, row.Since = max(row.Times, wrong.Missed), earlier(row.Since, wrong.Due)
	}
	row.Headline = row.headline(f, zone)
	return row
}

// headline says what is wrong with the task, and since when.
func (t *troubledRow) headline(f *view.Task, zone *time.Location) string {
	clock := func(at time.Time) string { return show.Clock(at, f.Now, zone) }
	often := t.Times > 1 && !t.Since.IsZero()
	switch t.Cause {
	case view.TaskProblem:
		return "Cannot run: its row has a mistake"
	case view.TaskWarning:
		return "Runs, with a warning"
	case view.TaskPaused:
		return "Paused itself after failures, " + clock(t.Since)
	case view.RunFailed:
		switch {
		case often && f.Streak.Success.IsZero():
			return fmt.Sprintf("Failing since %s or earlier, %s in a row", clock(t.Since), count(t.Times, "run"))
		case often:
			return fmt.Sprintf("Failing since %s, %s in a row", clock(t.Since), count(t.Times, "run"))
		case t.Wrong != nil:
			return "Failed at " + clock(t.Wrong.Due)
		}
	case view.TickMissed:
		if often {
			return fmt.Sprintf("Missed %s since %s", count(t.Times, "run"), clock(t.Since))
		}
		return "Missed its last run"
	}
	return strings.ToUpper(t.Attention[:min(1, len(t.Attention))]) + t.Attention[min(1, len(t.Attention)):]
}

// Because is the line below the headline: what the run said, or what is wrong with the row.
func (t troubledRow) Because() string {
	switch {
	case t.Said != "":
		return t.Said
	case t.Cause == view.TaskProblem, t.Cause == view.TaskWarning, t.Cause == view.TaskPaused:
		return t.Attention
	case t.Wrong != nil && t.Cause != view.TaskOverdue && t.Cause != view.TaskStale:
		return t.Wrong.Why
	}
	return ""
}

// readFailures says what the jobs of the tasks that fail said last.
func (d *nowView) readFailures(ctx context.Context, s *server) error {
	var jids []string
	of := map[string]*troubledRow{}
	for i := range d.Troubled {
		if t := &d.Troubled[i]; t.Ended() && t.Wrong != nil && t.Wrong.Own {
			jids, of[t.Wrong.JID] = append(jids, t.Wrong.JID), t
		}
	}
	var rows []struct {
		JID  string
		Said sqldb.RowText
	}
	err := sqldb.Of(s.db).View(ctx, func(tx *sqldb.Tx) error {
		asked := tx.Texts(1, jids)
		return tx.Select(ctx, &rows, `SELECT v.value AS jid, (SELECT substr(l.message, 1, 300) FROM joblog AS l WHERE l.jid = v.value AND trim(l.message) <> ''
				AND l.message NOT LIKE 'failed%' AND l.message NOT LIKE 'attempt % begins on %'
			ORDER BY l.counter DESC LIMIT 1) AS said FROM `+asked.SQL+` AS v`, asked.Param)
	})
	for _, row := range rows {
		t := of[row.JID]
		if line := show.Shorten(show.Printable(s.mask.Line(strings.TrimSpace(string(row.Said)))), 200); !strings.Contains(t.Wrong.Why, line) {
			t.Said = line
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
		switch {
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

// BadTimer reports whether another timer helps.
func (t troubledRow) BadTimer() bool { return strings.HasPrefix(t.Problem, periodic.UnreadablePrefix) }
