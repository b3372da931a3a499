package jobs

import (
	"context"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// LastGroup implements executor.Store.
func (s Store) LastGroup(ctx context.Context, name string) (string, error) {
	var groups []string
	err := s.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Select(ctx, &groups, "SELECT groupid FROM jobgroupuse WHERE workerid = $1", name)
	})
	if err != nil || len(groups) == 0 {
		return "", err
	}
	return groups[0], nil
}

// recordGroup records whose turn it was, one row for each worker's name. Another
// process of that name may do the same at the same time.
func (tx claimTx) recordGroup(ctx context.Context, c exchange.Claim, group string) error {
	if c.Name == "" || group == c.Turn.Group {
		return nil
	}
	_, err := tx.Exec(ctx, `DELETE FROM jobgroupuse WHERE workerid = $1 AND groupid IN (SELECT groupid FROM jobgroupuse
		WHERE workerid = $1 AND groupid <> $2`+tx.SQL().ForUpdate+`)`, c.Name, group)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO jobgroupuse (groupid, workerid) VALUES ($2, $1) ON CONFLICT DO NOTHING", c.Name, group)
	return err
}
