package store

import (
	"context"

	"github.com/nextrun/nextrun/jobqueue"
)

// writeLines adds lines to the job log and returns those that it could not
// write, because somebody else has the job locked. Lines of jobs that are gone
// are dropped.
func (tx jobTx) writeLines(ctx context.Context, lines []jobqueue.Line) ([]jobqueue.Line, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	var jids []string
	seen := map[string]bool{}
	for _, line := range lines {
		if !seen[line.JID] {
			seen[line.JID] = true
			jids = append(jids, line.JID)
		}
	}
	r, err := tx.texts(1, jids)
	if err != nil {
		return nil, err
	}
	var free, there []string
	lock := tx.db.dialect.lockRows()
	if tx.waits {
		lock = ""
	}
	query := "SELECT jid FROM job WHERE jid IN (SELECT v.value FROM " + r.sql + " AS v)"
	if err := tx.list(ctx, &free, query+lock, r.param); err != nil {
		return nil, err
	}
	if len(free) < len(jids) && lock != "" {
		if err := tx.list(ctx, &there, query, r.param); err != nil {
			return nil, err
		}
	}
	var write, held []jobqueue.Line
	isFree, isThere := set(free), set(there)
	for _, line := range lines {
		if isFree[line.JID] {
			write = append(write, line)
		} else if isThere[line.JID] {
			held = append(held, line)
		}
	}
	return held, tx.insertLines(ctx, write)
}

// insertLines adds lines of jobs that are there. The counter goes on from the
// last one of the job.
func (tx jobTx) insertLines(ctx context.Context, lines []jobqueue.Line) error {
	if len(lines) == 0 {
		return nil
	}
	columns := []field{{"id", fieldText}, {"jid", fieldText}, {"level", fieldText}, {"created", fieldTime},
		{"message", fieldText}, {"n", fieldInt}}
	r, err := tx.db.newRecords(1, columns, len(lines), func(i int) []any {
		line := lines[i]
		return []any{line.ID, line.JID, string(line.Level), tx.now.Add(-line.Age), line.Message, i + 1}
	})
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, `INSERT INTO joblog (id, jid, level, created, message, counter)
		SELECT v.id, v.jid, v.level, v.created, v.message,
			coalesce((SELECT max(l.counter) FROM joblog AS l WHERE l.jid = v.jid), 0) + v.n
		FROM `+r.sql+` AS v WHERE true ORDER BY v.n ON CONFLICT (id) DO NOTHING`, r.param)
	return err
}

// Lines implements [jobqueue.JobReader].
func (tx jobTx) Lines(ctx context.Context, f jobqueue.LogFilter) ([]jobqueue.LogLine, error) {
	var rows []struct {
		Counter int64
		Created Timestamp
		Level   string
		Message string
	}
	err := tx.list(ctx, &rows, `SELECT coalesce(counter, 0) AS counter, created, level, message FROM joblog
		WHERE jid = $1 AND (counter > $2 OR $2 = 0) ORDER BY counter, created LIMIT $3`, f.JID, f.After, f.Limit)
	if err != nil {
		return nil, err
	}
	lines := make([]jobqueue.LogLine, len(rows))
	for i, r := range rows {
		lines[i] = jobqueue.LogLine{Counter: r.Counter, Created: r.Created.Time(), Level: jobqueue.Level(r.Level), Message: r.Message}
	}
	return lines, nil
}
