package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/rows"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// How many lines each part of the status has, and how many tasks it chooses them from.
const (
	mostShown  = 10
	mostLooked = 1000
)

// status is what is wrong, what runs and what comes next.
type status struct {
	totals    view.Totals
	attention int       // tasks that need it
	further   int       // of these, those that are not shown
	wrong     []finding // the worst of these tasks, jobs without a handler, and events and hooks that do not get out
	running   []jobqueue.Job
	next      []view.Task
}

// StatusCommand returns `nextrun status`.
func StatusCommand(env *ui.Env) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "status",
		Short: "Show what needs attention, what runs and what is next",
		Long: `Show what needs attention, which jobs run and which tasks are next: the first page of
the dashboard in a terminal. Exit code 3: something needs attention.`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				s, err := readStatus(c.Context(), env, db)
				if err != nil {
					return why.WithHolders(c.Context(), db, err)
				}
				if asJSON {
					err = env.PrintJSON(s.json())
				} else {
					err = s.print(env)
				}
				if err == nil && (len(s.wrong) > 0 || s.totals.NoScheduler()) {
					return ui.ErrChanges
				}
				return err
			})
		},
	}
	ui.JSONFlag(command, &asJSON)
	return command
}

func readStatus(ctx context.Context, env *ui.Env, db *store.DB) (s status, err error) {
	if s.totals, err = view.Of(db).Totals(ctx); err != nil {
		return s, err
	}
	tasks := periodic.NewTasks(db.Tasks())
	r := report{env: env, db: db}
	if err := s.readTroubled(ctx, &r, tasks); err != nil {
		return s, err
	}
	if err := cmp.Or(r.checkQueued(ctx), r.checkEvents(ctx)); err != nil {
		return s, err
	}
	s.wrong = r.findings
	s.running, err = jobqueue.NewQueue(db.Jobs()).List(ctx, jobqueue.Filter{States: []jobqueue.State{jobqueue.Running}, Limit: mostShown})
	if err != nil {
		return s, err
	}
	next, err := tasks.List(ctx, periodic.TaskFilter{DueBefore: periodic.Never, Limit: mostLooked})
	next = slices.DeleteFunc(next, func(t periodic.Task) bool {
		return t.Blocked() != "" || t.Pause.At(env.Now()) && t.Pause.At(t.NextRun)
	})
	if err == nil {
		s.next, err = view.Of(db).Tasks(ctx, next[:min(len(next), mostShown)], view.Judged)
	}
	slices.SortStableFunc(s.next, func(a, b view.Task) int { return a.Status().Next.Compare(b.Status().Next) })
	return s, err
}

// readTroubled reads which tasks need attention, and reports the worst: those that cannot run, then those that are in trouble
// longest, and last those with a warning.
func (s *status) readTroubled(ctx context.Context, r *report, tasks *periodic.Tasks) error {
	found, err := tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskAttention})
	if err != nil {
		return err
	}
	list, err := view.Of(r.db).Tasks(ctx, found[:min(len(found), mostLooked)], view.Judged)
	s.attention = len(found)
	since := map[string]time.Time{}
	list = slices.DeleteFunc(list, func(t view.Task) bool {
		status := t.Status()
		if since[t.ID] = status.Since; status.Cause == view.TaskWarning {
			since[t.ID] = t.Now
		}
		return status.Cause == "" // it is well meanwhile
	})
	s.attention += len(list) - min(len(found), mostLooked)
	slices.SortStableFunc(list, func(a, b view.Task) int { return since[a.ID].Compare(since[b.ID]) })
	for i := range list[:min(len(list), mostShown)] {
		r.add(levelError, list[i].ID, "%s", list[i].Attention(r.env.Moment))
	}
	s.further = s.attention - len(r.findings)
	return err
}

// summary is how everything is, in two lines.
func (s *status) summary() string {
	t := s.totals
	schedulers := "no scheduler runs"
	if t.Working > 0 {
		schedulers = ui.Counted(t.Working, "scheduler")
	}
	all, well := t.Tasks(), "all on time"
	if t.Working == 0 {
		well = "none is late yet"
	}
	if all == 0 {
		well = "add one with nextrun task add"
	}
	var states []string
	count := func(n int, state string) {
		if n > 0 {
			states = append(states, fmt.Sprint(n, " ", state))
		}
	}
	need := "need attention"
	if s.attention == 1 {
		need = "needs attention"
	}
	if t.Overdue > 0 {
		need += fmt.Sprintf(" (%d overdue)", min(t.Overdue, s.attention)) // it was counted a moment before
	}
	count(s.attention, need)
	count(t.Paused, "paused")
	count(t.Disabled, "disabled")
	return fmt.Sprintf("%s: %s\n%s; jobs: %d waiting, %d running\n", ui.Counted(all, "task"),
		cmp.Or(strings.Join(states, ", "), well), schedulers, t.Jobs[jobqueue.Waiting]+t.Jobs[jobqueue.Stuck], t.Running())
}

func (s *status) print(env *ui.Env) error {
	if err := env.Printf("%s", s.summary()); err != nil {
		return err
	}
	wrong := ui.NewTable("NEEDS ATTENTION", "WHY").Wrap()
	for _, f := range s.wrong {
		wrong.Add(f.About, f.Text)
	}
	running := ui.NewTable("RUNNING", "JOB", "SINCE", "WORKER").IDs("JOB").Least("WORKER")
	for i := range s.running {
		j := &s.running[i]
		running.Add(cmp.Or(j.Tracker, j.Task), j.JID, env.Ago(j.Started), j.Worker)
	}
	next := ui.NewTable("NEXT", "IN", "AT", "HANDLER").Least("HANDLER", "AT")
	for i := range s.next {
		t := &s.next[i]
		in, at := rows.NextRun(env, t)
		next.Add(t.ID, in, at, t.Task.Task)
	}
	for _, table := range []*ui.Table{wrong, running, next} {
		if table.Empty() {
			continue
		}
		err := cmp.Or(env.Printf("\n"), env.PrintTable(table, nil, false))
		if table == wrong && s.further > 0 {
			err = cmp.Or(err, env.Printf("and %d more: nextrun task list --state attention\n", s.further))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *status) json() ui.Object {
	t := s.totals
	running, next := []ui.Object{}, []ui.Object{}
	for _, j := range s.running {
		running = append(running, ui.Object{{"job", j.JID}, {"task", ui.OrNull(j.Tracker)}, {"handler", j.Task}, {"started", j.Started}, {"worker", j.Worker}})
	}
	for _, t := range s.next {
		next = append(next, ui.Object{{"task", t.ID}, {"nextrun", t.NextRun}, {"handler", t.Task.Task}})
	}
	return ui.Object{
		{"schedulers", t.Working}, {"enabled", t.Enabled}, {"paused", t.Paused}, {"disabled", t.Disabled}, {"overdue", t.Overdue},
		{"need_attention", s.attention}, {"attention", append([]finding{}, s.wrong...)}, {"running", running}, {"next", next},
	}
}
