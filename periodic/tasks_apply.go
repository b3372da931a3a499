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
	// Origin names the program or file that declares the tasks, in 1 to 254 characters; their rows
	// have it in the column origin. A task of another origin is refused; one that has
	// none, since people added it, becomes one of this origin. Empty: tasks without an origin.
	Origin string
	// Version grows from one deployed program to the next, such as the number of a build.
	// A program of an older version than the one that declared tasks last changes nothing, so that in a rolling
	// deploy it does not undo what the newer one declared. 0, with an origin: the time of the
	// commit that the program was built from, if Go has written it into the binary. Of programs of
	// the same version, or of none, one whose tasks have replaced the others' counts as newer.
	Version int64
	// Force applies the tasks even if a newer program of the origin has declared others: somebody
	// asks for it. [Origins.ForgetVersion] is for programs.
	Force bool
	// KeepEdits leaves columns alone that people have changed since the origin declared them. A
	// pause, and a task that somebody has disabled, always stay.
	KeepEdits bool
	// Prune is what to do with tasks of the origin that are not named.
	Prune Prune
	// Group limits the pruning to tasks of that group. Empty: all groups.
	Group string
	// Keep, if not nil, tells which tasks are never pruned.
	Keep func(*Task) bool
	// Check, if not nil, is called with all rows before anything changes. If it
	// returns an error, Apply changes nothing and returns that error.
	Check func(rows []Task) error
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
	if a.Origin != "" && a.Version == 0 && !a.Force {
		a.Version = builtAt()
	}
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
	wanted, err := a.declared()
	if err != nil {
		return done, err
	}
	last, err := a.last(ctx, tx)
	if err != nil {
		return done, fmt.Errorf("read the origin: %w", err)
	}
	done.Tasks = len(a.Tasks)
	digest := digestOf(wanted.text())
	if a.Origin != "" && !a.Force && last.outdates(a.Version, digest) {
		done.Newer, done.version = &last, a.Version
		return done, nil
	}
	rows, err := tx.List(ctx, TaskFilter{WithArgs: true})
	if err != nil {
		return done, fmt.Errorf("list tasks: %w", err)
	}
	if a.Check != nil {
		if err := a.Check(rows); err != nil {
			return done, err
		}
	}
	p, err := a.plan(rows, last)
	if err != nil {
		return done, err
	}
	done.Changes, done.Kept = p.changes, p.kept
	if err := a.calendars(ctx, tx, &done); err != nil || a.DryRun {
		return done, err
	}
	for _, c := range done.Changes {
		if err := p.carryOut(ctx, tx, c); err != nil {
			return done, about(c.ID, err)
		}
	}
	if a.Origin == "" {
		return done, nil
	}
	_, at := tx.Bare()
	return done, tx.SaveOrigin(ctx, last.next(a.Version, digest, p.remember(wanted), at), p.owned)
}

func (a *Apply) validate() error {
	var problems []error
	for _, r := range a.Calendars {
		problems = append(problems, r.Validate())
	}
	if len(a.Origin) > 254 || strings.ContainsRune(a.Origin, 0) {
		problems = append(problems, errors.New("the origin must have at most 254 bytes, and no NUL"))
	}
	if a.Version < 0 {
		problems = append(problems, fmt.Errorf("the version is %d; use 0, or a number that grows", a.Version))
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
	before  declaredTasks    // what the origin declared last
	tasks   map[string]*Task // as their rows are to be
	changes []TaskChange
	kept    []TaskChange
	pruned  []string // rows of the origin that are not wanted, and stay
	owned   []string // rows that become the origin's
}

// plan compares the rows with the wanted tasks.
func (a *Apply) plan(rows []Task, last Origin) (*applyPlan, error) {
	_, before := last.history()
	p := &applyPlan{Apply: a, before: before, tasks: map[string]*Task{}}
	have := map[string]*Task{}
	for i := range rows {
		have[rows[i].ID] = &rows[i]
	}
	var problems []error
	for i := range a.Tasks {
		t := a.Tasks[i]
		row := have[t.ID]
		if row != nil && row.Origin != a.Origin && row.Origin != "" {
			problems = append(problems, about(t.ID, &OriginError{row.Origin, a.Origin}))
			continue
		}
		p.want(row, t)
	}
	for i := range rows {
		if p.tasks[rows[i].ID] == nil && rows[i].Origin == a.Origin {
			p.prune(&rows[i])
		}
	}
	slices.SortFunc(p.changes, func(a, b TaskChange) int { return strings.Compare(a.ID, b.ID) })
	return p, errors.Join(problems...)
}

// want plans what becomes of the row of a wanted task; nil: there is none.
func (p *applyPlan) want(row *Task, t Task) {
	p.tasks[t.ID] = &t
	if p.Origin != "" && (row == nil || row.Origin == "") {
		p.owned = append(p.owned, t.ID)
	}
	if row == nil {
		p.changes = append(p.changes, TaskChange{ID: t.ID, Action: ActionAdd})
		return
	}
	kept := TaskChange{ID: t.ID, Action: ActionChange}
	for _, c := range compare(row, &t) {
		if at := columnOf(c.Column); p.keeps(row, &t, at) {
			kept.Columns = append(kept.Columns, ColumnChange{c.Column, c.To, c.From})
			at.Set(&t, at.Get(row))
		}
	}
	if len(kept.Columns) > 0 {
		p.kept = append(p.kept, kept)
	}
	if columns := compare(row, &t); len(columns) > 0 {
		p.changes = append(p.changes, TaskChange{ID: t.ID, Action: ActionChange, Columns: columns})
	}
}

// keeps reports whether a column of a row stays as it is, although something else is declared.
func (p *applyPlan) keeps(row, wanted *Task, c Column) bool {
	if p.Origin == "" {
		return false
	}
	known, same := p.before.was(row.ID, c, c.Get(row))
	if c.Name == "enabled" {
		_, declared := p.before.was(row.ID, c, c.Get(wanted))
		return !row.Enabled && (!known || declared) // somebody has disabled it
	}
	return p.KeepEdits && !same
}

// prune plans what becomes of a row of the origin that is not among the wanted tasks.
func (p *applyPlan) prune(row *Task) {
	action := Action("")
	switch {
	case p.Group != "" && row.Group != p.Group, p.Keep != nil && p.Keep(row):
	case p.Prune == PruneDelete:
		action = ActionDelete
	case p.Prune == PruneDisable && row.Enabled:
		action = ActionDisable
	}
	if action != "" {
		p.changes = append(p.changes, TaskChange{ID: row.ID, Action: action})
	}
	if action != ActionDelete {
		p.pruned = append(p.pruned, row.ID)
	}
}

func (p *applyPlan) carryOut(ctx context.Context, tx TaskTx, c TaskChange) error {
	switch c.Action {
	case ActionDisable:
		return tx.Enable(ctx, c.ID, false)
	case ActionDelete:
		return tx.Delete(ctx, c.ID)
	case ActionAdd:
		return tx.Add(ctx, *p.tasks[c.ID])
	case ActionChange:
	}
	return tx.Save(ctx, *p.tasks[c.ID])
}
