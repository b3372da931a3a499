package queue

import (
	"context"
	"errors"
	"slices"

	"github.com/nextrun/nextrun/internal/crashpoint"
	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// claimTx is a transaction that claims jobs.
type claimTx struct{ workTx }

// claim takes jobs and puts them, and the rest of the answer, into result.
func (tx claimTx) claim(ctx context.Context, worker string, c jobdb.Claim, result *jobdb.Result) error {
	result.Turn = c.Turn
	if c.Limit == 0 || len(c.Tasks) == 0 {
		return nil
	}
	candidates, err := tx.candidates(ctx, c, result)
	if err != nil {
		return err
	}
	running, err := tx.running(ctx, candidates)
	if err != nil {
		return err
	}
	turn := result.Turn
	result.Chosen, result.Turn = c.Choose(candidates, running)
	result.Limited = result.Limited || len(result.Chosen) < min(c.Limit, len(candidates))
	if len(candidates) < c.Limit || running != nil { // kinds may be used up, or full
		result.Kinds = nil
	}
	if len(result.Chosen) == 0 {
		result.Turn = turn
		return tx.nothing(ctx, c, result)
	}
	jids, err := tx.Texts(1, result.Chosen)
	if err != nil {
		return err
	}
	result.Claimed, err = tx.jobs(ctx, allColumns, tx.fill(takeSQL, "{jids}", jids.SQL), jids.Param, worker, sqldb.Timestamp(tx.Now()), tx.Now().UnixMilli())
	crashpoint.At("executor/taken")
	slices.SortFunc(result.Claimed, jobqueue.Job.Compare)
	return err
}

// candidates finds the jobs that a claim may take. It finds no more than its share
// for each group, so that it locks no more rows than the claim may take. The next
// claim takes others.
func (tx claimTx) candidates(ctx context.Context, c jobdb.Claim, result *jobdb.Result) ([]jobdb.Candidate, error) {
	if len(c.Only) > 0 {
		return tx.onlyThese(ctx, c)
	}
	kinds, trackers := c.Kinds, false
	if len(kinds) == 0 {
		found, busy, err := tx.kinds(ctx, c)
		trackers = busy
		if err != nil || len(found) == 0 {
			return nil, err
		}
		kinds, result.More = c.FirstGroups(found)
	}
	if result.Kinds = kinds; result.More {
		result.Kinds = nil
	}
	groups := countGroups(kinds)
	r, err := tx.kindRecords(kinds)
	if err != nil {
		return nil, err
	}
	condition, args := "", []any{r.Param, (c.Limit + groups - 1) / groups}
	if len(c.Except) > 0 {
		except, err := tx.Texts(3, c.Except)
		if err != nil {
			return nil, err
		}
		condition = " AND CAST(jid AS text) NOT IN (SELECT v.value FROM " + except.SQL + " AS v)"
		args = append(args, except.Param)
	}
	if trackers {
		full, busy, err := tx.trackersFull(ctx, len(args)+1)
		if err != nil {
			return nil, err
		}
		condition, args = condition+full, append(args, busy)
	}
	first := tx.FirstRows("job", "{claimable} AND {task} = w.task AND {group_} = w.group_ AND {high} = w.high"+condition,
		"{task}, {group_}, {high}", "submitted, jid", "$2")
	candidates, err := tx.readCandidates(ctx, c, tx.fill(tx.fill(candidatesSQL, "{kinds}", r.SQL, "{first}", first)), args...)
	result.Limited = trackers && len(candidates) == 0
	if len(candidates) == 0 && result.More { // all jobs of these groups are locked or limited: go on behind them
		result.Turn.Group = slices.MaxFunc(kinds, func(a, b jobdb.Kind) int { return c.Turn.Order(a.Group, b.Group) }).Group
	}
	return candidates, err
}

func (tx claimTx) onlyThese(ctx context.Context, c jobdb.Claim) ([]jobdb.Candidate, error) {
	jids, err1 := tx.Texts(1, c.Only)
	tasks, err2 := tx.Texts(2, c.Tasks)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	query, args, err := tx.limited(onlySQL+tx.SQL().ForUpdate, c, 3, []any{jids.Param, tasks.Param})
	if err != nil {
		return nil, err
	}
	return tx.readCandidates(ctx, c, tx.fill(query, "{jids}", jids.SQL, "{tasks}", tasks.SQL), args...)
}

func (tx claimTx) readCandidates(ctx context.Context, c jobdb.Claim, query string, args ...any) ([]jobdb.Candidate, error) {
	var rows []struct {
		JID       string
		Submitted sqldb.RowTime
		kindRow
		High        bool
		Tracker     sqldb.RowText
		Concurrency sqldb.RowInt
	}
	if err := tx.Select(ctx, &rows, query, args...); err != nil {
		return nil, err
	}
	candidates := make([]jobdb.Candidate, len(rows))
	for i, r := range rows {
		candidates[i] = jobdb.Candidate{
			JID: r.JID, Group: r.Group, High: r.High, Submitted: r.Submitted.Time(),
			Limits: limitsOfJob(c, r.kind(), string(r.Tracker), r.Concurrency.N),
		}
	}
	return candidates, nil
}

// limitsOfJob are the limits of a job, given those that the database has for its task and
// its group, and its own.
func limitsOfJob(c jobdb.Claim, k jobdb.Kind, tracker string, own int) (limits []jobqueue.Limit) {
	add := func(kind jobqueue.ScopeKind, name string, most int) {
		if most > 0 {
			limits = append(limits, jobqueue.Limit{Scope: jobqueue.Scope{Kind: kind, Name: name}, Most: most})
		}
	}
	if k.TaskMost == 0 {
		k.TaskMost = c.Most[k.Task]
	}
	add(jobqueue.ScopeTask, k.Task, k.TaskMost)
	add(jobqueue.ScopeGroup, k.Group, k.GroupMost)
	if tracker != "" {
		add(jobqueue.ScopeTracker, tracker, own)
	}
	return limits
}

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
	args := []any{tasks.Param, c.WantedGroups(), c.Turn.Group}
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
