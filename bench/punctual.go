package main

import (
	"context"
	"slices"
	"time"

	"github.com/nextrun/nextrun/bench/internal/measure"
)

// The figures of punctuality, of the ticks of a round.
var punctualFigures = []figure{{"due to committed, median", "ms", false}, {"due to committed, 99th percentile", "ms", false}}

// ticksOfRound are the seconds that a round watches.
const ticksOfRound = 15

// besides are the tasks that are due at the same second, under load.
const besides = 300

// punctuals are a task that is due every second, as the program sees it that submits it, in one process.
func (b *bench) punctuals() []group {
	var list []group
	for database, name := range map[string]string{postgres: "postgresql", sqlite: "sqlite"} {
		of := func(run func(context.Context, *measure.DB) ([]time.Duration, error)) func(context.Context) (values, error) {
			return func(ctx context.Context) (v values, err error) {
				err = b.with(ctx, database, func(_ string, db *measure.DB) error {
					late, err := run(ctx, db)
					if err != nil {
						return err
					}
					ms := measure.Millis(late...)
					slices.Sort(ms)
					v = values{punctualFigures[0].name: measure.Quantile(ms, 0.5), punctualFigures[1].name: measure.Quantile(ms, 0.99)}
					return nil
				})
				return v, err
			}
		}
		floor := contender{"sleep and insert one row", of(func(ctx context.Context, db *measure.DB) ([]time.Duration, error) {
			return measure.PlainPunctual(ctx, db, ticksOfRound)
		})}
		for suffix, beside := range map[string]int{"idle": 0, "loaded": besides} {
			about := "one task every second, nothing else"
			if beside > 0 {
				about = "one task every second beside 300 that are due at the same second, and an executor that runs their jobs"
			}
			list = append(list, group{
				name: "punctual-" + suffix + "-" + name, database: database, figures: punctualFigures, about: about,
				contenders: []contender{{ours, of(func(ctx context.Context, db *measure.DB) ([]time.Duration, error) {
					return measure.Punctual(ctx, db, ticksOfRound, beside)
				})}, floor},
			})
		}
	}
	slices.SortFunc(list, func(a, b group) int { return cmpText(a.name, b.name) })
	return list
}
