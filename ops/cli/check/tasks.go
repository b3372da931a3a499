package check

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/periodic"
)

// checkTasks looks at all tasks.
func (r *report) checkTasks(ctx context.Context) (err error) {
	if r.tasks, err = periodic.NewTasks(r.db.Tasks()).List(ctx, periodic.TaskFilter{}); err != nil {
		return err
	}
	found := len(r.findings)
	for i := range r.tasks {
		r.checkTask(&r.tasks[i])
	}
	if len(r.findings) == found {
		r.add(levelOK, "tasks", "%d, no problems found", len(r.tasks))
	}
	slices.SortStableFunc(r.findings[found:], func(a, b finding) int { return a.importance() - b.importance() })
	return nil
}

// checkOverdue counts the tasks that no scheduler has taken in time. Before the first
// scheduler runs that is no surprise.
func (r *report) checkOverdue(ctx context.Context) error {
	totals, err := view.Of(r.db).Totals(ctx)
	if err != nil || totals.Overdue == 0 {
		return err
	}
	level, what := levelWarning, "; why: nextrun why ID"
	if totals.NoScheduler() {
		what = "; none runs, as far as the database shows. To start one: nextrun serve"
	}
	if totals.Fresh {
		level = levelNote
	}
	r.add(level, "schedulers", "tasks that wait for a scheduler: %d, the longest for %s%s", totals.Overdue, text.Text(totals.Late), what)
	return nil
}

// checkZones names the processes whose zone data are others than those of this one.
func (r *report) checkZones(ctx context.Context) error {
	services, err := view.Of(r.db).Services(ctx)
	for _, s := range services {
		if zones := s.OtherZones(); s.Lives && len(zones) > 0 {
			r.warn("zone data", "%s %s has other rules than this program for %s; have all machines and images use the same version of the "+
				"zone data (tzdata), and start its processes again", s.Kind, s.Worker, strings.Join(zones, ", "))
		}
	}
	return err
}

func (r *report) checkTask(t *periodic.Task) {
	about := "task " + t.ID
	if t.ID == "" {
		r.add(levelError, about, "its id is empty, so commands cannot name it; add it with another id, then: DELETE FROM periodic_task WHERE id = ''")
	}
	upcoming, err := t.Upcoming(r.env.Now(), 1)
	if err != nil {
		if parseErr, ok := errors.AsType[*calendar.ParseError](err); ok {
			err = parseErr
		}
		r.add(levelError, about, "%v", err)
		return
	}
	level := levelError
	text, warns := strings.CutPrefix(t.Problem, periodic.WarningPrefix)
	if warns {
		level = levelWarning
	}
	if text != "" && (!t.Enabled || t.Problem != periodic.NeverElapses(t.Timer)) { // said below
		r.add(level, about, "%s", text)
	}
	if r.docspell {
		for _, text := range docspell.Warnings(t, r.env.Now()) {
			r.warn(about, "%s", text)
		}
	}
	if !t.Enabled {
		return
	}
	if len(upcoming) > 0 {
		r.lint(about, t)
	}
	r.checkPolicies(about, t)
}

// checkPolicies warns of settings that do nothing, or not what one might think.
func (r *report) checkPolicies(about string, t *periodic.Task) {
	if t.Deadline != nil && *t.Deadline <= 0 {
		r.warn(about, "deadline is 0 seconds, so every tick is late and none is submitted; give it some seconds, or none for no deadline")
	}
	if t.Catchup != periodic.CatchupAll && t.CatchupLimit > 0 {
		r.warn(about, "catchup_limit has no effect with catchup %s, only with catchup all", t.Catchup)
	}
	for _, f := range why.ExplainRow(t, r.env.Now(), r.env.Zone) {
		r.explain(about, f)
	}
	r.checkSink(about, t)
	if text := r.queues.Ignores(t); text != "" {
		r.warn(about, "%s", text)
	}
	if c := r.config; c != nil && len(c.Handlers) > 0 && t.Sink == periodic.SinkJob {
		if _, ok := c.Handlers[t.Task]; !ok {
			r.warn(about, "%s has no handler named %q; its jobs wait unless another executor has one", c.Path, t.Task)
		}
	}
}

// importance puts errors first, then tasks that never run again, then others.
func (f finding) importance() int {
	switch {
	case f.Level == levelError:
		return 0
	case f.code == "task_idle":
		return 1
	}
	return 2
}

// lint adds what may surprise about a timer, but for changes of the clock: nextrun next names those.
func (r *report) lint(about string, t *periodic.Task) {
	schedule, err := calendar.ParseAt(t.Timer, r.env.Now())
	if err != nil {
		return // reported already
	}
	for _, f := range explain.Lint(schedule, r.env.Now()) {
		if f.Code != explain.LintMoved && f.Code != explain.LintAdded && f.Code != explain.LintMerged {
			r.warn(about, "timer %q: %s (%s)", t.Timer, f.Message, f.Code)
		}
	}
}
