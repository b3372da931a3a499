package simulate_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/replay"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// A database in use has planned and overdue ticks, pauses, jobs that run and ticks that
// wait for them. What the command says of it is what the scheduler then does.
func TestSimulateADatabaseInUse(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		for _, idle := range []time.Duration{0, 5 * time.Hour} { // for which no scheduler has run
			t.Run(fmt.Sprint("idle for ", idle), func(t *testing.T) { inUse(t, d, idle) })
		}
	})
}

const took = 77 * time.Minute

func inUse(t *testing.T, d *storetest.Database, idle time.Duration) {
	now := time.Now().UTC().Truncate(time.Second)
	o := replay.Options{Start: now.Add(-30 * time.Hour), Dir: t.TempDir(),
		Takes: func(periodic.Task, time.Time) (time.Duration, jobqueue.State) { return took, jobqueue.Success }}
	if d.Kind == storetest.Postgres {
		o.Postgres = d.URL
	}
	run, err := replay.New(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, run.Close()) })
	hourly := fmt.Sprintf("*-*-* *:%02d", now.Add(30*time.Minute).Minute()) // nothing falls due while this test runs
	for id, columns := range map[string]string{
		"skip": "", "queue": ", overlap = 'queue'", "all": ", overlap = 'queue', catchup = 'all', deadline = 7200",
		"replace": ", overlap = 'replace'", "allow": ", overlap = 'allow'", "paused": ", paused = '2020-01-01 00:00:00'", "off": ", enabled = false",
		"event": ", sink = 'event'",
	} {
		must(t, run.Exec(t.Context(), `INSERT INTO periodic_task (id, task, timer) VALUES ($1, 'x', $2)`, id, hourly))
		must(t, run.Exec(t.Context(), `UPDATE periodic_task SET summary = NULL`+columns+` WHERE id = $1`, id))
	}
	must(t, run.Advance(t.Context(), now.Add(-idle)))
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": address(t, run, d)}}
	var got answer
	s.JSON(t, &got, "simulate", "--days", "2", "--durations", "77m")
	must(t, run.Outage(t.Context(), got.From)) // the same instants: the command came some time after now
	must(t, run.Advance(t.Context(), got.To.Add(-time.Microsecond)))
	ticks, err := periodic.NewTasks(run.DB.Tasks()).Ticks(t.Context(), periodic.TickFilter{Limit: 10_000, Since: got.From.Truncate(time.Microsecond)})
	must(t, err)
	if len(got.Now.Tasks) != 8 || got.Now.Jobs == 0 {
		t.Fatalf("%d tasks, %d jobs", len(got.Now.Tasks), got.Now.Jobs)
	}
	for _, task := range got.Now.Tasks {
		want := map[periodic.Decision]int{}
		for _, k := range ticks {
			if k.TaskID == task.ID {
				want[k.Decision] += max(k.Missed, 1)
			}
		}
		if got, want := fmt.Sprint(task.Submitted, task.Skipped, task.Missed, task.Late),
			fmt.Sprint(want[periodic.Submitted], want[periodic.Skipped], want[periodic.Missed], want[periodic.Late]); got != want {
			t.Errorf("%s: submitted, skipped, missed, late: %s; the scheduler: %s", task.ID, got, want)
		}
	}
}

// address is the URL of the database of a replay.
func address(t *testing.T, run *replay.Replay, d *storetest.Database) string {
	t.Helper()
	var name string
	if d.Kind != storetest.Postgres {
		must(t, run.Scan(t.Context(), &name, `SELECT file FROM pragma_database_list WHERE name = 'main'`))
		return "sqlite:" + name
	}
	must(t, run.Scan(t.Context(), &name, `SELECT current_schema()`))
	u, err := url.Parse(d.URL)
	must(t, err)
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// Tasks of a queue that the command does not know are named.
func TestSimulateNamesQueuesThatItCannotAsk(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink) VALUES ('far', 'a', 'hourly', 'river')`)
		out := s.Must(t, "simulate", "--days", "1")
		for _, want := range []string{"far", "24", "the queues of: far; if jobs of theirs run now", "--config"} {
			if !strings.Contains(out, want) {
				t.Errorf("want %q in\n%s", want, out)
			}
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
