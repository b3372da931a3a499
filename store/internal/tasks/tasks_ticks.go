package tasks

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/internal/turning"
)

// tickRow is a row of periodic_tick, whatever anybody may have written into it.
type tickRow struct {
	TaskID   sqldb.RowText `db:"task_id"`
	Due      sqldb.RowTime
	Decision sqldb.RowText
	Cause    sqldb.RowText
	Reason   sqldb.RowText
	Missed   sqldb.RowInt
	Until    sqldb.RowTime
	JID      sqldb.RowText
	Worker   sqldb.RowText
	Decided  sqldb.RowTime
	endRow
}

// endRow is how the job of a tick in a queue that is not nextrun's own ended.
type endRow struct {
	Outcome  sqldb.RowText
	Finished sqldb.RowTime
	Attempts sqldb.RowInt
	Error    sqldb.RowText
}

// on writes it into a tick.
func (r endRow) on(k periodic.Tick) periodic.Tick {
	k.Ended, k.Finished, k.Attempts, k.Error = sink.EndState(r.Outcome), r.Finished.Time(), r.Attempts.N, string(r.Error)
	return k
}

func (r tickRow) tick() periodic.Tick {
	return r.on(periodic.Tick{
		TaskID: string(r.TaskID), Due: r.Due.Time(), Decision: periodic.Decision(r.Decision), Cause: periodic.Cause(r.Cause), Reason: string(r.Reason),
		Missed: r.Missed.N, Until: r.Until.Time(), JID: string(r.JID), Worker: string(r.Worker), Decided: r.Decided.Time(),
	})
}

// ticksQuery selects the ticks that a filter names: of one task by their primary key.
func ticksQuery(f periodic.TickFilter, words *sqldb.Words) string {
	with, from, where := "", "periodic_tick AS k", "k.due >= $5"
	if f.TaskID == "" && !f.DueFrom.IsZero() {
		with, from, where = batch.TicksSince("$5", words.IsSQLite())
	}
	if f.TaskID == "" {
		where += " AND $1 = ''"
	} else {
		where += " AND k.task_id = $1" // SQLite finds no index behind an OR
	}
	if f.Group == "" {
		where += " AND $8 = ''"
	} else {
		id := "k.task_id"
		if with != "" {
			id = "t.id" // SQLite passes by the ticks of other tasks
		}
		where += " AND " + id + " IN (SELECT g.id FROM periodic_task AS g WHERE g.group_ = $8)"
	}
	if f.JID == "" {
		where += " AND $9 = ''"
	} else {
		where += " AND k.jid = $9"
	}
	order := "DESC"
	if f.Oldest {
		order = "ASC"
	}
	return with + `SELECT k.task_id, k.due, k.decision, k.cause, k.reason, k.missed, k.until, k.jid, k.worker, k.decided, k.outcome, k.finished, k.attempts, k.error
		FROM ` + from + `
		WHERE ` + where + ` AND ($2 = '' OR k.decision = $2 OR $2 = '` + periodic.NotRun + `' AND k.decision IN ('skipped', 'late', 'missed'))
			AND k.decided >= $3 AND k.decided < $4 AND k.due < $6
		ORDER BY k.due ` + order + `, k.task_id LIMIT $7`
}

func (tx taskTx) Awaited(ctx context.Context, id string) (periodic.Sink, sink.Open, error) {
	var rows []awaited
	err := tx.Select(ctx, &rows, `SELECT sink, ref, jid, task_id, due, submitted FROM periodic_open WHERE tells AND task_id = $1 ORDER BY due DESC LIMIT 1`, id)
	if err != nil || len(rows) == 0 {
		return "", sink.Open{}, err
	}
	return periodic.Sink(rows[0].Sink), rows[0].open(), nil
}

func (tx taskTx) Ticks(ctx context.Context, f periodic.TickFilter) ([]periodic.Tick, error) {
	if f.TaskID == "" && !f.Oldest && f.Limit > 0 {
		to := tx.Now()
		if !f.DueTo.IsZero() && f.DueTo.Before(to) {
			to = f.DueTo
		}
		for _, newest := range newestParts { // no index has the order of due: these are often enough, and cost little
			part := f
			if part.DueFrom = to.Add(-newest); !f.DueFrom.Before(part.DueFrom) {
				break
			}
			list, err := tx.ticks(ctx, part)
			if err != nil || len(list) == f.Limit && !list[len(list)-1].Due.Before(part.DueFrom) {
				return list, err
			}
		}
	}
	return tx.ticks(ctx, f)
}

// newestParts are the times of which all ticks are read first, to list the newest.
var newestParts = []time.Duration{5 * time.Minute, 2 * time.Hour, 24 * time.Hour}

