package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// searched is how many of the newest ticks of a task are looked through for its last
// success at least.
const searched = 50

// History are the newest ticks of a task and what became of them.
type History struct {
	ID string
	// LastSuccess is when the latest job that succeeded ended, among those of the newest
	// ticks, 50 or as many as were asked for; of events, and of another queue that does not tell
	// how jobs end, when the job was submitted. Zero: none did.
	LastSuccess time.Time
	Ticks       []TickResult // the newest first
}

// TickResult is what became of a tick.
type TickResult struct {
	Due      time.Time
	Until    time.Time // of missed ticks the newest
	Decision periodic.Decision
	Reason   string
	Missed   int // number of missed ticks; -1: more than 10,000
	Decided  time.Time
	JID      string    // the job or event that it became
	Own      bool      // that job is in nextrun's own queue
	Result   string    // what the job said at its end, its first 300 characters
	State    string    // of the job; in another queue only of one that has ended; empty: nobody knows
	Started  time.Time // the job's last attempt
	Finished time.Time // when the job ended
	Retries  int       // of the job
	Lost     int       // how often its worker stopped, died or lost it
	Hand     string    // how somebody has asked for it, in words; empty: nobody has
}

// History reads the n newest ticks of each of these tasks, n being 1 or more. Tasks that
// do not exist are left out.
func (r Reader) History(ctx context.Context, ids []string, n int) (list []History, err error) {
	return r.history(ctx, ids, n, periodic.Never, true)
}

// HistoryBefore is [Reader.History] of the ticks that were due before a time, without LastSuccess.
func (r Reader) HistoryBefore(ctx context.Context, ids []string, n int, before time.Time) ([]History, error) {
	return r.history(ctx, ids, n, before, false)
}

func (r Reader) history(ctx context.Context, ids []string, n int, before time.Time, success bool) (list []History, err error) {
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		list, err = readHistory(ctx, tx, ids, n, before, success)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the history of tasks: %w", err)
	}
	return list, nil
}

func readHistory(ctx context.Context, tx *sqldb.Tx, ids []string, n int, before time.Time, success bool) ([]History, error) {
	asked, err := tx.Texts(1, ids)
	if err != nil {
		return nil, err
	}
	var rows []historyRow
	args := []any{asked.Param, max(n, 1) - 1, sqldb.Timestamp(before)}
	if success {
		args = append(args, max(n, searched))
	}
	err = tx.Select(ctx, &rows, query(asked.SQL, success), args...)
	var list []History
	for _, r := range rows {
		if n := len(list); n == 0 || list[n-1].ID != r.ID {
			list = append(list, History{ID: r.ID, LastSuccess: r.Success.Time()})
		}
		if r.Due.Time().IsZero() {
			continue // a task without ticks
		}
		last := &list[len(list)-1]
		last.Ticks = append(last.Ticks, r.result())
	}
	return list, err
}

type historyRow struct {
	ID       string
	Success  sqldb.RowTime
	Due      sqldb.RowTime
	Until    sqldb.RowTime
	Decision sqldb.RowText
	Reason   sqldb.RowText
	Missed   sqldb.RowInt
	Decided  sqldb.RowTime
	JID      sqldb.RowText
	Own      sqldb.RowInt
	State    sqldb.RowText
	Started  sqldb.RowTime
	Finished sqldb.RowTime
	Result   sqldb.RowText
	Retries  sqldb.RowInt
	Lost     sqldb.RowInt
}

func (r historyRow) result() TickResult {
	return TickResult{
		Due: r.Due.Time(), Until: r.Until.Time(), Decision: periodic.Decision(r.Decision), Reason: string(r.Reason),
		Missed: r.Missed.N, Decided: r.Decided.Time(), JID: string(r.JID), Own: r.Own.N == 1,
		State: string(r.State), Started: r.Started.Time(), Finished: r.Finished.Time(), Result: string(r.Result), Retries: r.Retries.N, Lost: r.Lost.N, Hand: reasons.Hand(string(r.Reason)),
	}
}

