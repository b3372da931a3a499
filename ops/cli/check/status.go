package check

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/rows"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// mostShown is how many lines each part of the status has.
const mostShown = 10

// status is what is wrong, what runs and what comes next.
type status struct {
	totals    view.Totals
	attention int       // tasks that need it
	wrong     []finding // the first of these tasks, jobs without a handler, and events and hooks that do not get out
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
					return err
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
	troubled, err := tasks.List(ctx, periodic.TaskFilter{State: periodic.TaskAttention})
	if err != nil {
		return s, err
	}
	s.attention = len(troubled)
	facts, err := view.Of(db).Tasks(ctx, troubled[:min(len(troubled), mostShown)], view.Judged)
	if err != nil {
		return s, err
	}
	r := report{env: env, db: db}
	for i := range facts {
		r.add(levelError, facts[i].ID, "%s", facts[i].Attention(env.Moment))
	}
	if err := cmp.Or(r.checkQueued(ctx), r.checkEvents(ctx)); err != nil {
		return s, err
	}
	s.wrong = r.findings
	s.running, err = jobqueue.NewQueue(db.Jobs()).List(ctx, jobqueue.Filter{States: []jobqueue.State{jobqueue.Running}, Limit: mostShown})
	if err != nil {
		return s, err
	}
	next, err := tasks.List(ctx, periodic.TaskFilter{DueBefore: periodic.Never, Limit: mostShown})
	if err == nil {
		s.next, err = view.Of(db).Tasks(ctx, next, view.Judged)
	}
	return s, err
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
	count(s.attention, need)
	count(t.Overdue, "overdue")
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
		if err := cmp.Or(env.Printf("\n"), env.PrintTable(table, nil, false)); err != nil {
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
