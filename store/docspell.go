package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// ErrDocspell is wrapped by [DB.RefuseLiveDocspell].
var ErrDocspell = errors.New("a Docspell job executor uses this database")

// LiveDocspell lists the job executors of Docspell that its table node knows, by
// id and URL: each of them runs Docspell's own periodic scheduler, which submits
// the same rows of periodic_task. Without such a table it returns none.
//
// An executor has a row from its start until it stops in order. Docspell does not
// renew the row, but its housekeeping asks every node from time to time, and counts
// in not_found how often a node did not answer. So a crashed executor is listed
// until it has not answered once.
func (db *DB) LiveDocspell(ctx context.Context) ([]string, error) {
	var live []string
	err := db.db.View(ctx, func(tx *sqldb.Tx) error {
		columns, err := tx.Columns(ctx, "node")
		if err != nil {
			return err
		}
		has := sqldb.Set(columns)
		if !has["id"] || !has["type"] || !has["url"] {
			return nil // not Docspell's
		}
		where := "lower(type) = 'joex'"
		if has["not_found"] { // older ones lack it
			where += " AND not_found = 0"
		}
		return tx.Select(ctx, &live, "SELECT id || ' (' || url || ')' FROM node WHERE "+where+" ORDER BY id")
	})
	if err != nil {
		return nil, fmt.Errorf("look for Docspell's job executors: %w", err)
	}
	return live, nil
}

// DocspellOffset is how far the times that Docspell's job executors write are
// ahead of UTC. Docspell writes the begin of a job twice: in the zone of its process
// (started), and in milliseconds since 1970 (startedmillis). DocspellOffset is the
// difference in the newest job that Docspell has begun, 0 if there is none.
func (db *DB) DocspellOffset(ctx context.Context) (time.Duration, error) {
	var newest []struct {
		Started       Timestamp
		StartedMillis int64
	}
	err := db.db.View(ctx, func(tx *sqldb.Tx) error {
		// The workers of nextrun are NAME/BOOT.
		return tx.Select(ctx, &newest, `SELECT started, startedmillis FROM job
			WHERE started IS NOT NULL AND startedmillis IS NOT NULL AND worker NOT LIKE '%/%'
			ORDER BY startedmillis DESC LIMIT 1`)
	})
	if err != nil || len(newest) == 0 {
		return 0, err
	}
	return newest[0].Started.Time().Sub(time.UnixMilli(newest[0].StartedMillis)).Round(time.Minute), nil
}

// RefuseLiveDocspell returns an error that wraps [ErrDocspell] and says what to
// do if [DB.LiveDocspell] lists an executor.
func (db *DB) RefuseLiveDocspell(ctx context.Context) error {
	live, err := db.LiveDocspell(ctx)
	if err != nil || len(live) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s. It schedules the same periodic tasks by itself. Stop it (one that crashed: "+
		"DELETE FROM node WHERE id = '...'), or give --beside-docspell to schedule beside it; see docs/docspell.md",
		ErrDocspell, strings.Join(live, ", "))
}
