package main

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/nextrun/nextrun/bench/internal/measure"
)

// The values of what happens again and again in a round.
const (
	median = "median"
	late99 = "99th percentile"
)

// ticksOfRound are the seconds that a round watches.
const ticksOfRound = 20

// spread are the values of durations.
func spread(list []time.Duration) values {
	ms := measure.Millis(list...)
	slices.Sort(ms)
	return values{median: measure.Quantile(ms, 0.5), late99: measure.Quantile(ms, 0.99)}
}

// punctual is a task that is due every second beside so many others, as the program sees it that submits them.
func (b *bench) punctual(database string, beside int) func(context.Context) (values, error) {
	return func(ctx context.Context) (v values, err error) {
		err = b.with(ctx, database, func(_ string, db *measure.DB) error {
			late, err := measure.Punctual(ctx, db, ticksOfRound, beside)
			v = spread(late)
			return err
		})
		return v, err
	}
}

// oldSnapshot is punctual while another session keeps a snapshot that is older than all ticks, as pg_dump does: no row that
// was replaced since can be removed.
func (b *bench) oldSnapshot(ctx context.Context) (v values, err error) {
	err = b.withPostgres(ctx, func(url string, db *measure.DB) error {
		return onPostgres(url, func(other *sql.DB) error {
			tx, err := other.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
			if err != nil {
				return err
			}
			var now time.Time
			if err := tx.QueryRowContext(ctx, "SELECT now() FROM periodic_task").Scan(&now); err != nil && !errors.Is(err, sql.ErrNoRows) {
				return errors.Join(err, tx.Rollback())
			}
			late, err := measure.Punctual(ctx, db, ticksOfRound, 300)
			v = spread(late)
			return errors.Join(err, tx.Rollback())
		})
	})
	return v, err
}
