package migrations_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// edits are statements that have the same effect on both databases.
var edits = []struct{ name, edit, check, want string }{
	{"what is skipped ahead goes with its task", "DELETE FROM periodic_task WHERE id = 'a'", "SELECT count(*) FROM periodic_tick WHERE task_id = 'a'", "1"},
	{"that of others does not", "DELETE FROM periodic_task WHERE id = 'a'", "SELECT count(*) FROM periodic_tick WHERE task_id = 'b'", "1"},
	{"decided ticks stay as they are", "DELETE FROM periodic_task",
		"SELECT decision FROM periodic_tick WHERE task_id = 'a' AND due = '2026-01-01 00:00:00.000000'", "late"},
	{"several tasks deleted at once", "DELETE FROM periodic_task WHERE id IN ('a', 'b')", "SELECT count(*) FROM periodic_tick WHERE decided IS NULL", "0"},
	{"another id", "UPDATE periodic_task SET id = 'c' WHERE id = 'a'", "SELECT count(*) FROM periodic_tick WHERE task_id = 'a'", "1"},
	{"an edit takes the mark away", "UPDATE periodic_task SET priority = 3 WHERE id = 'a'",
		"SELECT coalesce(worker, 'nobody') FROM periodic_task WHERE id = 'a'", "nobody"},
	{"an edit of the timer has the task planned anew", "UPDATE periodic_task SET timer = 'hourly' WHERE id = 'a'",
		"SELECT count(*) FROM periodic_task WHERE id = 'a' AND due IS NULL AND nextrun = '1970-01-01 00:00:00.000000'", "1"},
	{"an edit of the priority does not", "UPDATE periodic_task SET priority = 3 WHERE id = 'a'",
		"SELECT count(*) FROM periodic_task WHERE id = 'a' AND due = nextrun", "1"},
	{"an edit of the jitter has the task planned anew", "UPDATE periodic_task SET jitter = 60 WHERE id = 'a'",
		"SELECT count(*) FROM periodic_task WHERE id = 'a' AND due IS NULL AND nextrun = '1970-01-01 00:00:00.000000' AND worker IS NULL AND since > '2026-01-01 00:00:00.000000'", "1"},
	{"the end of a job leaves its task alone", "UPDATE job SET state = 'failed', result = 'no space' WHERE tracker = 'p'",
		"SELECT count(*) FROM periodic_task WHERE id = 'p' AND paused IS NULL AND resumed IS NULL", "1"},
	{"who resumes has failures count anew", "UPDATE periodic_task SET paused = '2026-01-01 00:00:00.000000' WHERE id = 'p'; UPDATE periodic_task SET paused = NULL WHERE id = 'p'",
		"SELECT count(*) FROM periodic_task WHERE id = 'p' AND resumed > '2026-01-02'", "1"},
	{"a jitter leaves a time that was set by hand", "UPDATE periodic_task SET nextrun = '2031-01-01 00:00:00.000000', jitter = 60 WHERE id = 'a'",
		"SELECT count(*) FROM periodic_task WHERE id = 'a' AND due IS NULL AND nextrun = '2031-01-01 00:00:00.000000'", "1"},
	{"a mark is no edit", "UPDATE periodic_task SET worker = 'other' WHERE id = 'a'",
		"SELECT worker FROM periodic_task WHERE id = 'a'", "other"},
	{"args that are not JSON get a warning", "UPDATE periodic_task SET args = '--full' WHERE id = 'a'",
		"SELECT substr(problem, 1, 25) FROM periodic_task WHERE id = 'a'", "warning: args is not JSON"},
	{"a job that is deleted leaves its outcome in its tick",
		"UPDATE job SET state = 'failed', retries = 2, result = 'no space', started = due, finished = due WHERE jid = 'p1'; DELETE FROM job WHERE jid = 'p1'",
		"SELECT outcome || ' at ' || substr(CAST(finished AS text), 1, 10) || ', ' || attempts || ': ' || error FROM periodic_tick WHERE jid = 'p1'", "failed at 2026-01-01, 3: no space"},
	{"one that waited was cancelled", "DELETE FROM job WHERE tracker = 'p'",
		"SELECT count(*) FROM periodic_tick WHERE task_id = 'p' AND outcome = 'cancelled' AND attempts IS NULL AND finished IS NULL", "4"},
	{"how one ended that ran nobody knows", "UPDATE job SET state = 'running', worker = 'w' WHERE jid = 'p1'; DELETE FROM job",
		"SELECT outcome FROM periodic_tick WHERE jid = 'p1'", "unknown"},
	{"a job of no tick leaves nothing", "DELETE FROM job WHERE tracker IS NULL OR due IS NULL", "SELECT count(*) FROM periodic_tick WHERE outcome IS NOT NULL", "0"},
}

const editedRows = `INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('a', 'x', 'daily', 'queue'), ('b', 'x', 'daily', 'queue');
	UPDATE periodic_task SET due = '2030-01-01 00:00:00.000000', nextrun = '2030-01-01 00:00:00.000000', worker = 'w', marked = '2026-03-04 05:06:07.000000';
	UPDATE periodic_task SET due = '2030-01-01 00:00:00.000000', nextrun = '2030-01-01 00:00:00.000000', worker = 'w', since = '2026-01-01 00:00:00.000000';
	INSERT INTO job (jid, task, tracker) VALUES ('of-a', 'x', 'a'), ('of-b', 'x', 'b'), ('of-nobody', 'x', NULL);
	INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES
		('a', '2026-01-01 00:00:00.000000', 'late', '2026-01-01 00:00:00.000000');
	INSERT INTO periodic_tick (task_id, due, decision) VALUES
		('a', '2090-01-02 00:00:00.000000', 'skipped'), ('a', '2090-01-03 00:00:00.000000', 'skipped'), ('b', '2090-01-02 00:00:00.000000', 'skipped');
	INSERT INTO periodic_task (id, task, timer, pause_after) VALUES ('p', 'x', 'daily', 3);
	INSERT INTO job (jid, task, tracker, due) VALUES ('p1', 'x', 'p', '2026-01-01 00:00:00.000000'), ('p2', 'x', 'p', '2026-01-02 00:00:00.000000'),
		('p3', 'x', 'p', '2026-01-03 00:00:00.000000'), ('p4', 'x', 'p', '2026-01-04 00:00:00.000000');
	INSERT INTO periodic_tick (task_id, due, decision, jid, decided) SELECT 'p', due, 'submitted', jid, due FROM job WHERE tracker = 'p'`

