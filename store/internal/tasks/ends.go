package tasks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/sink"
)

// awaited is a row of periodic_open that is looked at.
type awaited struct {
	Sink      string
	Ref       sqldb.RowText
	JID       sqldb.RowText
	TaskID    sqldb.RowText `db:"task_id"`
	Due       sqldb.RowTime
	Submitted sqldb.RowTime
	Asked     sqldb.RowTime
	end       sink.JobEnd // with a state, if the queue tells
}

func (j *awaited) open() sink.Open {
	return sink.Open{TaskID: string(j.TaskID), JID: string(j.JID), Ref: string(j.Ref), Due: j.Due.Time(), Submitted: j.Submitted.Time()}
}

// AskEnds implements scheduler.Store. A first transaction takes the jobs and moves
// their next turn, so that several schedulers ask about different ones, and an error is not repeated at once. A second one,
// which only reads, asks the queue.
func (s Store) AskEnds(ctx context.Context, a batch.AskEnds) (found batch.Ends, err error) {
	var jobs []awaited
	err = s.db.UpdateWithin(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) error {
		found.Now = tx.Now()
		if err := tx.AsyncCommit(ctx); err != nil {
			return err
		}
		jobs, found.Next, err = endsTx{tx}.take(ctx, a)
		return err
	})
	if err != nil || len(jobs) == 0 {
		return found, wrapEnds(err)
	}
	found.Asked = len(jobs)
	var ended []awaited
	found.Bad, err = apart(ctx, jobs, func(part []awaited) error {
		some, err := s.ended(ctx, a, part)
		ended = append(ended, some...)
		return err
	})
	if err != nil || len(ended) == 0 {
		return found, wrapEnds(err)
	}
	bad, err := apart(ctx, ended, func(part []awaited) error {
		var list []batch.EndedTick
		err := s.db.UpdateWithin(ctx, sqldb.BatchLockWait, func(tx *sqldb.Tx) (err error) {
			list, err = endsTx{tx}.record(ctx, part, a.Hooks)
			return err
		})
		if err == nil {
			found.Ended = append(found.Ended, list...)
		}
		return err
	})
	found.Bad = append(found.Bad, bad...)
	return found, wrapEnds(err)
}

// apart tries all jobs at once. If one of them may be to blame for an error, it tries parts of them, and the
// jobs of a part that fails one by one. It returns those that fail alone, or an error if all do. Those that it does not
// get to have another turn.
func apart(ctx context.Context, jobs []awaited, try func([]awaited) error) (bad []batch.BadEnd, err error) {
	worked := false
	some := func(part []awaited) error {
		err := try(part)
		worked = worked || err == nil
		return err
	}
	alone := func(j awaited, err error) error {
		if fault := sqldb.FaultOf(err); fault != service.FaultRow && fault != service.FaultLock {
			return err
		}
		bad = append(bad, batch.BadEnd{TaskID: string(j.TaskID), JID: string(j.JID), Err: err})
		return nil
	}
	if err = some(jobs); err == nil {
		return nil, nil
	}
	if _, err = service.InParts(ctx, jobs, err, some, alone); err == nil && len(bad) > 1 && !worked {
		return nil, bad[0].Err
	}
	return bad, err
}

func wrapEnds(err error) error {
	if err != nil {
		return fmt.Errorf("ask how jobs ended: %w", err)
	}
	return nil
}

// endsTx is a transaction about the ends of jobs in other queues.
type endsTx struct{ *sqldb.Tx }

// turns is a query for the queues, and when it is the turn of the first of their jobs.
func turns(args *[]any, sinks []periodic.Sink) string {
	list := strings.ReplaceAll(placeholders(args, sinks), ", ", " AS text) AS sink UNION ALL SELECT CAST(")
	return `SELECT s.sink, (SELECT min(a.look) FROM periodic_open AS a WHERE a.sink = s.sink) AS look FROM (SELECT CAST(` +
		list + ` AS text) AS sink) AS s`
}

// nextTurn is SQL for the next turn: an eighth of the time since the job was submitted away, but
// a second at least and five minutes at most. $1 is now.
const (
	nextTurnPostgres = `CAST($1 AS timestamp) + CASE WHEN submitted BETWEEN CAST($1 AS timestamp) - interval '40 minutes' AND CAST($1 AS timestamp)
			THEN greatest(interval '1 second', (CAST($1 AS timestamp) - submitted) / 8) ELSE interval '5 minutes' END`
	nextTurnSQLite = `strftime('%Y-%m-%d %H:%M:%f000', $1, printf('+%.3f seconds',
			CASE WHEN julianday(submitted) BETWEEN julianday($1) - 40 / 1440.0 AND julianday($1)
				THEN max(1, (julianday($1) - julianday(submitted)) * 86400 / 8) ELSE 300 END))`
)