// UnknownEnds counts the jobs of a queue that is not nextrun's own that ended in the last 24 hours,
// and those of them of which nobody knows how.
func (r Reader) UnknownEnds(ctx context.Context, sink string) (unknown, all int, err error) {
	var counted struct{ Unknown, Ended int }
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.First(ctx, &counted, `SELECT coalesce(sum(CASE WHEN k.outcome = 'unknown' THEN 1 ELSE 0 END), 0) AS unknown, count(*) AS ended
			FROM periodic_task AS t JOIN periodic_tick AS k ON k.task_id = t.id
			WHERE t.sink = $1 AND k.outcome IS NOT NULL AND k.finished > $2 AND k.decided > $3`,
			sink, sqldb.Timestamp(tx.Now().Add(-24*time.Hour)), sqldb.Timestamp(tx.Now().Add(-7*24*time.Hour)))
	})
	return counted.Unknown, counted.Ended, err
}

// told is the state of the job of a tick k in another queue; NULL: nobody knows.
const told = "CASE k.outcome WHEN 'gone' THEN 'success' ELSE k.outcome END"

// delivered is what became of the event of a tick, of which m is the message; NULL: there is none any more.
const delivered = "CASE WHEN m.dead IS NOT NULL THEN 'failed' WHEN m.published IS NOT NULL THEN 'success' WHEN m.id IS NOT NULL THEN 'pending' END"

// query reads the ticks of the tasks in $1 by ranges of the primary key of
// periodic_tick, and their jobs by theirs. What it says of a task it reads once, not
// for each tick.
func query(asked string, success bool) string {
	const job = "coalesce(j.state, " + told + ", " + delivered + ") AS state, j.started, coalesce(j.finished, k.finished) AS finished, " +
		"coalesce(substr(j.result, 1, 300), substr(k.error, 1, 300)) AS result, coalesce(j.retries, k.attempts - 1, 0) AS retries, coalesce(j.interrupts, 0) AS lost, " +
		"CASE WHEN j.jid IS NULL THEN 0 ELSE 1 END AS own"
	latest := "NULL"
	if success {
		latest = latestSuccess
	}
	return `WITH t AS MATERIALIZED (SELECT t.id, t.sink,
				coalesce((SELECT due FROM periodic_tick WHERE task_id = t.id AND due < $3 AND decided IS NOT NULL ORDER BY due DESC LIMIT 1 OFFSET $2), '0001-01-01 00:00:00.000000') AS oldest,
				` + latest + ` AS success
			FROM periodic_task AS t WHERE t.id IN (SELECT v.value FROM ` + asked + ` AS v))
		SELECT t.id, t.success, k.due, k.until, k.decision, k.reason, coalesce(k.missed, 0) AS missed, k.decided, k.jid, ` + job + `
		FROM t LEFT JOIN periodic_tick AS k ON k.task_id = t.id AND k.due >= t.oldest AND k.due < $3 AND k.decided IS NOT NULL LEFT JOIN job AS j ON j.jid = k.jid LEFT JOIN outbox_message AS m ON t.sink = 'event' AND m.event_id = k.jid
		ORDER BY t.id, k.due DESC`
}

// latestSuccess is when the latest job of a task t that succeeded ended, among the newest $4 ticks.
const latestSuccess = `(SELECT max(CASE WHEN s.state = 'success' THEN s.finished WHEN s.state IS NULL AND (t.sink <> 'job' OR x.outcome IS NOT NULL)
			THEN CASE WHEN x.outcome IN ('success', 'gone') THEN x.finished WHEN x.outcome IS NOT NULL THEN NULL
				WHEN x.decision = 'submitted' AND NOT EXISTS (SELECT 1 FROM periodic_open AS a WHERE a.tells AND a.task_id = t.id AND a.due = x.due) THEN x.decided END END)
		FROM (SELECT due, jid, decision, decided, outcome, finished FROM periodic_tick WHERE task_id = t.id AND decided IS NOT NULL ORDER BY due DESC LIMIT $4) AS x
		LEFT JOIN job AS s ON s.jid = x.jid)`
