package jobs

import (
	"context"
	"slices"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// linesOfKnownJobs returns the lines whose jobs exist.
func (tx workTx) linesOfKnownJobs(ctx context.Context, lines []exchange.Line) ([]exchange.Line, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	jids := make([]string, len(lines))
	for i, line := range lines {
		jids[i] = line.JID
	}
	r := tx.Texts(1, slices.Compact(jids)) // lines of a job follow each other
	var there []string
	if err := tx.Select(ctx, &there, "SELECT jid FROM job WHERE jid IN (SELECT v.value FROM "+r.SQL+" AS v)", r.Param); err != nil {
		return nil, err
	}
	isThere := sqldb.Set(there)
	return slices.DeleteFunc(slices.Clone(lines), func(line exchange.Line) bool { return !isThere[line.JID] }), nil
}

// insertLines adds lines, all of jobs that exist. The counter of each line follows
// the last one of its job.
func (tx jobTx) insertLines(ctx context.Context, lines []exchange.Line) error {
	if len(lines) == 0 {
		return nil
	}
	columns := []sqldb.Field{sqldb.Text("id"), sqldb.Text("jid"), sqldb.Text("level"), sqldb.Time("created"),
		sqldb.Text("message"), sqldb.Int("n")}
	r := tx.DB().Records(1, columns, len(lines), func(i int) []any {
		line := lines[i]
		return []any{line.ID, line.JID, string(line.Level), tx.Now().Add(-line.Age), line.Message, i + 1}
	})
	_, err := tx.Exec(ctx, `INSERT INTO joblog (id, jid, level, created, message, counter)
		SELECT v.id, v.jid, v.level, v.created, v.message,
			coalesce((SELECT max(l.counter) FROM joblog AS l WHERE l.jid = v.jid), 0) + v.n
		FROM `+r.SQL+` AS v WHERE true ORDER BY v.n ON CONFLICT (id) DO NOTHING`, r.Param)
	return err
}

// Lines implements [jobqueue.QueueTx].
func (tx jobTx) Lines(ctx context.Context, f jobqueue.LogFilter) ([]jobqueue.LogLine, error) {
	var rows []struct {
		Counter sqldb.RowInt
		Created sqldb.RowTime
		Level   sqldb.RowText
		Message sqldb.RowText
	}
	err := tx.Select(ctx, &rows, `SELECT coalesce(counter, 0) AS counter, created, level, message FROM joblog
		WHERE jid = $1 AND (counter > $2 OR $2 = 0) ORDER BY counter, created LIMIT $3`, f.JID, f.After, f.Limit)
	if err != nil {
		return nil, err
	}
	lines := make([]jobqueue.LogLine, len(rows))
	for i, r := range rows {
		lines[i] = jobqueue.LogLine{Counter: int64(r.Counter.N), Created: r.Created.Time(), Level: jobqueue.Level(r.Level), Message: string(r.Message)}
	}
	return lines, nil
}