// take takes the jobs of a queue whose turn it is, or says when it is the turn of one.
func (tx endsTx) take(ctx context.Context, a batch.AskEnds) (jobs []awaited, next time.Time, err error) {
	later := nextTurnPostgres
	if tx.SQL().IsSQLite() {
		later = nextTurnSQLite
	}
	err = tx.Select(ctx, &jobs, `UPDATE periodic_open SET look = `+later+`
		WHERE (task_id, due) IN (SELECT a.task_id, a.due FROM periodic_open AS a
			WHERE a.sink = $2 AND a.look <= $1 ORDER BY a.look LIMIT $3`+tx.SQL().ForUpdate+`)
		RETURNING ref, jid, task_id, due, submitted, asked`, sqldb.Timestamp(tx.Now()), string(a.Sink), a.Limit)
	if err != nil || len(jobs) > 0 {
		return jobs, next, err
	}
	var first sqldb.RowTime
	err = tx.First(ctx, &first, `SELECT min(look) FROM periodic_open WHERE sink = $1`, string(a.Sink))
	return nil, first.Time(), err
}

var endFields = []sqldb.Field{
	sqldb.Text("of_task"), sqldb.Time("of_due"), sqldb.Text("of_job"), sqldb.Text("how"), sqldb.Time("at"), sqldb.Int("tries"), sqldb.Text("said"),
}

// record writes how jobs ended into their ticks, and returns those that nobody has written
// before. Several schedulers may have asked about the same job.
func (tx endsTx) record(ctx context.Context, jobs []awaited, hooks batch.Hooks) (list []batch.EndedTick, err error) {
	r := tx.DB().Records(1, endFields, len(jobs), func(i int) []any {
		j := &jobs[i]
		at, tries := j.end.Finished, any(nil)
		if at.IsZero() {
			at = tx.Now()
		}
		if j.end.Attempts > 0 {
			tries = j.end.Attempts
		}
		return []any{string(j.TaskID), j.Due.Time(), string(j.JID), sqldb.Nullable(string(j.end.State)), at, tries, sqldb.Nullable(said(j.end.Error))}
	})
	// Another scheduler that has locked a row records that job.
	var keys []tickKeyRow
	err = tx.Select(ctx, &keys, `DELETE FROM periodic_open WHERE (task_id, due) IN (SELECT task_id, due FROM periodic_open
			WHERE (task_id, due, jid) IN (SELECT v.of_task, v.of_due, v.of_job FROM `+r.SQL+` AS v)`+tx.SQL().ForUpdate+`)
		RETURNING task_id, due`, r.Param)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	tx.Changes(sqldb.TopicTasks) // ticks may wait for them
	mine := tx.DB().Records(2, []sqldb.Field{sqldb.Text("my_task"), sqldb.Time("my_due")}, len(keys),
		func(i int) []any { return []any{keys[i].TaskID, keys[i].Due.Time()} })
	var rows []tickRow
	err = tx.Select(ctx, &rows, `UPDATE periodic_tick SET outcome = v.how, finished = v.at, attempts = v.tries, error = v.said
		FROM `+r.SQL+` AS v
		WHERE task_id = v.of_task AND due = v.of_due AND jid = v.of_job AND outcome IS NULL AND v.how IS NOT NULL
			AND (v.of_task, v.of_due) IN (SELECT m.my_task, m.my_due FROM `+mine.SQL+` AS m)
		RETURNING task_id, due, decision, jid, decided, outcome, finished, attempts, error`, r.Param, mine.Param)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if list, err = tx.withTasks(ctx, rows); err != nil {
		return nil, err
	}
	return list, tx.tellHooks(ctx, hooks, list)
}

// said is an error as the table holds it.
func said(text string) string {
	const most = 1000
	clean := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }), " ")
	if runes := []rune(clean); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return clean
}

// tellHooks tells the hooks.
func (tx endsTx) tellHooks(ctx context.Context, hooks batch.Hooks, list []batch.EndedTick) error {
	if hooks == nil {
		return nil
	}
	var told []batch.EndedTick
	for _, e := range list {
		if e.Task != nil && hooks.HearsEnd(e.Task, e.Tick) {
			told = append(told, e)
		}
	}
	if len(told) == 0 {
		return nil
	}
	slices.SortFunc(told, func(a, b batch.EndedTick) int {
		return cmp.Or(a.Tick.Finished.Compare(b.Tick.Finished), cmp.Compare(a.Tick.TaskID, b.Tick.TaskID), a.Tick.Due.Compare(b.Tick.Due))
	})
	if err := hooks.TellEnds(ctx, tx.DBTX(), tx.Now(), told); err != nil {
		return fmt.Errorf("write the events of hooks: %w", err)
	}
	return nil
}

// firstLook is how long after its submission a job is asked about first.
const firstLook = time.Second
