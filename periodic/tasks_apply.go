package periodic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/column"
)

// Prune says what [Tasks.Apply] does with tasks that are not named.
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

// Action is what happens to a task.
type Action string

// The actions of [Tasks.Apply].
const (
	ActionAdd     Action = "add"
	ActionChange  Action = "change"
	ActionDisable Action = "disable"
	ActionDelete  Action = "delete"
)

// TaskChange is a task that Apply changes.
type TaskChange struct {
	ID      string
	Action  Action
	Columns []ColumnChange // of ActionChange
}

// ColumnChange is a column that changes.
type ColumnChange struct{ Column, From, To string }

// Apply makes the table like a list of tasks, in one transaction, and returns
// what it changed, in the order of the ids. It compares the columns that users own,
// except NextRun, and does not touch rows that need no change. A row keeps its plan
// unless its timer, Starts or Ends change. If the table would refuse tasks, Apply
// returns all their [*TaskError]s and changes nothing. Args need not be JSON, as in
// the table: the row then gets a warning.
func (s *Tasks) Apply(ctx context.Context, a Apply) ([]TaskChange, error) {
	if err := a.validate(); err != nil {
		return nil, err
	}
	run := s.store.Update
	if a.DryRun {
		run = s.store.View
	}
	var changes []TaskChange
	err := run(ctx, func(tx TaskTx) error {
		changes = nil
		rows, err := tx.List(ctx, TaskFilter{WithArgs: true})
		if err != nil {
			return fmt.Errorf("list tasks: %w", err)
		}
		if a.Check != nil {
			if err := a.Check(rows); err != nil {
				return err
			}
		}
		for _, c := range a.changes(rows) {
			if !a.DryRun {
				if err := a.carryOut(ctx, tx, c); err != nil {
					return about(c.ID, err)
				}
			}
			changes = append(changes, c)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

func (a *Apply) validate() error {
	var problems []error
	seen := map[string]bool{}
	for i := range a.Tasks {
		t := &a.Tasks[i]
		problems = append(problems, t.ValidateArgs(ArgsText))
		if seen[t.ID] {
			problems = append(problems, fmt.Errorf("task %q is listed twice", t.ID))
		}
		seen[t.ID] = true
	}
	return errors.Join(problems...)
}

// changes compares the rows with the wanted tasks. It does no I/O.
func (a *Apply) changes(rows []Task) []TaskChange {
	var list []TaskChange
	have := map[string]*Task{}
	for i := range rows {
		have[rows[i].ID] = &rows[i]
	}
	wanted := map[string]bool{}
	for i := range a.Tasks {
		t := &a.Tasks[i]
		wanted[t.ID] = true
		if row, ok := have[t.ID]; !ok {
			list = append(list, TaskChange{ID: t.ID, Action: ActionAdd})
		} else if columns := compare(row, t); len(columns) > 0 {
			list = append(list, TaskChange{ID: t.ID, Action: ActionChange, Columns: columns})
		}
	}
	for i := range rows {
		if row := &rows[i]; !wanted[row.ID] {
			if action := a.prune(row); action != "" {
				list = append(list, TaskChange{ID: row.ID, Action: action})
			}
		}
	}
	slices.SortFunc(list, func(a, b TaskChange) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return list
}

// prune is what happens to a row that is not among the wanted tasks.
func (a *Apply) prune(row *Task) Action {
	switch {
	case a.Group != "" && row.Group != a.Group, a.Keep != nil && a.Keep(row):
		return ""
	case a.Prune == PruneDelete:
		return ActionDelete
	case a.Prune == PruneDisable && row.Enabled:
		return ActionDisable
	}
	return ""
}

func (a *Apply) carryOut(ctx context.Context, tx TaskTx, c TaskChange) error {
	switch c.Action {
	case ActionDisable:
		return tx.Enable(ctx, c.ID, false)
	case ActionDelete:
		return tx.Delete(ctx, c.ID)
	}
	i := slices.IndexFunc(a.Tasks, func(t Task) bool { return t.ID == c.ID })
	if c.Action == ActionAdd {
		return tx.Add(ctx, a.Tasks[i])
	}
	return tx.Save(ctx, a.Tasks[i])
}

// compare returns the columns in which a row differs from the wanted task.
func compare(row, wanted *Task) []ColumnChange {
	var list []ColumnChange
	for _, c := range UserColumns() {
		from, to := c.Get(row), c.Get(wanted)
		if from != to && (c.Kind != column.JSON || !SameArgs(from.Text, to.Text)) {
			list = append(list, ColumnChange{Column: c.Name, From: from.String(), To: to.String()})
		}
	}
	return list
}

// SameArgs reports whether args are the same text, or the same JSON value apart
// from white space and the order of names.
func SameArgs(a, b string) bool {
	if a == b {
		return true
	}
	valueA, okA := decodeJSON(a)
	valueB, okB := decodeJSON(b)
	return okA && okB && reflect.DeepEqual(valueA, valueB)
}

// decodeJSON decodes one JSON value, numbers as they are written.
func decodeJSON(text string) (value any, ok bool) {
	if !json.Valid([]byte(text)) {
		return nil, false
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	return value, err == nil
}
