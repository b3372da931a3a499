package migrations_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/storetest"
)

// filled has a row of each kind that a schema of a version can hold.
var filled = map[int64]string{
	1: `INSERT INTO job (jid, task, tracker) VALUES ('old-job', 'x', 'old');
		INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', 'old-job', 'info', '2026-03-04 05:06:07.000000', 'm')`,
	2: `INSERT INTO periodic_task (id, task, timer, overlap, args) VALUES ('old', 'x', 'yearly', 'queue', '--full');
		INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES
			('old', '2026-01-01 00:00:00.000000', 'late', '2026-01-01 00:00:00.000000'),
			('old', '2026-01-02 00:00:00.000000', 'queued', '2026-01-02 00:00:00.000000'),
			('gone', '2026-01-02 00:00:00.000000', 'missed', '2026-01-02 00:00:00.000000')`,
	3: `INSERT INTO scheduler_lock VALUES ('nextrun', 'h/1', 'host', 1, 7, '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', '1970-01-01 00:00:00.000000')`,
	4: `INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e', 't', 'y', 'a', 1);
		INSERT INTO outbox_message (event_id, topic) VALUES ('e', 't')`,
	9: `INSERT INTO periodic_task (id, task, timer, sink) VALUES ('open', 'x', 'yearly', 'river');
		INSERT INTO periodic_open VALUES ('open', 'river', '1', 'j', '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000')`,
	10: `INSERT INTO job (jid, task, tracker, retry_limit, retry) VALUES ('limited', 'x', 'limited', 0, '2030-01-01 00:00:00.000000');
		INSERT INTO job_limit VALUES ('task', 'x', 2)`,
	11: `INSERT INTO periodic_task (id, task, timer, paused, paused_until, paused_by, paused_reason)
			VALUES ('paused', 'x', 'yearly', '2026-01-01 00:00:00.000000', '2199-01-01 00:00:00.000000', 'ada', 'moving')`,
	13: `INSERT INTO job (jid, task, tracker, traceparent) VALUES ('traced', 'x', 'traced', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
		INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, traceparent) VALUES ('te', 't', 'y', 'ta', 1, 'none')`,
	14: `INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('changed', 'x', 'daily', false);
		UPDATE periodic_task SET changed = '2026-01-01 00:00:00.000000' WHERE id = 'changed'`,
	15: `INSERT INTO periodic_action (who, action, task_id) VALUES ('ada', 'pause', 'paused')`,
	16: `INSERT INTO worker_session VALUES ('w@1', 's', '2026-01-01 00:00:00.000000', '2026-01-01 00:00:00.000000', NULL)`,
	18: `INSERT INTO worker_service (worker, kind, version, started, seen, places, lease, only_groups, handlers) VALUES ('w@1', 'executor', 'v1', '2026-01-01 00:00:00.000000', '2199-01-01 00:00:00.000000', 10, 30, NULL, '[]')`,
	21: `UPDATE worker_service SET trouble = 'permission denied'`,
}

// kept are queries whose results no upgrade may change, by the version that has
// their tables.
var kept = map[int64]string{
	1: "SELECT jid || task || group_ || args || state || priority || submitted || tracker || single FROM job WHERE jid = 'old-job'",
	2: "SELECT id || task || timer || overlap || args || problem || created FROM periodic_task WHERE id = 'old'",
	3: "SELECT name || token || expires FROM scheduler_lock",
	4: "SELECT id || aggregate_version || payload || created FROM event_store WHERE id = 'e'",
	9: "SELECT sink || ref || jid || due FROM periodic_open",

	10: "SELECT retry_limit || ' ' || retry || ' ' || most FROM job, job_limit WHERE jid = 'limited'",
	11: "SELECT paused || ' ' || paused_until || paused_by || paused_reason FROM periodic_task WHERE id = 'paused'",
	13: "SELECT job.traceparent || ' ' || event_store.traceparent FROM job, event_store WHERE jid = 'traced' AND id = 'te'",
	14: "SELECT changed FROM periodic_task WHERE id = 'changed'",
	15: "SELECT who || action || task_id FROM periodic_action",
	16: "SELECT worker || session || server || since FROM worker_session WHERE worker = 'w@1'",
	18: "SELECT worker || kind || version || started || places || lease || handlers FROM worker_service WHERE worker = 'w@1'",
	21: "SELECT trouble FROM worker_service",
}

// upTo are the files of a folder up to a version.
func upTo(t testing.TB, folder string, version int64) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	for _, dialect := range []string{"postgres", "sqlite"} {
		entries, err := os.ReadDir(folder + "/" + dialect)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() > fmt.Sprintf("%05d_~", version) {
				continue
			}
			text, err := os.ReadFile(folder + "/" + dialect + "/" + e.Name())
			if err != nil {
				t.Fatal(err)
			}
			out[dialect+"/"+e.Name()] = &fstest.MapFile{Data: text}
		}
	}
	return out
}

// old makes the schema of a version, from the files in a folder, and fills it.
func (db *database) old(folder string, version int64) {
	db.Helper()
	m := db.m.WithFiles(upTo(db, folder, version))
	if _, err := m.Up(db.Context()); err != nil {
		db.Fatal(err)
	}
	for v := int64(1); v <= version; v++ {
		if filled[v] != "" {
			db.exec(filled[v])
		}
	}
}

func (db *database) keeps(version int64) (rows []string) {
	for v := int64(1); v <= version; v++ {
		if kept[v] != "" {
			rows = append(rows, db.one(kept[v]))
		}
	}
	return rows
}

