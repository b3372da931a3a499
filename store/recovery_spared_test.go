package store_test

import (
	"errors"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store"
)

// spares has something happen to the worker of the job first, and then kills a worker of
// another job. When that is taken over, the heir has looked at the first often enough, and
// must have spared it.
func spares(t *testing.T, d *migrated.Database, happens func()) {
	t.Helper()
	worker := d.One("SELECT worker FROM job WHERE jid = 'first'")
	others := map[string]*holder{}
	for _, jid := range []string{"second", "third"} {
		d.Exec("INSERT INTO job (jid, task) VALUES (?, 'report')", jid)
		others[jid] = startHolder(d, d.URL, "executor", false)
	}
	until(d, "the others show that they live", func() bool { return livingWorkers(d, "holder") >= 2 })
	taken, _ := heirs["executor"](d)
	for _, jid := range []string{"second", "third"} { // with the second the heir proves that it can judge
		if jid == "third" {
			happens()
		}
		others[jid].kill()
		select {
		case <-taken:
		case <-after():
			t.Fatalf("nobody took over the %s", jid)
		}
		until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = ?", jid) == "success" })
	}
	d.Want("running "+worker+" 0", "SELECT state || ' ' || worker || ' ' || interrupts FROM job WHERE jid = 'first'")
}

// A process that stands still has not ended.
func TestStoppedHolderKeepsItsJob(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
		first := startHolder(d, d.URL, "executor", false)
		shown(d, 1)
		spares(t, d, func() { first.stop(t) })
	})
}

// A worker that never showed that it lives is judged by its lease, also if it is dead: it may
// be of an earlier release, or another program's.
func TestUnknownHolderKeepsItsJob(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
		d.Exec("UPDATE job SET state = 'running', worker = 'stranger', heartbeat = CURRENT_TIMESTAMP")
		if d.Kind == storetest.Postgres {
			d.Exec("UPDATE job SET heartbeat = clock_timestamp() AT TIME ZONE 'UTC'")
		}
		spares(t, d, func() {})
	})
}

// So is one that does not listen.
func TestHolderThatPollsKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	first := startHolder(d, d.URL, "executor", true)
	spares(t, d, first.kill)
}

// Behind a pooler the session that listens is not the process's own, and notifications do
// not arrive. Here they do not since it listens in another database.
func TestHolderBehindPoolerKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	db := opened(t, d.URL, store.Options{ListenURL: storetest.PostgresURL(t)})
	run := startJob(t, db)
	spares(t, d, func() {})
	run.finish()
	until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = 'first'") == "success" })
}

// A worker whose session the server ends makes a new one.
func TestHolderWithoutSessionKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	run := startJob(t, opened(t, d.URL, store.Options{}))
	shown(d, 1)
	spares(t, d, func() {
		d.Exec(`DO $$ BEGIN PERFORM pg_terminate_backend(pid) FROM pg_stat_activity, worker_session
			WHERE application_name = session AND worker = (SELECT worker FROM job WHERE jid = 'first'); END $$`)
	})
	run.finish()
	until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = 'first'") == "success" })
	d.Want(1, "SELECT count(*) FROM joblog WHERE jid = 'first' AND message LIKE 'attempt % begins%'")
}

// One that cannot make a new session, but reaches the database, says so: leases decide.
func TestHolderThatCannotListenKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	way := newWay(t, d.URL)
	run := startJob(t, opened(t, d.URL, store.Options{ListenURL: way.url}))
	shown(d, 1)
	spares(t, d, way.cut)
	run.finish()
	until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = 'first'") == "success" })
}

// A pooler that keeps a session for each client may add to its name: PgBouncer with
// application_name_add_host.
func TestHolderWithRenamedSessionKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	way := newWay(t, d.URL)
	way.rename()
	run := startJob(t, opened(t, d.URL, store.Options{ListenURL: way.url}))
	until(t, "the session has another name", func() bool {
		return d.One("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '% FIRST@%'") == "1"
	})
	spares(t, d, func() {})
	run.finish()
	until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = 'first'") == "success" })
}

// One that is cut off loses its job, and cannot change it any more when it is back.
func TestHolderCutOffLosesItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	way := newWay(t, d.URL)
	run := startJob(t, opened(t, way.url, store.Options{}))
	shown(d, 1)
	taken, _ := heirs["executor"](d)
	shown(d, 2)
	way.cut()
	select {
	case <-taken:
	case <-after():
		t.Fatal("nobody took over")
	}
	until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = 'first'") == "success" })
	d.Want("true", "SELECT worker LIKE 'heir@%' FROM job WHERE jid = 'first'")
	run.err = errors.New("of no interest any more")
	run.finish()
	way.mend()
	until(d, "the first knows that it lost the job", run.isLost)
	d.Want("success 0", "SELECT state || ' ' || retries FROM job WHERE jid = 'first'")
	d.Want("true", "SELECT worker LIKE 'heir@%' FROM job WHERE jid = 'first'")
}
