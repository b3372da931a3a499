package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// nowView is the first page.
type nowView struct {
	verdict

	Totals   totals        `json:"totals"`
	Empty    bool          `json:"empty"`    // nobody has added a task
	Troubled []troubledRow `json:"troubled"` // the worst of the tasks that need attention
	Further  int           `json:"troubled_not_listed"`
	Stuck    []stuckTopic  `json:"undelivered"` // events that do not get out, the first topics

	Undelivered int `json:"topics_with_undelivered_events"`

	Hour   hourView       `json:"next_hour"`
	Load   *loadView      `json:"load,omitempty"` // of nextrun's own executors; nil: none runs, and no job is there
	Others []otherQueue   `json:"other_queues,omitempty"`
	Open   int            `json:"jobs_open_in_other_queues"`
	NotRun map[string]int `json:"ticks_without_a_job"` // in 24 hours, by decision; nil: they are too many
	Since  time.Time      `json:"since"`               // where the strips begin
	Strips []taskRow      `json:"strips"`              // those that ran last, without the troubled ones
	Marks  []time.Time    `json:"-"`                   // of the axis of the strips
}

// verdict says in a sentence how everything is.
type verdict struct {
	Kind string `json:"state"` // good, bad, warn, wait or off
	Text string `json:"sentence"`
}

type totals struct {
	Troubled int     `json:"need_attention"`
	Fresh    bool    `json:"no_scheduler_yet"` // none has run on this database
	Enabled  int     `json:"enabled"`
	Paused   int     `json:"paused"`
	Disabled int     `json:"disabled"`
	Blocked  int     `json:"blocked"`
	Overdue  int     `json:"overdue"`
	Late     string  `json:"most_overdue,omitempty"`
	Alone    bool    `json:"no_scheduler"`       // tasks are overdue, and no scheduler is known to run
	Idle     bool    `json:"no_scheduler_known"` // although none of the tasks is overdue yet
	Waiting  int     `json:"jobs_waiting"`
	Running  int     `json:"jobs_running"`
	Dead     int     `json:"dead_events"` // that were refused too often
	Skew     float64 `json:"clock_skew_seconds"`
}

// All are all tasks: each is in one of these states.
func (t totals) All() int { return t.Enabled + t.Paused + t.Blocked + t.Disabled }

// Sizes of the first page.
const (
	stripTasks    = 50 // with those that need attention
	troubledTasks = 30
)

func (s *server) nowPage(ctx context.Context, r *http.Request) (any, error) {
	t, err := view.Of(s.db).Totals(ctx)
	if err != nil {
		return nil, err
	}
	d := nowView{Totals: totalsOf(t), Empty: t.Tasks() == 0, Since: firstCell(t.Now)}
	for at := d.Since; at.Before(t.Now); at = at.Add(stripTime / 4) {
		d.Marks = append(d.Marks, at)
	}
	zone, trouble := frame.Zone(r), errgroup.Group{} // beside the rest: the pages have two connections
	trouble.Go(func() error { return d.readTrouble(ctx, s, t, zone) })
	ran, err := s.ran(ctx, d.Since, t.Now, stripTasks+troubledTasks, zone)
	if err == nil {
		err = d.readBeside(ctx, s, t, zone)
	}
	if err := cmp.Or(trouble.Wait(), err); err != nil {
		return nil, err
	}
	if err := d.readStrips(ctx, s, ran, t.Now, zone); err != nil {
		return nil, err
	}
	d.verdict = d.judge()
	d.NotRun, err = s.notRun(ctx, t.Now.Add(-24*time.Hour), t.Now, "") // at last, when it disturbs nothing
	return &d, err
}

// readBeside reads what stands beside the tasks: the next hour, jobs and events.
func (d *nowView) readBeside(ctx context.Context, s *server, t view.Totals, zone *time.Location) (err error) {
	if d.Hour, err = s.nextHour(ctx, t.Now, zone); err != nil {
		return err
	}
	if d.Load, err = s.load(ctx, t); err != nil {
		return err
	}
	d.Others, d.Open = s.others(t)
	topics, err := s.db.Outbox().Lag(ctx)
	if err != nil {
		return err
	}
	hooks, err := jobqueue.NewQueue(s.db.Jobs()).List(ctx, jobqueue.Filter{
		Group: jobqueue.HookGroup, States: []jobqueue.State{jobqueue.Stuck, jobqueue.Failed}, Since: t.Now.AddDate(0, 0, -1),
	})
	d.readUndelivered(topics, hooks, s.mask)
	return err
}

