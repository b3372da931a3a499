package periodic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/periodic/days"
)

// Prune says what [Tasks.Apply] does with tasks of its origin that are not named: with [PruneNone] nothing;
// [PruneDisable] disables them, [PruneDelete] deletes them.
type Prune string

// The kinds of pruning.
const (
	PruneNone    Prune = ""        // they are left alone
	PruneDisable Prune = "disable" // they are disabled
	PruneDelete  Prune = "delete"  // they are deleted
)

// Apply says what tasks the table is to hold.
type Apply struct {
	Tasks []Task
	// Calendars, if any, are all rows of the calendars that they name. Other calendars stay.
	Calendars []days.Row
	// Origin names the program or file that declares the tasks, in 1 to 230 bytes without @; their rows
	// have it in the column origin. A task of another origin is refused; one that has
	// none, since people added it, becomes one of this origin, and stays disabled if somebody
	// disables it from then on. Empty: tasks without an origin.
	Origin string
	// Version, with an origin, is a number that grows from one release to the next, such as that of a build or a
	// time.Time's Unix; the column origin has it behind the name. If a newer version has declared
	// tasks that are still there, nothing changes, and Apply returns an [*OlderError]. 0: the last program that
	// starts wins, so that two releases that restart in turn take turns.
	Version int64
	// Prune is what to do with tasks of the origin that are not named.
	Prune Prune
	// DryRun returns what would change, and changes nothing.
	DryRun bool
}

// Apply makes the table like a list of tasks, in one transaction. A program that declares its
// tasks calls it at each start, in any number of processes at once; see [NewSchedule]. It compares the
// columns that users own, except NextRun, and does not touch rows that need no change. A row keeps
// its plan unless its timer, Starts, Ends or calendars change, and its pause. If the table would refuse tasks, Apply
// returns all their [*TaskError]s and changes nothing; if they have a sink that [Tasks.With] does not
// name, their [*SinkError]s. Args need not be JSON, as in the table: the row then gets a warning.
func (s *Tasks) Apply(ctx context.Context, a Apply) (Applied, error) {
	elsewhere, unknown := a.elsewhere(s.store.Queues(s.queues))
	if s.queues == nil { // another program may have them
		unknown = nil
	}
	if err := errors.Join(a.validate(), unknown); err != nil {
		return Applied{}, err
	}
	run := s.store.Update
	if a.DryRun {
		run = s.store.View
	}
	var done Applied
	err := run(ctx, func(tx TaskTx) (err error) {
		done, err = a.apply(ctx, tx)
		return err
	})
	if err != nil {
		return Applied{}, err
	}
	done.Elsewhere = elsewhere
	return done, nil
}

func (a *Apply) apply(ctx context.Context, tx TaskTx) (done Applied, err error) {
	if !a.DryRun {
		if err := tx.LockOrigins(ctx); err != nil {
			return done, fmt.Errorf("wait for others who declare tasks: %w", err)
		}
	}
	done.Tasks = len(a.Tasks)
	rows, err := tx.List(ctx, TaskFilter{WithArgs: true})
	if err != nil {
		return done, fmt.Errorf("list tasks: %w", err)
	}
	if err := a.newest(rows); err != nil {
		return done, err
	}
	p, err := a.plan(rows)
	if err != nil {
		return done, err
	}
	done.Changes, done.Disabled = p.changes, p.disabled
	if err := a.calendars(ctx, tx, &done); err != nil || a.DryRun {
		return done, err
	}
	for _, c := range done.Changes {
		if err := p.carryOut(ctx, tx, c); err != nil {
			return done, about(c.ID, err)
		}
	}
	if err := tx.SetOrigin(ctx, p.owned, versioned(a.Origin, a.Version)); err != nil {
		return done, fmt.Errorf("write the origin: %w", err)
	}
	return done, nil
}

// newest returns an [*OlderError] if rows are of a newer version of the origin.
func (a *Apply) newest(rows []Task) error {
	if a.Version == 0 {
		return nil
	}
	for i := range rows {
		if name, version := unversioned(rows[i].Origin); name == a.Origin && version > a.Version {
			return &OlderError{a.Origin, a.Version, version}
		}
	}
	return nil
}

