package queue

import (
	"context"
	"slices"

	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// kindRow is a kind of jobs, with its limits.
type kindRow struct {
	Group     string `db:"group_"`
	Task      string
	GroupMost int `db:"group_most"`
	TaskMost  int `db:"task_most"`
}

func (r kindRow) kind() jobdb.Kind { return jobdb.Kind(r) }

// kinds returns the kinds of waiting jobs that the claim may take, of at least
// one more group than it may take jobs, if there are. It reports whether jobs run
// that have a limit of their own.
func (tx claimTx) kinds(ctx context.Context, c jobdb.Claim) (kinds []jobdb.Kind, trackers bool, err error) {
	tasks, err := tx.Texts(1, c.Tasks)
	if err != nil {
		return nil, false, err
	}
	var statement string
	args := []any{tasks.Param, wantedGroups(c), c.Turn.Group}
	groups := sqldb.Records{}
	if len(c.Groups) == 0 {
		held := len(c.Most) > 0
		if !held {
			if err := tx.First(ctx, &held, heldSQL); err != nil {
				return nil, false, err
			}
		}
		statement = walk(held)
	} else {
		if groups, err = tx.Texts(2, c.Groups); err != nil {
			return nil, false, err
		}
		statement, args = groupsSQL, []any{tasks.Param, groups.Param}
	}
	if statement, args, err = tx.limited(statement, c, len(args)+1, args); err != nil {
		return nil, false, err
	}
	var rows []struct {
		kindRow
		Trackers bool
	}
	err = tx.Select(ctx, &rows, tx.fill(statement, "{tasks}", tasks.SQL, "{groups}", groups.SQL), args...)
	for _, row := range rows {
		kinds, trackers = append(kinds, row.kind()), row.Trackers
	}
	return kinds, trackers, err
}

// wantedGroups is how many groups a claim looks at: as many as it may take jobs,
// though groups may have no others than those it leaves out.
func wantedGroups(c jobdb.Claim) int { return c.Limit + len(c.Except) }

// firstGroups keeps the kinds of as many groups as are wanted, those whose turn
// comes first, and reports whether there are others.
func firstGroups(kinds []jobdb.Kind, c jobdb.Claim) (first []jobdb.Kind, more bool) {
	slices.SortFunc(kinds, func(a, b jobdb.Kind) int { return c.Turn.Order(a.Group, b.Group) })
	groups := 0
	for i, k := range kinds {
		if i == 0 || k.Group != kinds[i-1].Group {
			groups++
		}
		if groups > wantedGroups(c) {
			return kinds[:i], true
		}
	}
	return kinds, false
}

func countGroups(kinds []jobdb.Kind) int {
	groups := map[string]bool{}
	for _, k := range kinds {
		groups[k.Group] = true
	}
	return len(groups)
}

// kindRecords are the records of kinds, each for low and for high priority, as
// parameter 1.
func (tx claimTx) kindRecords(kinds []jobdb.Kind) (sqldb.Records, error) {
	columns := []sqldb.Field{sqldb.Text("group_"), sqldb.Text("task"), sqldb.Bool("high"), sqldb.Int("task_most"), sqldb.Int("group_most")}
	return tx.DB().Records(1, columns, 2*len(kinds), func(i int) []any {
		k := kinds[i/2]
		return []any{k.Group, k.Task, i%2 == 1, k.TaskMost, k.GroupMost}
	})
}
