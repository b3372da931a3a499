package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
)

// The newest ticks of a time are the first of all of it, however many are asked for.
func TestNewestTicksOfATime(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, hour := range []float64{1, 9, 20, 22, 22.5, 23.1, 23.5} {
			due := sqldb.Timestamp(day.Add(time.Duration(hour * float64(time.Hour))))
			env.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES ('t', ?, 'skipped', ?)`, due, due)
		}
		last := sqldb.Timestamp(day.Add(23*time.Hour + 40*time.Minute)) // of those that were missed since 21:00
		env.Exec(`INSERT INTO periodic_tick (task_id, due, until, decision, decided, missed) VALUES ('u', ?, ?, 'missed', ?, 3)`, sqldb.Timestamp(day.Add(21*time.Hour)), last, last)
		filter := periodic.TickFilter{DueFrom: day, DueTo: day.Add(24 * time.Hour)}
		all, err := env.tasks.Ticks(t.Context(), filter)
		if err != nil || len(all) != 8 {
			t.Fatalf("%d ticks: %v", len(all), err)
		}
		for filter.Limit = 1; filter.Limit < 10; filter.Limit++ {
			some, err := env.tasks.Ticks(t.Context(), filter)
			if want := all[:min(filter.Limit, 8)]; err != nil || !slices.Equal(some, want) {
				t.Errorf("the newest %d are %+v (%v), want %+v", filter.Limit, some, err, want)
			}
		}
	})
}