func (tx taskTx) ticks(ctx context.Context, f periodic.TickFilter) ([]periodic.Tick, error) {
	since, until := sqldb.Period(f.Since, f.Until)
	from, to := sqldb.Period(f.DueFrom, f.DueTo)
	var rows []tickRow
	err := tx.Select(ctx, &rows, ticksQuery(f, tx.SQL()), f.TaskID, string(f.Decision), since, until, from, to, f.Limit, f.Group, f.JID)
	list := make([]periodic.Tick, len(rows))
	for i, r := range rows {
		list[i] = r.tick()
	}
	return list, err
}

// withTasks returns ticks with what hooks need of their tasks.
func (tx endsTx) withTasks(ctx context.Context, ended []tickRow) ([]batch.EndedTick, error) {
	ids := make([]string, len(ended))
	for i, r := range ended {
		ids[i] = string(r.TaskID)
	}
	r := tx.Texts(1, ids)
	var rows []struct {
		ID, Task, Group, Subject, Sink sqldb.RowText
	}
	err := tx.Select(ctx, &rows, `SELECT id, task, group_ AS "group", subject, sink FROM periodic_task WHERE id IN (SELECT v.value FROM `+r.SQL+` AS v)`, r.Param)
	if err != nil {
		return nil, err
	}
	tasks := make(map[string]*periodic.Task, len(rows))
	for _, t := range rows {
		tasks[string(t.ID)] = &periodic.Task{ID: string(t.ID), Task: string(t.Task), Group: string(t.Group), Subject: string(t.Subject), Sink: periodic.Sink(t.Sink)}
	}
	list := make([]batch.EndedTick, len(ended))
	for i, r := range ended {
		list[i] = batch.EndedTick{Task: tasks[string(r.TaskID)], Tick: r.tick()}
	}
	return list, tx.withTurns(ctx, list)
}

// withTurns adds what the ends meant for their tasks.
func (tx endsTx) withTurns(ctx context.Context, list []batch.EndedTick) error {
	ends := make([]turning.End, len(list))
	for i := range list {
		ends[i] = turning.End{Task: list[i].Tick.TaskID, Due: list[i].Tick.Due, JID: list[i].Tick.JID}
	}
	turned, err := turning.Of(ctx, tx.Tx, ends)
	for i := range list {
		list[i].Tick.Turned = turned[list[i].Tick.JID]
	}
	return err
}

// Ended implements [batch.Tx].
func (tx schedulerTx) Ended(ctx context.Context, ids []string) (map[string]time.Time, error) {
	r := tx.Texts(1, ids)
	var rows []struct {
		TaskID   string `db:"task_id"`
		Finished sqldb.RowTime
	}
	err := tx.Select(ctx, &rows, `SELECT k.task_id, k.finished FROM `+r.SQL+` AS v
		JOIN periodic_run AS k ON k.task_id = v.value AND k.due = (SELECT max(l.due) FROM periodic_tick AS l
			WHERE l.task_id = v.value AND l.decision = 'submitted')`, r.Param)
	ended := make(map[string]time.Time, len(rows))
	for _, row := range rows {
		if at := row.Finished.Time(); !at.IsZero() {
			ended[row.TaskID] = at
		}
	}
	return ended, err
}

// Ticks implements [batch.Tx]. It reads from the newest row that is not after the tick on, since that one may reach beyond it.
func (tx schedulerTx) Ticks(ctx context.Context, since []periodic.TickKey) (map[string][]periodic.Range, error) {
	r := tx.DB().Records(1, []sqldb.Field{sqldb.Text("id"), sqldb.Time("since")}, len(since),
		func(i int) []any { return []any{since[i].TaskID, since[i].Due} })
	var rows []struct {
		TaskID string `db:"task_id"`
		Due    sqldb.Timestamp
		Last   sqldb.Timestamp
	}
	const first = `coalesce((SELECT max(due) FROM periodic_tick WHERE task_id = v.id AND due <= v.since AND decided IS NOT NULL), v.since)`
	err := tx.Select(ctx, &rows, `SELECT k.task_id, k.due, coalesce(k.until, k.due) AS last FROM `+r.SQL+` AS v
		JOIN periodic_tick AS k ON k.task_id = v.id AND k.due >= `+first+` AND k.decided IS NOT NULL
			AND k.due <= coalesce((SELECT due FROM periodic_tick WHERE task_id = v.id AND due >= `+first+` AND decided IS NOT NULL
				ORDER BY due LIMIT 1 OFFSET $2), '9999-12-31 23:59:59')
		ORDER BY k.due`, r.Param, periodic.MaxDecided-1)
	decided := map[string][]periodic.Range{}
	for _, row := range rows {
		decided[row.TaskID] = append(decided[row.TaskID], periodic.Range{First: row.Due.Time(), Last: row.Last.Time()})
	}
	return decided, err
}
