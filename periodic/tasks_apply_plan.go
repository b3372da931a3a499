package periodic

import (
	"context"
	"errors"
	"slices"
	"strings"
)

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
	kept := p.Group != "" && row.Group != p.Group || p.Keep != nil && p.Keep(row)
	switch {
	case !kept && p.Prune == PruneDelete:
		p.changes = append(p.changes, TaskChange{ID: row.ID, Action: ActionDelete})
	case !kept && p.Prune == PruneDisable && row.Enabled:
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