// The triggers of both databases do the same.
func TestEditsHaveTheSameEffectOnBothDatabases(t *testing.T) {
	bothMade(t, func(db *database) {
		db.exec("DELETE FROM periodic_task")
		db.exec(editedRows)
		for _, test := range edits {
			tx, err := db.SQL.Begin()
			if err != nil {
				db.Fatal(err)
			}
			var got string
			if _, err = tx.Exec(test.edit); err == nil {
				err = tx.QueryRow(test.check).Scan(&got)
			}
			if err != nil || got != test.want {
				db.Errorf("%s: %s gives %q, want %q: %v", test.name, test.edit, got, test.want, err)
			}
			if err := tx.Rollback(); err != nil {
				db.Fatal(err)
			}
		}
	})
}

// Deleting one task reads what is skipped ahead of its own only.
func TestDeletedTaskReadsItsOwnTicks(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	db.exec(`INSERT INTO periodic_task (id, task, timer) SELECT 'task-' || n, 'x', 'daily' FROM generate_series(1, 50) AS n;
		ALTER TABLE periodic_tick DISABLE TRIGGER USER;
		INSERT INTO periodic_tick (task_id, due, decision)
		SELECT 'task-' || n % 50 + 1, timestamp '2090-01-01' + n * interval '1 minute', 'skipped' FROM generate_series(1, 20000) AS n;
		ALTER TABLE periodic_tick ENABLE TRIGGER USER`)
	for _, edit := range []string{"DELETE FROM periodic_task WHERE id = 'task-7'", "UPDATE periodic_task SET id = 'other' WHERE id = 'task-8'"} {
		tx, err := db.SQL.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(edit); err != nil {
			t.Fatal(err)
		}
		var read int
		err = tx.QueryRow(`SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables
			WHERE relname = 'periodic_tick'`).Scan(&read)
		if err != nil || read > 2000 {
			t.Errorf("%s reads %d rows of periodic_tick, the task has 400: %v", edit, read, err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	db.want("19200", "SELECT count(*) FROM periodic_tick")
}

// A tick that somebody has locked, or that refuses the outcome of its job, holds up no delete, and takes no outcome from others.
func TestDeleteOfJobsWaitsForNoTick(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	db.exec(editedRows)
	db.Refuse("periodic_tick", "UPDATE", "OLD.jid = 'p2'", "P0001")
	locked := db.Hold("SELECT 1 FROM periodic_tick WHERE jid = 'p1' FOR UPDATE")
	db.exec("DELETE FROM job WHERE jid IN ('p1', 'p2', 'p3')")
	db.want("p3", "SELECT string_agg(jid, ' ') FROM periodic_tick WHERE outcome = 'cancelled'")
	if _, err := locked.Exec("LOCK TABLE periodic_tick IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	db.exec("DELETE FROM job")
	db.want("0", "SELECT count(*) FROM job")
}

func (db *database) want(want, query string) {
	db.Helper()
	if got := db.one(query); got != want {
		db.Errorf("%s: got %q, want %q", query, got, want)
	}
}

// A task whose newest edit a crash or a failover has lost gets another number by the next edit, as does one
// that is deleted and inserted again: a plan that was made before is not written.
func TestNoVersionComesTwice(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	db.exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('a', 'x', 'daily');
		CREATE TABLE seen (rev bigint NOT NULL UNIQUE);
		INSERT INTO seen SELECT rev FROM periodic_task`)
	for _, edit := range []string{
		"UPDATE periodic_task SET priority = priority + 1",
		"UPDATE periodic_task SET rev = (SELECT min(rev) FROM seen); UPDATE periodic_task SET priority = priority + 1",
		"DELETE FROM periodic_task; INSERT INTO periodic_task (id, task, timer) VALUES ('a', 'x', 'daily')",
		"INSERT INTO periodic_tick (task_id, due, decision) VALUES ('a', '2090-01-02 00:00:00.000000', 'skipped')",
		"DELETE FROM periodic_tick",
	} {
		db.exec(edit)
		db.exec("INSERT INTO seen SELECT rev FROM periodic_task")
	}
}

// Who sets nextrun to now() in a session of another zone means the present.
func TestNowOfAnotherZoneIsStoredAsUTC(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	for _, edit := range []string{
		"INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('a', 'x', 'daily', now())",
		"UPDATE periodic_task SET nextrun = '2090-01-01'; UPDATE periodic_task SET nextrun = now()",
		"UPDATE periodic_task SET nextrun = '2090-01-01'; UPDATE periodic_task SET nextrun = LOCALTIMESTAMP",
	} {
		db.exec("BEGIN; SET LOCAL TIME ZONE 'Asia/Tokyo'; " + edit + "; COMMIT")
		db.want("true", "SELECT abs(extract(epoch FROM nextrun - (now() AT TIME ZONE 'UTC'))) < 600 FROM periodic_task WHERE id = 'a'")
	}
}