// ran reads the tasks that have had a tick since a time, those with the latest first: at most so many.
func (s *server) ran(ctx context.Context, since, now time.Time, most int, zone *time.Location) (list []taskRow, err error) {
	var rows []struct {
		ID      string
		NextRun sqldb.RowTime
		Until   sqldb.RowTime
		State   view.State
	}
	err = sqldb.Of(s.db).View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &rows, `SELECT id, nextrun, until, state FROM (SELECT t.id, t.nextrun, t.paused_until AS until, CASE WHEN `+batch.InState(periodic.TaskDisabled, "$1", "")+` THEN 'disabled'
					WHEN `+batch.InState(periodic.TaskBlocked, "$1", "")+` THEN 'blocked' WHEN `+batch.InState(periodic.TaskPaused, "$1", "")+` THEN 'paused' ELSE '' END AS state,
				(SELECT k.due FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decided IS NOT NULL ORDER BY k.due DESC LIMIT 1) AS due
			FROM periodic_task AS t) AS l WHERE due >= $2 ORDER BY due DESC, id LIMIT $3`, sqldb.Timestamp(now), sqldb.Timestamp(since), most)
	})
	for _, row := range rows {
		pause := periodic.Pause{}
		if row.State == view.Paused {
			pause = periodic.Pause{Since: now, Until: row.Until.Time()}
		}
		list = append(list, taskRow{ID: row.ID, State: row.State, Next: row.NextRun.Time(), NoNext: noNext(row.State != view.Disabled, row.State == view.Blocked, pause, now, zone)})
	}
	return list, err
}

// readStrips adds the tasks that ran last, apart from those that need attention.
func (d *nowView) readStrips(ctx context.Context, s *server, ran []taskRow, now time.Time, zone *time.Location) error {
	ran = slices.DeleteFunc(ran, func(t taskRow) bool {
		return slices.ContainsFunc(d.Troubled, func(one troubledRow) bool { return one.ID == t.ID })
	})
	d.Strips = ran[:min(len(ran), max(stripTasks-len(d.Troubled), 10))]
	ids := make([]string, len(d.Strips))
	for i := range ids {
		ids[i] = d.Strips[i].ID
	}
	newest, err := view.Of(s.db).Newest(ctx, ids, 1, periodic.Never)
	if err != nil {
		return err
	}
	for i, id := range ids {
		for _, k := range newest[id] {
			last := s.cell(k, zone)
			d.Strips[i].Last = &last
		}
	}
	return s.days(ctx, d.Strips, now, zone)
}

// LeftOut says how many ticks did not run, if they are not too many; empty: all did.
func (d *nowView) LeftOut() string {
	if d.NotRun == nil {
		return "Ticks that did not run"
	}
	var parts []string
	for _, decision := range []periodic.Decision{periodic.Skipped, periodic.Missed, periodic.Late} {
		if n := d.NotRun[string(decision)]; n > 0 {
			parts = append(parts, show.Number(n)+" "+string(decision))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return count(notRun(d.NotRun), "tick") + " did not run: " + strings.Join(parts, ", ")
}

// judge is the sentence of the page.
func (d *nowView) judge() verdict {
	t := d.Totals
	switch {
	case d.Empty:
		return verdict{"off", "No tasks yet"}
	case t.Fresh:
		return verdict{"wait", "No scheduler has run yet"}
	case t.Alone:
		return verdict{"bad", "No scheduler runs, and " + count(t.Overdue, "task") + map[bool]string{true: " is due", false: " are due"}[t.Overdue == 1]}
	case t.Troubled > 0:
		kind := "warn"
		for _, one := range d.Troubled {
			if one.Shape() == "bad" {
				kind = "bad"
			}
		}
		text := show.Number(t.Troubled) + " of " + show.Number(t.All()) + " tasks need attention"
		switch {
		case t.All() == 1:
			text = "The task needs attention"
		case t.Troubled == 1:
			text = "1 of " + show.Number(t.All()) + " tasks needs attention"
		}
		if d.Undelivered > 0 {
			text += ", and events do not get out"
		}
		return verdict{kind, text}
	case d.Load != nil && d.Load.Trouble != "":
		return verdict{"warn", d.Load.Trouble}
	case d.Undelivered > 0:
		return verdict{"warn", "Events of " + count(d.Undelivered, "topic") + " do not get out"}
	case t.Idle:
		return verdict{"warn", "No scheduler is known to run"}
	case t.Enabled == 0:
		return verdict{"off", "No task is to run"}
	case t.All() == 1:
		return verdict{"good", "The task is on time"}
	case t.Enabled < t.All():
		return verdict{"good", "All of the " + count(t.Enabled, "enabled task") + " are on time"}
	}
	return verdict{"good", "All " + show.Number(t.All()) + " tasks are on time"}
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return show.Number(n) + " " + thing + "s"
}

func totalsOf(t view.Totals) totals {
	d := totals{Waiting: t.Jobs[jobqueue.Waiting] + t.Jobs[jobqueue.Stuck], Running: t.Running(), Fresh: t.Fresh, Alone: t.NoScheduler(), Idle: t.Working == 0 && t.Enabled > 0, Enabled: t.Enabled, Paused: t.Paused, Disabled: t.Disabled, Blocked: t.Blocked, Overdue: t.Overdue,
		Skew: t.Skew.Round(100 * time.Millisecond).Seconds()} // more exactly, it changes all the time
	d.Fresh = d.Fresh || t.Working == 0 && d.All() == 0
	if t.Late > 0 {
		d.Late = text.Exact(t.Late.Truncate(time.Second))
	}
	return d
}
