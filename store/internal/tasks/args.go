package tasks

import (
	"context"
	"strings"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Args implements [batch.Tx]. On PostgreSQL no answer is larger than maxBytes: the tasks are
// locked, and no limit of the server ends the session of a process that has stopped in the
// middle of an answer. One that has stopped between two is idle in its transaction.
func (tx schedulerTx) Args(ctx context.Context, ids []string, maxBytes int) (map[string]string, error) {
	r, err := tx.DB().Records(1, []sqldb.Field{sqldb.Int("pos"), sqldb.Text("id")}, len(ids),
		func(i int) []any { return []any{i, ids[i]} })
	if err != nil {
		return nil, err
	}
	size, whole := `octet_length(s.args)`, `w.total <= $2`
	if tx.SQL().IsSQLite() {
		size, whole = `length(s.args)`, `true`
	}
	var rows []struct {
		ID, Args string
		Whole    sqldb.RowBool
	}
	err = tx.Select(ctx, &rows, `SELECT t.id, CASE WHEN `+whole+` THEN t.args ELSE '' END AS args, `+whole+` AS whole FROM (
			SELECT v.pos, v.id, sum(`+size+`) OVER (ORDER BY v.pos) AS total
			FROM `+r.SQL+` AS v JOIN periodic_task AS s ON s.id = v.id) AS w
		JOIN periodic_task AS t ON t.id = w.id WHERE w.pos = 0 OR w.total <= $2`, r.Param, maxBytes)
	args := make(map[string]string, len(rows))
	for _, row := range rows {
		if err == nil && !bool(row.Whole) {
			row.Args, err = tx.longArgs(ctx, row.ID, maxBytes)
		}
		args[row.ID] = row.Args
	}
	return args, err
}

// longArgs reads args in parts. A character takes four bytes at most.
func (tx schedulerTx) longArgs(ctx context.Context, id string, maxBytes int) (string, error) {
	var args strings.Builder
	for at := 1; ; at += maxBytes / 4 {
		var part string
		err := tx.First(ctx, &part, `SELECT substr(args, $2, $3) FROM periodic_task WHERE id = $1`, id, at, maxBytes/4)
		if err != nil || part == "" {
			return args.String(), err
		}
		args.WriteString(part)
	}
}
