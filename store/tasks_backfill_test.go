package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// day is a day of the past.
var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func (e tasksEnv) backfill(t *testing.T, id string, from, to time.Time) (submitted, had int) {
	t.Helper()
	err := e.tasks.Backfill(t.Context(), id, periodic.Backfill{From: from, To: to, Report: func(_ time.Time, jid string) {
		if jid == "" {
			had++
			return
		}
		submitted++
		// The job has ended at once, so that the next one can be submitted.
		e.Exec(`UPDATE job SET state = 'success' WHERE jid = '` + jid + `'`)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return submitted, had
}

func TestBackfill(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		mustAdd(t, env.tasks, periodic.NewTask("a", "echo", "*-*-* *:00"))
		tick := func(hour int, columns, values string) {
			due := day.Add(time.Duration(hour) * time.Hour).Format("2006-01-02 15:04:05.000000")
			env.Exec(fmt.Sprintf(`INSERT INTO periodic_tick (task_id, due, decided, %s) VALUES ('a', '%s', '%s', %s)`,
				columns, due, due, values))
		}
		tick(1, "decision, jid", "'submitted', 'x'")
		tick(2, "decision", "'skipped'")
		tick(3, "decision", "'late'")
		tick(4, "decision, missed, until", "'missed', 4, '2026-03-01 07:00:00.000000'")

		// 00:00 has no tick, 02:00 was skipped, 04:00 and 05:00 were missed.
		submitted, had := env.backfill(t, "a", day, day.Add(6*time.Hour))
		if submitted != 5 || had != 1 {
			t.Errorf("submitted %d, had %d; want 5 and 1", submitted, had)
		}
		got := env.texts(t, `SELECT substr(CAST(due AS text), 12, 5) || ' ' || decision || ' ' || CAST(missed AS text)
			FROM periodic_tick WHERE task_id = 'a' ORDER BY due`)
		want := []string{
			"00:00 submitted 0", "01:00 submitted 0", "02:00 submitted 0", "03:00 submitted 0", "04:00 submitted 0",
			"05:00 submitted 0", "06:00 missed 2",
		}
		if !slices.Equal(got, want) {
			t.Errorf("the ticks are\n%q, want\n%q", got, want)
		}
		if n := env.texts(t, `SELECT jid FROM job WHERE due IS NOT NULL AND tracker = 'a' AND single`); len(n) != 5 {
			t.Errorf("%d single jobs with a due, want 5", len(n))
		}
		// One of several that were missed together, then those before it and after it.
		tick(20, "decision, missed, until", "'missed', 4, '2026-03-01 23:00:00.000000'")
		hour := func(from, to int) {
			env.backfill(t, "a", day.Add(time.Duration(from)*time.Hour), day.Add(time.Duration(to)*time.Hour))
		}
		hour(21, 22)
		hour(20, 21)
		got = env.texts(t, `SELECT substr(CAST(due AS text), 12, 5) || ' ' || decision || ' ' || CAST(missed AS text)
			FROM periodic_tick WHERE task_id = 'a' AND due >= '2026-03-01 20:00:00.000000' ORDER BY due`)
		if want := []string{"20:00 submitted 0", "21:00 submitted 0", "22:00 missed 2"}; !slices.Equal(got, want) {
			t.Errorf("the ticks are\n%q, want\n%q", got, want)
		}
		if submitted, had := env.backfill(t, "a", day, day.Add(6*time.Hour)); submitted != 0 || had != 6 {
			t.Errorf("done again: submitted %d, had %d; want 0 and 6", submitted, had)
		}
	})
}