// A database of each landed version, and of each earlier state of the landed
// files that people may have, becomes one of this version, with its rows, while a
// scheduler of this version runs; then nothing is left of it, and it works again.
func TestUpgradeWhileASchedulerRuns(t *testing.T) {
	type start struct {
		folder  string
		version int64
	}
	var starts []start
	for version := int64(1); version <= newestUpgraded; version++ {
		starts = append(starts, start{".", version})
	}
	starts = append(starts, start{"testdata/first", 5}, start{"testdata/before-ready", 5}, start{"testdata/before-ready", 2})
	for _, s := range starts {
		t.Run(strings.TrimPrefix(fmt.Sprintf("%s/%d", s.folder, s.version), "./"), func(t *testing.T) {
			both(t, func(db *database) { db.upgrade(s.folder, s.version) })
		})
	}
}

// newestUpgraded is the newest landed version that is upgraded.
const newestUpgraded = 21

func (db *database) upgrade(folder string, version int64) {
	empty := db.dump()
	db.old(folder, version)
	before := db.keeps(version)
	stop := db.schedule()
	db.up()
	if err := db.m.Check(db.Context()); err != nil && !knownFlaw(db, folder, err) {
		db.Errorf("after the upgrade: %v", err)
	}
	if after := db.keeps(version); !slices.Equal(after, before) {
		db.Errorf("rows changed from\n%q to\n%q", before, after)
	}
	db.works("new")
	if version >= 2 { // the old tick that was queued goes on when its job ends
		db.exec("UPDATE job SET state = 'success', finished = '2026-03-04 05:06:07.000000' WHERE jid = 'old-job'")
		db.eventually("SELECT count(*) FROM periodic_tick WHERE task_id = 'old' AND due = '2026-01-02 00:00:00.000000' AND decision = 'submitted'")
	}
	db.down()
	if rest := db.dump(); rest != empty {
		db.Errorf("Down left something behind:\n%s", rest)
	}
	if folder == "." && version == newestUpgraded { // the others left just as little behind
		db.up()
		if err := db.m.Check(db.Context()); err != nil {
			db.Errorf("after down and up: %v", err)
		}
		db.works("again")
	}
	stop()
}

// knownFlaw is the one thing that an upgrade cannot mend: SQLite adds no
// constraint to a column that is there. The triggers refuse such values, too.
func knownFlaw(db *database, folder string, err error) bool {
	return db.Kind == "sqlite" && folder == "testdata/first" && strings.Count(err.Error(), ";") == 1 &&
		strings.Contains(err.Error(), "constraint nextrun_due on periodic_task")
}

// schedule runs a scheduler until the function that it returns is called.
func (db *database) schedule() (stop func()) {
	db.Helper()
	own, err := store.Open(db.Context(), db.URL, store.Options{})
	if err != nil {
		db.Fatal(err)
	}
	s, err := periodic.New(own.Periodic(), periodic.Config{
		Name: "upgrade", PollInterval: 100 * time.Millisecond,
		RetryMax: 250 * time.Millisecond, // an old schema refuses its work
	})
	if err != nil {
		db.Fatal(err)
	}
	if err := s.Start(db.Context()); err != nil {
		db.Fatal(err)
	}
	return func() {
		if err := s.Stop(context.Background()); err != nil {
			db.Error(err)
		}
		_ = own.Close()
	}
}

// works adds a task that is due, and waits until the scheduler has submitted it.
func (db *database) works(id string) {
	db.Helper()
	db.exec("INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('" + id + "', 'x', 'yearly', '2026-01-01 00:00:00.000000')")
	db.eventually("SELECT count(*) FROM job WHERE tracker = '" + id + "'")
}

// eventually waits until a query counts a row.
func (db *database) eventually(query string) {
	db.Helper()
	storetest.Eventually(db, query, func() bool { return db.one(query) != "0" })
}

// PostgreSQL took pauses since infinity, which no program could read.
func TestUpgradeMendsPausesSinceInfinity(t *testing.T) {
	t.Parallel()
	db := open(storetest.New(t, storetest.Postgres))
	db.old(".", 11)
	db.exec("UPDATE periodic_task SET paused = 'infinity' WHERE id = 'old'")
	db.exec("UPDATE periodic_task SET paused = '-infinity', paused_by = 'bob' WHERE id = 'open'")
	db.up()
	db.want("2", "SELECT count(*) FROM periodic_task WHERE id IN ('old', 'open') AND paused <= now() AT TIME ZONE 'UTC'")
	db.want("bob", "SELECT paused_by FROM periodic_task WHERE id = 'open'")
}

// A migration that was killed has happened wholly or not at all, and the next one
// goes on from there.
func TestKilledMigrationGoesOn(t *testing.T) {
	both(t, func(db *database) {
		db.old(".", 5)
		broken := upTo(t, ".", 8).(fstest.MapFS)
		for name, file := range broken {
			if strings.Contains(name, "00008") {
				up, down, _ := strings.Cut(string(file.Data), "-- +goose Down")
				broken[name] = &fstest.MapFile{Data: []byte(up + "\nINSERT INTO no_such_table VALUES (1);\n-- +goose Down" + down)}
			}
		}
		if _, err := db.m.WithFiles(broken).Up(t.Context()); err == nil {
			t.Fatal("the broken migration succeeded")
		}
		if err := db.m.Check(t.Context()); err == nil || !strings.Contains(err.Error(), migrations.ErrPending.Error()) {
			t.Errorf("Check: %v", err)
		}
		db.up()
		if err := db.m.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
