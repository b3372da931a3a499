package view

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Streak is when a task whose newest ticks went wrong began to, as far as it is known.
type Streak struct {
	Success time.Time // when the newest tick that ended well was due; zero: none is known
	Ended   time.Time // when its run ended
	Since   time.Time // when the first one after it that failed, was missed or late was due; zero: there is none
	Failed  int       // how many of those after it failed
	Lost    int       // how many of them were missed or late
	Cut     bool      // older ticks are recorded that were not looked at
}

// Of so many of the newest ticks of all tasks, and of each at least and at most, a [Streak] is made.
const (
	streakTicks = 9000
	streakLeast = 300
	streakMost  = 3000
)

// Streaks reads since when each of these tasks has gone wrong.
func (r Reader) Streaks(ctx context.Context, ids []string) (map[string]Streak, error) {
	of := make(map[string]Streak, len(ids))
	if len(ids) == 0 {
		return of, nil
	}
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		rows, err := readStreaks(ctx, tx, ids)
		for _, row := range rows {
			of[row.ID] = Streak{row.Success.Time(), row.Ended.Time(), row.Since.Time(), row.Failed, row.Lost, !row.Oldest.Time().IsZero()}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read since when tasks fail: %w", err)
	}
	return of, nil
}

type streakRow struct {
	ID                            string
	Oldest, Success, Ended, Since sqldb.RowTime
	Failed, Lost                  int
}

func readStreaks(ctx context.Context, tx *sqldb.Tx, ids []string) (rows []streakRow, err error) {
	asked, err := tx.Texts(1, ids)
	if err != nil {
		return nil, err
	}
	// The first tick after a limit, in an order, whose state is one of these: the database stops at it.
	after := func(what, of, limit, states, order string) string {
		return `(SELECT ` + what + ` FROM periodic_run AS k
			WHERE k.task_id = ` + of + `.id AND k.due > coalesce(` + limit + `, '0001-01-01 00:00:00.000000')
				AND CASE WHEN k.decision <> 'submitted' THEN k.decision ELSE k.state END IN ` + states + order + `)`
	}
	first := func(of, limit, states, order string) string {
		return after("k.due", of, limit, states, " ORDER BY k.due "+order+" LIMIT 1")
	}
	err = tx.Select(ctx, &rows, `WITH t AS MATERIALIZED (SELECT id, (SELECT k.due FROM periodic_tick AS k WHERE k.task_id = periodic_task.id AND k.decided IS NOT NULL ORDER BY k.due DESC LIMIT 1 OFFSET $2) AS oldest
				FROM periodic_task WHERE id IN (SELECT v.value FROM `+asked.SQL+` AS v)),
			s AS MATERIALIZED (SELECT t.id, t.oldest, `+first("t", "t.oldest", "('success')", "DESC")+` AS success FROM t)
		SELECT s.id, s.oldest, s.success, (SELECT k.finished FROM periodic_run AS k WHERE k.task_id = s.id AND k.due = s.success) AS ended, `+first("s", "s.success, s.oldest", "('failed', 'missed', 'late')", "ASC")+` AS since, `+after("count(*)", "s", "s.success, s.oldest", "('failed')", "")+` AS failed, `+after("count(*)", "s", "s.success, s.oldest", "('missed', 'late')", "")+` AS lost FROM s`,
		asked.Param, min(max(streakTicks/len(ids), streakLeast), streakMost))
	return rows, err
}

// EndOfLog are the last n lines of the log of a job.
func (r Reader) EndOfLog(ctx context.Context, jid string, n int) ([]string, error) {
	var lines []sqldb.RowText
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &lines, `SELECT message FROM joblog WHERE jid = $1 ORDER BY counter DESC LIMIT $2`, jid, n)
	})
	output := make([]string, len(lines))
	for i, line := range lines {
		output[len(lines)-1-i] = string(line)
	}
	return output, err
}

// LastLines are the last lines of what these jobs wrote before nextrun noted how they ended, by job.
func (r Reader) LastLines(ctx context.Context, jids []string) (map[string]string, error) {
	lines := make(map[string]string, len(jids))
	if len(jids) == 0 {
		return lines, nil
	}
	var rows []struct {
		JID  string
		Said sqldb.RowText
	}
	err := r.db.View(ctx, func(tx *sqldb.Tx) error {
		asked, err := tx.Texts(1, jids)
		if err != nil {
			return err
		}
		return tx.Select(ctx, &rows, `SELECT v.value AS jid, (SELECT substr(l.message, 1, 300) FROM joblog AS l WHERE l.jid = v.value AND trim(l.message) <> ''
				AND l.message NOT LIKE 'failed%' AND l.message NOT LIKE 'attempt % begins on %'
			ORDER BY l.counter DESC LIMIT 1) AS said FROM `+asked.SQL+` AS v`, asked.Param)
	})
	for _, row := range rows {
		lines[row.JID] = strings.TrimSpace(string(row.Said))
	}
	return lines, err
}
