package periodic_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/storetest"
	"github.com/nextrun/nextrun/store/storetest/migrated"
)

// oneStatement claims, submits and advances all due tasks in one SQL statement:
// what the database could do if nobody had to decide anything.
var oneStatement = map[string][]string{
	"postgres": {`WITH due AS (SELECT id FROM periodic_task WHERE enabled AND worker IS NULL AND nextrun <= clock_timestamp() AT TIME ZONE 'UTC'
			ORDER BY nextrun FOR UPDATE SKIP LOCKED),
		advanced AS (UPDATE periodic_task t SET due = t.due + interval '1 day', nextrun = t.nextrun + interval '1 day'
			FROM due WHERE t.id = due.id RETURNING t.*)
		INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, tracker, due, single)
		SELECT gen_random_uuid(), task, group_, args, subject, clock_timestamp() AT TIME ZONE 'UTC', submitter, priority,
			'waiting', 0, 0, id, due, true FROM advanced`},
	// SQLite has no INSERT from the result of an UPDATE: two statements.
	"sqlite": {`BEGIN IMMEDIATE`, `INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, tracker, due, single)
		SELECT lower(hex(randomblob(16))), task, group_, args, subject, strftime('%Y-%m-%d %H:%M:%f000', 'now'), submitter, priority,
			'waiting', 0, 0, id, due, 1 FROM periodic_task WHERE enabled AND worker IS NULL AND nextrun <= strftime('%Y-%m-%d %H:%M:%f000', 'now')`,
		`UPDATE periodic_task SET due = datetime(due, '+1 day') || '.000000', nextrun = datetime(nextrun, '+1 day') || '.000000'
		WHERE enabled AND worker IS NULL AND nextrun <= strftime('%Y-%m-%d %H:%M:%f000', 'now')`, `COMMIT`},
}

// BenchmarkSubmit10000 measures the time until 10,000 due tasks are submitted,
// as a ratio to oneStatement on the same rows in the same round; the figures are
// the medians of the rounds.
func BenchmarkSubmit10000(b *testing.B) {
	const tasks = 10_000
	for kind := range oneStatement {
		b.Run(kind, func(b *testing.B) {
			storetest.Compare(b, "s/10000tasks", func(t testing.TB) time.Duration {
				return dueTasks(t, kind, tasks, func(f *fixture) { f.runOnce() })
			}, "s/statement", func(t testing.TB) time.Duration {
				return dueTasks(t, kind, tasks, func(f *fixture) {
					for _, statement := range oneStatement[kind] {
						f.exec(statement)
					}
				})
			})
		})
	}
}

func dueTasks(t testing.TB, kind string, tasks int, run func(*fixture)) time.Duration {
	f := newFixture(migrated.New(t, kind))
	due := time.Now().UTC().Add(-time.Minute).Truncate(time.Minute)
	f.exec("INSERT INTO periodic_task (id, task, timer, args) SELECT 'task-' || n, 'backup', ?, ? FROM "+f.series(tasks),
		due.Format("15:04"), `{"path": "/srv/data", "keep": 7}`)
	f.exec("UPDATE periodic_task SET due = ?, nextrun = ?", utc(due), utc(due))
	if kind == "postgres" {
		f.exec("VACUUM ANALYZE periodic_task")
	}
	begun := time.Now()
	run(f)
	took := time.Since(begun)
	f.want(tasks, "SELECT count(*) FROM job")
	return took
}

func (f *fixture) series(n int) string {
	if f.Kind == "postgres" {
		return fmt.Sprintf("generate_series(1, %d) AS n", n)
	}
	return fmt.Sprintf("(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s)", n)
}

func (f *fixture) runOnce() {
	cfg := f.config("bench")
	cfg.Logger.(*logrus.Logger).SetLevel(logrus.WarnLevel)
	s, err := periodic.New(f.db.Periodic(), cfg)
	if err != nil {
		f.Fatal(err)
	}
	if err := s.RunOnce(f.Context()); err != nil {
		f.Fatal(err)
	}
}
