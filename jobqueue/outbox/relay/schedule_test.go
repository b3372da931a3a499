package relay_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// schedule plans and submits what is due, by several schedulers at a time.
func (f *fixture) schedule(schedulers int) {
	f.Helper()
	var group sync.WaitGroup
	for i := range schedulers {
		group.Go(func() {
			s, err := scheduler.New(f.db.Periodic(), scheduler.Config{Name: fmt.Sprintf("s%d", i), BatchSize: 3, Logger: silent()})
			if err == nil {
				err = storetest.Insist(func() error { return s.RunOnce(f.Context()) })
			}
			if err != nil {
				f.Error(err)
			}
		})
	}
	group.Wait()
}

// G1 and G2 for events: each tick that is due becomes one event, and has its
// row, however many schedulers race; overlap does not apply.
func TestEveryTickIsOneEvent(t *testing.T) {
	both(t, func(f *fixture) {
		for i := range 8 {
			f.Exec(`INSERT INTO periodic_task (id, task, timer, sink, catchup, overlap, ends)
				VALUES (?, 'x', '*:*', 'event', 'all', 'skip', '2026-01-01 00:40:00')`, fmt.Sprintf("t%d", i))
		}
		f.Exec(`UPDATE periodic_task SET since = '2025-12-31 23:59:30.000000', due = '2026-01-01 00:00:00.000000', nextrun = '2026-01-01 00:00:00.000000'`) // as if planned then
		f.schedule(3)
		f.Want(8*40, `SELECT count(*) FROM event_store`)
		f.Want(8*40, `SELECT count(*) FROM periodic_tick WHERE decision = 'submitted' AND task_id LIKE 't%'`)
		f.Want(0, `SELECT count(*) FROM periodic_tick AS k WHERE NOT EXISTS
			(SELECT 1 FROM event_store AS e WHERE e.id = k.jid AND e.aggregate_id = k.task_id AND e.due = k.due)`)
		f.Want(0, `SELECT count(*) FROM (SELECT aggregate_version, row_number() OVER
			(PARTITION BY aggregate_id ORDER BY due) AS n FROM event_store) AS v WHERE aggregate_version <> n`)
	})
}

// The last guard of G1: a tick whose record was removed cannot become a second
// event; the row says so and delays no other.
func TestRemovedTickCannotBecomeASecondEvent(t *testing.T) {
	both(t, func(f *fixture) {
		f.Exec(`INSERT INTO periodic_task (id, task, timer, sink, catchup, nextrun) VALUES ('t', 'x', '*-01-01 02:00', 'event', 'none', '2026-01-01 02:00:00')`)
		f.schedule(1)
		f.Exec(`DELETE FROM periodic_tick`)
		f.Exec(`INSERT INTO periodic_task (id, task, timer, sink, catchup, nextrun) VALUES ('u', 'x', '*-01-01 02:00', 'event', 'none', '2026-01-01 02:00:00')`)
		f.Exec(`UPDATE periodic_task SET nextrun = '2026-01-01 02:00:00' WHERE id = 't'`)
		f.schedule(1)
		f.Want(2, `SELECT count(*) FROM event_store`)
		f.Want(1, `SELECT version FROM event_aggregate WHERE id = 't'`)
		if problem := f.One(`SELECT problem FROM periodic_task WHERE id = 't'`); !strings.Contains(problem, "cannot be scheduled") {
			f.Errorf("the problem is %q", problem)
		}
	})
}

// The INSERT ... SELECT of docs/events.md moves the schedules of light-portal,
// and their events come at the times of theirs.
func TestMappingOfScheduleTable(t *testing.T) {
	t.Parallel()
	f := newFixture(migrated.New(t, storetest.Postgres))
	f.Exec(`CREATE TABLE schedule_t (
		schedule_id varchar(36) NOT NULL PRIMARY KEY, host_id varchar(36) NOT NULL, schedule_name varchar(126) NOT NULL,
		frequency_unit varchar(16) NOT NULL, frequency_time integer NOT NULL,
		start_ts timestamptz NOT NULL, next_run_ts timestamptz NOT NULL,
		event_topic varchar(126) NOT NULL, event_type varchar(126) NOT NULL, event_data text NOT NULL,
		aggregate_version bigint DEFAULT 1 NOT NULL, active boolean NOT NULL DEFAULT true)`)
	add := func(id, unit string, n int, start, next string, version int, active bool) {
		f.Exec(`INSERT INTO schedule_t VALUES (?, 'host', ?, ?, ?, ?, ?, 'portal', 'Ran', '{"a":1}', ?, ?)`,
			id, "name of "+id, unit, n, start, next, version, active)
	}
	add("q", "MINUTES", 15, "2026-01-01 00:05:00+00", "2026-01-01 03:20:00+00", 14, true)
	add("d", "DAYS", 2, "2026-01-01 06:00:00+00", "2999-01-05 06:00:00+00", 3, true)
	add("off", "HOURS", 1, "2026-01-01 00:00:00+00", "2026-01-01 01:00:00+00", 1, false)
	for _, statement := range documented(f) {
		f.Exec(statement)
	}
	f.Want(3, `SELECT count(*) FROM periodic_task WHERE sink = 'event' AND group_ = 'portal' AND task = 'Ran' AND args = '{"a":1}'`)
	f.Want("name of q", `SELECT summary FROM periodic_task WHERE id = 'q'`)
	f.Want("every 15 minutes from 2026-01-01T00:05:00Z", `SELECT timer FROM periodic_task WHERE id = 'q'`)

	f.schedule(1)
	// q goes on with the tick that was next, and with the version after the last.
	f.Want(1, `SELECT count(*) FROM event_store WHERE aggregate_id = 'q' AND due = '2026-01-01 03:20:00.000000' AND aggregate_version = 15`)
	f.Want(0, `SELECT count(*) FROM event_store WHERE aggregate_id <> 'q'`)
	f.Want("", `SELECT max(problem) FROM periodic_task`)
	f.Want(1, `SELECT count(*) FROM periodic_task WHERE id = 'd' AND nextrun >= '2999-01-05 06:00:00' AND nextrun < '2999-01-05 06:00:01'`)
	f.Want(1, `SELECT count(*) FROM periodic_task WHERE id = 'q' AND due > '2026-02-01'`)
	due, err := time.Parse(time.RFC3339, strings.Replace(f.One(`SELECT substr(CAST(due AS char(30)), 1, 19) FROM periodic_task WHERE id = 'q'`), " ", "T", 1)+"Z")
	if err != nil || due.Sub(time.Date(2026, 1, 1, 0, 5, 0, 0, time.UTC))%(15*time.Minute) != 0 {
		f.Errorf("q is due at %s, %v, which is not on the grid of its start", due, err)
	}
}

// documented are the statements in docs/events.md.
func documented(f *fixture) []string {
	f.Helper()
	text, err := os.ReadFile("../../../docs/events.md")
	if err != nil {
		f.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "<!-- mapping -->\n```sql\n")
	block, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		f.Fatal("docs/events.md has no mapping")
	}
	var statements []string
	for statement := range strings.SplitSeq(block, ";\n") {
		if strings.TrimSpace(statement) != "" {
			statements = append(statements, statement)
		}
	}
	return statements
}
