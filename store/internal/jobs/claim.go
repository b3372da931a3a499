package jobs

import (
	"context"
	"slices"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// claimTx is a transaction that claims jobs.
type claimTx struct{ workTx }

// claim takes jobs and puts them, and the rest of the answer, into result.
func (tx claimTx) claim(ctx context.Context, worker string, c exchange.Claim, result *exchange.Result) error {
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
	jids := tx.Texts(1, result.Chosen)
	result.Claimed, err = tx.jobs(ctx, allColumns, tx.fill(claimSQL, "{jids}", jids.SQL), jids.Param, worker, sqldb.Timestamp(tx.Now()), tx.Now().UnixMilli())
	slices.SortFunc(result.Claimed, jobqueue.Job.Compare)
	return err
}

// candidates finds the jobs that a claim may take. It finds no more than its share
// for each group, so that it locks no more rows than the claim may take. The next
// claim takes others.
func (tx claimTx) candidates(ctx context.Context, c exchange.Claim, result *exchange.Result) ([]exchange.Candidate, error) {
	if len(c.Only) > 0 {
		return tx.onlyThese(ctx, c)
	}
	kinds, limits := c.Kinds, held{}
	if len(kinds) == 0 {
		if err := tx.First(ctx, &limits, heldSQL); err != nil {
			return nil, err
		}
		found, err := tx.kinds(ctx, c, limits)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		kinds, result.More = c.FirstGroups(found)
	}
	if result.Kinds = kinds; result.More || limits.Tasks {
		result.Kinds = nil
	}
	groups := countGroups(kinds)
	r := tx.kindRecords(kinds)
	condition, args := "", []any{r.Param, (c.Limit + groups - 1) / groups}
	if len(c.Except) > 0 {
		except := tx.Texts(3, c.Except)
		condition = " AND CAST(jid AS text) NOT IN (SELECT v.value FROM " + except.SQL + " AS v)"
		args = append(args, except.Param)
	}
	statement := candidatesSQL
	if limits.Tasks {
		statement, condition = limitedSQL, condition+notFull
	}
	first := tx.FirstRows("job", "{claimable} AND {task} = w.task AND {group_} = w.group_ AND {high} = w.high"+condition,
		"{task}, {group_}, {high}", "submitted, jid", "$2")
	candidates, err := tx.readCandidates(ctx, tx.fill(tx.fill(statement, "{kinds}", r.SQL, "{first}", first)), args...)
	if len(candidates) == 0 && result.More { // all jobs of these groups are locked or limited: go on behind them
		result.Turn.Group = slices.MaxFunc(kinds, func(a, b exchange.Kind) int { return c.Turn.Order(a.Group, b.Group) }).Group
	}
	return candidates, err
}

func (tx claimTx) onlyThese(ctx context.Context, c exchange.Claim) ([]exchange.Candidate, error) {
	jids, tasks := tx.Texts(1, c.Only), tx.Texts(2, c.Tasks)
	return tx.readCandidates(ctx, tx.fill(onlySQL+tx.SQL().ForUpdate, "{jids}", jids.SQL, "{tasks}", tasks.SQL), jids.Param, tasks.Param)
}

func (tx claimTx) readCandidates(ctx context.Context, query string, args ...any) ([]exchange.Candidate, error) {
	var rows []struct {
		JID       string
		Submitted sqldb.RowTime
		exchange.Kind
		High    bool
		Tracker sqldb.RowText
		TaskMax sqldb.RowInt `db:"task_max"`
	}
	if err := tx.Select(ctx, &rows, query, args...); err != nil {
		return nil, err
	}
	candidates := make([]exchange.Candidate, len(rows))
	for i, r := range rows {
		candidates[i] = exchange.Candidate{
			JID: r.JID, Group: r.Group, High: r.High, Submitted: r.Submitted.Time(),
			Limits: limitsOfJob(r.Kind, string(r.Tracker), r.TaskMax),
		}
	}
	return candidates, nil
}

// limitsOfJob are the limits of a job, given those of its handler and its group, and of the
// periodic task whose job it is.
func limitsOfJob(k exchange.Kind, tracker string, task sqldb.RowInt) (limits []jobqueue.Limit) {
	add := func(kind jobqueue.ScopeKind, name string, most int, is bool) {
		if is {
			limits = append(limits, jobqueue.Limit{Scope: jobqueue.Scope{Kind: kind, Name: name}, Max: most})
		}
	}
	add(jobqueue.ScopeHandler, k.Task, k.HandlerMax, k.HandlerMax > 0)
	add(jobqueue.ScopeGroup, k.Group, k.GroupMax, k.GroupMax > 0)
	add(jobqueue.ScopeTask, tracker, task.N, task.OK)
	return limits
}

// kinds returns the kinds of waiting jobs that the claim may take, of at least
// one more group than it may take jobs, if there are.
func (tx claimTx) kinds(ctx context.Context, c exchange.Claim, limits held) (kinds []exchange.Kind, err error) {
	tasks := tx.Texts(1, c.Tasks)
	statement, args, groups := limits.walk(), []any{tasks.Param, c.WantedGroups(), c.Turn.Group}, sqldb.Records{}
	if len(c.Groups) > 0 {
		groups = tx.Texts(2, c.Groups)
		statement, args = groupsSQL, []any{tasks.Param, groups.Param}
	}
	err = tx.Select(ctx, &kinds, tx.fill(statement, "{tasks}", tasks.SQL, "{groups}", groups.SQL), args...)
	return kinds, err
}

func countGroups(kinds []exchange.Kind) int {
	groups := map[string]bool{}
	for _, k := range kinds {
		groups[k.Group] = true
	}
	return len(groups)
}

// kindRecords are the records of kinds, each for low and for high priority, as
// parameter 1.
func (tx claimTx) kindRecords(kinds []exchange.Kind) sqldb.Records {
	columns := []sqldb.Field{sqldb.Text("group_"), sqldb.Text("task"), sqldb.Bool("high"), sqldb.Int("handlermax"), sqldb.Int("groupmax")}
	return tx.DB().Records(1, columns, 2*len(kinds), func(i int) []any {
		k := kinds[i/2]
		return []any{k.Group, k.Task, i%2 == 1, k.HandlerMax, k.GroupMax}
	})
}
