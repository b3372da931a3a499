package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// How many of the newest ticks of a task are read, and looked through for its last
// success.
const (
	newestTicks = 10
	searched    = 50
)

// Outcomes are the newest ticks of a task and what became of them.
type Outcomes struct {
	ID string
	// LastSuccess is when the latest job that succeeded ended, among those of the 50
	// newest ticks; of another queue and of events, when the job was submitted. Zero:
	// none did.
	LastSuccess time.Time
	Ticks       []Outcome // at most 10, the newest first
}

// Outcome is what became of a tick.
type Outcome struct {
	Due      time.Time
	Until    time.Time // of missed ticks the newest
	Decision periodic.Decision
	Reason   string
	Decided  time.Time
	State    string    // of the job in nextrun's own queue; empty: there is none, or not any more
	Finished time.Time // when that job ended
}

// Outcomes reads the newest ticks of tasks. Tasks that do not exist are left out.
func (r Reader) Outcomes(ctx context.Context, ids []string) (list []Outcomes, err error) {
	err = r.db.View(ctx, func(tx *sqldb.Tx) error {
		columns, err := tx.Columns(ctx, "job")
		if err == nil {
			list, err = readOutcomes(ctx, tx, ids, len(columns) > 0)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the outcomes of tasks: %w", err)
	}
	return list, nil
}

func readOutcomes(ctx context.Context, tx *sqldb.Tx, ids []string, hasJobs bool) ([]Outcomes, error) {
	asked, err := tx.Texts(1, ids)
	if err != nil {
		return nil, err
	}
	var rows []outcomeRow
	err = tx.Select(ctx, &rows, query(asked.SQL, hasJobs), asked.Param, newestTicks-1, searched)
	var list []Outcomes
	for _, r := range rows {
		if n := len(list); n == 0 || list[n-1].ID != r.ID {
			list = append(list, Outcomes{ID: r.ID, LastSuccess: r.Success.Time()})
		}
		if r.Due.Time().IsZero() {
			continue // a task without ticks
		}
		last := &list[len(list)-1]
		last.Ticks = append(last.Ticks, Outcome{Due: r.Due.Time(), Until: r.Until.Time(), Reason: string(r.Reason), Decision: periodic.Decision(r.Decision),
			Decided: r.Decided.Time(), State: string(r.State), Finished: r.Finished.Time()})
	}
	return list, err
}

type outcomeRow struct {
	ID       string
	Success  sqldb.RowTime
	Due      sqldb.RowTime
	Until    sqldb.RowTime
	Decision sqldb.RowText
	Reason   sqldb.RowText
	Decided  sqldb.RowTime
	State    sqldb.RowText
	Finished sqldb.RowTime
}

// query reads the ticks of the tasks in $1 by ranges of the primary key of
// periodic_tick, and their jobs by theirs.
func query(asked string, hasJobs bool) string {
	state, finished, join := "NULL", "NULL", ""
	success := "CASE WHEN x.decision = 'submitted' THEN x.decided END"
	from := ""
	if hasJobs {
		state, finished, join = "j.state", "j.finished", " LEFT JOIN job AS j ON j.jid = k.jid"
		from = " LEFT JOIN job AS s ON s.jid = x.jid"
		success = "CASE WHEN t.sink <> 'job' THEN " + success + " WHEN s.state = 'success' THEN s.finished END"
	}
	return `SELECT t.id, k.due, k.until, k.decision, k.reason, k.decided, ` + state + ` AS state, ` + finished + ` AS finished,
			(SELECT max(` + success + `) FROM (SELECT jid, decision, decided FROM periodic_tick
				WHERE task_id = t.id ORDER BY due DESC LIMIT $3) AS x` + from + `) AS success
		FROM periodic_task AS t
		LEFT JOIN periodic_tick AS k ON k.task_id = t.id AND k.due >= coalesce(
			(SELECT due FROM periodic_tick WHERE task_id = t.id ORDER BY due DESC LIMIT 1 OFFSET $2), '0001-01-01 00:00:00.000000')` + join + `
		WHERE t.id IN (SELECT v.value FROM ` + asked + ` AS v)
		ORDER BY t.id, k.due DESC`
}
