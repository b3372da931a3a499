package queue

import (
	"context"

	"github.com/nextrun/nextrun/jobqueue/backend"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Pause implements [backend.Pauser].
func (tx jobTx) Pause(ctx context.Context, kind backend.PauseKind, name string) error {
	_, err := tx.Exec(ctx, "INSERT INTO job_pause (kind, name, since) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
		string(kind), name, sqldb.Timestamp(tx.Now()))
	return err
}

// Resume implements [backend.Pauser].
func (tx jobTx) Resume(ctx context.Context, kind backend.PauseKind, name string) (bool, error) {
	n, err := tx.Exec(ctx, "DELETE FROM job_pause WHERE kind = $1 AND name = $2", string(kind), name)
	return n > 0, err
}

// Pauses implements [backend.Pauser].
func (tx jobTx) Pauses(ctx context.Context) ([]backend.Pause, error) {
	var rows []struct {
		Kind  string
		Name  string
		Since sqldb.Timestamp
	}
	if err := tx.Select(ctx, &rows, "SELECT kind, name, since FROM job_pause ORDER BY kind, name"); err != nil {
		return nil, err
	}
	pauses := make([]backend.Pause, len(rows))
	for i, r := range rows {
		pauses[i] = backend.Pause{Kind: backend.PauseKind(r.Kind), Name: r.Name, Since: r.Since.Time()}
	}
	return pauses, nil
}