func (a *Apply) validate() error {
	var problems []error
	for _, r := range a.Calendars {
		problems = append(problems, r.Validate())
	}
	if len(a.Origin) > 230 || strings.ContainsAny(a.Origin, "@\x00") {
		problems = append(problems, errors.New("the origin must have at most 230 bytes, and no @ or NUL"))
	}
	if a.Version < 0 || a.Version > 0 && a.Origin == "" {
		problems = append(problems, fmt.Errorf("the version is %d; use 0, or with an origin a number that grows", a.Version))
	}
	seen := map[string]bool{}
	for i := range a.Tasks {
		t := &a.Tasks[i]
		problems = append(problems, t.validateArgs(argsText))
		if seen[t.ID] {
			problems = append(problems, fmt.Errorf("task %q is listed twice", t.ID))
		}
		seen[t.ID] = true
	}
	return errors.Join(problems...)
}

// applyPlan is what to do with the rows. It is made without I/O.
type applyPlan struct {
	*Apply
	tasks    map[string]*Task // as their rows are to be
	changes  []TaskChange
	disabled []string // rows that somebody has disabled, and that stay so
	owned    []string // rows whose column origin changes
}

// plan compares the rows with the wanted tasks.
func (a *Apply) plan(rows []Task) (*applyPlan, error) {
	p := &applyPlan{Apply: a, tasks: map[string]*Task{}}
	have := map[string]*Task{}
	for i := range rows {
		have[rows[i].ID] = &rows[i]
	}
	var problems []error
	for i := range a.Tasks {
		t := a.Tasks[i]
		row := have[t.ID]
		if row != nil {
			if has, _ := unversioned(row.Origin); has != a.Origin && has != "" {
				problems = append(problems, about(t.ID, &OriginError{has, a.Origin}))
				continue
			}
		}
		p.want(row, t)
	}
	for i := range rows {
		if has, _ := unversioned(rows[i].Origin); has == a.Origin && p.tasks[rows[i].ID] == nil {
			p.prune(&rows[i])
		}
	}
	slices.SortFunc(p.changes, func(a, b TaskChange) int { return strings.Compare(a.ID, b.ID) })
	return p, errors.Join(problems...)
}

// want plans what becomes of the row of a wanted task; nil: there is none.
func (p *applyPlan) want(row *Task, t Task) {
	p.tasks[t.ID] = &t
	if row == nil {
		p.own(&t)
		p.changes = append(p.changes, TaskChange{ID: t.ID, Action: ActionAdd})
		return
	}
	p.own(row)
	if row.Origin != "" && !row.Enabled && t.Enabled {
		t.Enabled, p.disabled = false, append(p.disabled, t.ID)
	}
	if columns := compare(row, &t); len(columns) > 0 {
		p.changes = append(p.changes, TaskChange{ID: t.ID, Action: ActionChange, Columns: columns})
	}
}

// own plans that a row belongs to the origin, with its version.
func (p *applyPlan) own(row *Task) {
	if row.Origin != versioned(p.Origin, p.Version) {
		p.owned = append(p.owned, row.ID)
	}
}

// prune plans what becomes of a row of the origin that is not among the wanted tasks.
func (p *applyPlan) prune(row *Task) {
	switch {
	case p.Prune == PruneDelete:
		p.changes = append(p.changes, TaskChange{ID: row.ID, Action: ActionDelete})
	case p.Prune == PruneDisable && row.Enabled:
		p.changes = append(p.changes, TaskChange{ID: row.ID, Action: ActionDisable})
	default:
		p.own(row)
	}
}

func (p *applyPlan) carryOut(ctx context.Context, tx TaskTx, c TaskChange) error {
	switch c.Action {
	case ActionDisable:
		if err := tx.Enable(ctx, c.ID, false); err != nil {
			return err
		}
		return tx.SetOrigin(ctx, []string{c.ID}, "") // it is given up, and enabled again when it is wanted again
	case ActionDelete:
		return tx.Delete(ctx, c.ID)
	case ActionAdd:
		return tx.Add(ctx, *p.tasks[c.ID])
	case ActionChange:
	}
	return tx.Save(ctx, *p.tasks[c.ID])
}
