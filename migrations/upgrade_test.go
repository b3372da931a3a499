package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// squashed is the version of the oldest file, which has all that came before it. testdata/22 has
// dumps of databases of that version, made by the 22 files that were there before, with a row of
// each kind.
const squashed = 22

// newestUpgraded is the newest landed version that is upgraded, and newest that of the newest file.
const newestUpgraded, newest = 30, 30

// filled has rows of each kind that a later version adds.
var filled = map[int64]string{
	23: `INSERT INTO periodic_origin (name, version, declared, digests, since) VALUES ('app', 7, '{}', '["d"]', '2026-01-01 00:00:00.000000');
		UPDATE periodic_task SET origin = 'app' WHERE id = 'old'`,
	24: `INSERT INTO periodic_tick (task_id, due, decision, jid, decided, outcome, finished, attempts, error)
			VALUES ('old', '2026-01-01 12:00:00.000000', 'submitted', 'out', '2026-01-01 12:00:00.000000', 'failed', '2026-01-01 12:00:09.000000', 2, 'no space left');
		INSERT INTO periodic_awaited (task_id, due, sink, ref, jid, submitted, look, seen, ended, hooks_from)
			VALUES ('old', '2026-01-01 13:00:00.000000', 'river', '7', 'in', '2026-01-01 13:00:00.000000', '2026-01-01 13:00:01.000000', 'success', '2026-01-01 13:00:02.000000', '2026-01-01 13:00:00.000000')`,
	25: `INSERT INTO periodic_calendar (name, first_day, last_day, reason) VALUES ('old', '2026-12-24', '2026-12-26', 'Weihnachten');
		INSERT INTO periodic_calendar (name, timer, length) VALUES ('office', 'Mon..Fri 08:00', 36000);
		UPDATE periodic_task SET exclude_calendars = 'old', run_calendars = 'office', on_excluded = 'next' WHERE id = 'paused';
		INSERT INTO periodic_tick (task_id, due, nominal, decision, decided)
		VALUES ('moved', '2026-12-28 08:00:00.000000', '2026-12-24 08:00:00.000000', 'skipped', '2026-12-28 08:00:00.000000')`,
	26: `INSERT INTO periodic_task (id, task, timer, catchup, spread, catchup_limit, catchup_delay, max_ticks, tick_count)
		VALUES ('paced', 'x', '*-*-* 02:00; *-*-* 14:00', 'all', 600, 3, 60, 9, 2)`,
	27: `INSERT INTO periodic_calendar (name, timer, length, scope, at_end, since)
		VALUES ('held', '2026-12-24 14:00', 3600, 'group:reports', 'once', '2026-01-01 00:00:00.000000')`,
	28: `INSERT INTO periodic_override (task_id, due, moved_to, reason, who) VALUES ('paced', '2099-12-24 02:00:00.000000', '2099-12-24 03:00:00.000000', 'later', 'ann')`,
	29: `INSERT INTO periodic_task (id, task, timer, pause_after, probe_delay, failures) VALUES ('failing', 'x', 'daily', 3, 600, 2);
		INSERT INTO periodic_tick (task_id, due, decision, decided, turned)
		VALUES ('failing', '2026-01-01 12:00:00.000000', 'submitted', '2026-01-01 12:00:00.000000', 'failing, paused')`,
	30: `INSERT INTO periodic_task (id, task, timer, finish_by) VALUES ('promised', 'x', 'daily', '06:30');
		INSERT INTO periodic_tick (task_id, due, decision, decided, finish_by, finish, finish_why, finish_ended, finish_look)
		VALUES ('promised', '2026-01-01 00:00:00.000000', 'skipped', '2026-01-01 00:00:00.000000', '2026-01-01 06:30:00.000000', 'late', 'it was skipped',
			'2026-01-01 07:00:00.000000', '2099-01-01 08:00:00.000000')`,
}

// kept are queries whose results no upgrade may change, by the version that has
// their tables.
var kept = map[int64][]string{
	squashed: {
		"SELECT jid || task || group_ || args || state || priority || submitted || tracker || single FROM job WHERE jid = 'old-job'",
		"SELECT id || task || timer || overlap || args || problem || created FROM periodic_task WHERE id = 'old'",
		"SELECT name || token || expires FROM scheduler_lock",
		"SELECT id || aggregate_version || payload || created FROM event_store WHERE id = 'e'",
		"SELECT sink || ref || jid || due FROM periodic_open",
		"SELECT retry_limit || ' ' || retry || ' ' || most FROM job, job_limit WHERE jid = 'limited'",
		"SELECT paused || ' ' || paused_until || paused_by || paused_reason FROM periodic_task WHERE id = 'paused'",
		"SELECT job.traceparent || ' ' || event_store.traceparent FROM job, event_store WHERE jid = 'traced' AND id = 'te'",
		"SELECT changed FROM periodic_task WHERE id = 'changed'",
		"SELECT who || action || task_id FROM periodic_action",
		"SELECT worker || session || server || since FROM worker_session WHERE worker = 'w@1'",
		"SELECT worker || kind || version || started || places || lease || handlers FROM worker_service WHERE worker = 'w@1'",
		"SELECT trouble FROM worker_service",
	},
	23: {"SELECT origin || version || declared || digests || since FROM periodic_origin, periodic_task WHERE id = 'old'"},
	24: {
		"SELECT outcome || finished || attempts || error FROM periodic_tick WHERE jid = 'out'",
		"SELECT sink || ref || due || submitted || look || seen || ended || hooks_from FROM periodic_awaited WHERE jid = 'in'",
	},
	25: {
		"SELECT count(*) || ' ' || min(first_day) || ' ' || max(last_day) || max(reason) || max(timer) || max(length) FROM periodic_calendar WHERE name <> 'held'",
		"SELECT exclude_calendars || run_calendars || on_excluded FROM periodic_task WHERE id = 'paused'",
		"SELECT nominal || ' ' || due FROM periodic_tick WHERE task_id = 'moved'",
	},
	26: {"SELECT spread || ' ' || catchup_limit || ' ' || catchup_delay || ' ' || max_ticks || ' ' || tick_count FROM periodic_task WHERE id = 'paced'"},
	27: {"SELECT scope || at_end || since FROM periodic_calendar WHERE name = 'held'"},
	28: {"SELECT task_id || due || moved_to || reason || who FROM periodic_override"},
	29: {"SELECT pause_after || ' ' || probe_delay || ' ' || failures || ' ' || turned FROM periodic_task, periodic_tick WHERE id = 'failing' AND task_id = id"},
	30: {"SELECT t.finish_by || ' ' || k.finish_by || k.finish || k.finish_why || k.finish_ended || k.finish_look FROM periodic_task AS t, periodic_tick AS k WHERE id = 'promised' AND task_id = id"},
}

// upTo are the files up to a version.
func upTo(t testing.TB, version int64) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for _, dialect := range []string{"postgres", "sqlite"} {
		entries, err := os.ReadDir(dialect)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() > fmt.Sprintf("%05d_~", version) {
				continue
			}
			text, err := os.ReadFile(dialect + "/" + e.Name())
			if err != nil {
				t.Fatal(err)
			}
			out[dialect+"/"+e.Name()] = &fstest.MapFile{Data: text}
		}
	}
	return out
}

// withNext are all files, and one more, which is written for the test.
func withNext(t testing.TB, up, down string) fstest.MapFS {
	files := upTo(t, newest)
	for _, dialect := range []string{"postgres", "sqlite"} {
		files[fmt.Sprintf("%s/%05d_next.sql", dialect, newest+1)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + up + "\n-- +goose Down\n" + down + "\n")}
	}
	return files
}

// old makes a database of a version, with rows in it.
func (db *database) old(version int64) {
	db.Helper()
	db.execFile("testdata/22/" + db.Kind + ".sql")
	if _, err := db.m.WithFiles(upTo(db, version)).Up(db.Context()); err != nil {
		db.Fatal(err)
	}
	for v := int64(squashed + 1); v <= version; v++ {
		if filled[v] != "" {
			db.exec(filled[v])
		}
	}
}

func (db *database) keeps(version int64) (rows []string) {
	for v := int64(squashed); v <= version; v++ {
		for _, query := range kept[v] {
			rows = append(rows, db.one(query))
		}
	}
	return rows
}

// A database of each landed version becomes one of this version, with its rows, while a
// scheduler of this version runs; then nothing is left of it, and it works again.
func TestUpgradeWhileASchedulerRuns(t *testing.T) {
	for version := int64(squashed); version <= newestUpgraded; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			both(t, func(db *database) { db.upgrade(version) })
		})
	}
}

func (db *database) upgrade(version int64) {
	empty := db.dump()
	db.old(version)
	before := db.keeps(version)
	stop := db.schedule()
	db.up()
	db.check("after the upgrade")
	if after := db.keeps(version); !slices.Equal(after, before) {
		db.Errorf("rows changed from\n%q to\n%q", before, after)
	}
	db.works("new")
	// The old tick that was queued goes on when its job ends.
	db.exec("UPDATE job SET state = 'success', finished = '2026-03-04 05:06:07.000000' WHERE jid = 'old-job'")
	db.eventually("SELECT count(*) FROM periodic_tick WHERE task_id = 'old' AND due = '2026-01-02 00:00:00.000000' AND decision = 'submitted'")
	db.down()
	if rest := db.dump(); rest != empty {
		db.Errorf("Down left something behind:\n%s", rest)
	}
	if version == newestUpgraded { // the others left just as little behind
		db.up()
		db.check("after down and up")
		db.works("again")
	}
	stop()
}

// Intervals count from whole seconds since version 26. A task that was planned before stays on its timer.
func TestUpgradeMovesIntervalsToWholeSeconds(t *testing.T) {
	both(t, func(db *database) {
		db.old(22)
		db.exec(`INSERT INTO periodic_task (id, task, timer, created) VALUES ('fine', 'x', ' every 5m', '2026-01-01 00:00:07.345678'),
			('from', 'x', 'every 5m', '2026-01-01 00:00:07.345678')`)
		db.exec("UPDATE periodic_task SET starts = '2026-01-01 00:00:01.500000' WHERE id = 'from'")
		db.exec(`UPDATE periodic_task SET due = '2030-01-01 00:05:07.345678', nextrun = '2030-01-01 00:05:07.345678', changed = NULL WHERE id IN ('fine', 'from')`)
		db.up()
		db.want("1", "SELECT count(*) FROM periodic_task WHERE id = 'fine' AND due = '2030-01-01 00:05:07.000000' AND nextrun = due AND changed IS NOT NULL")
		db.want("1", "SELECT count(*) FROM periodic_task WHERE id = 'from' AND due = '2030-01-01 00:05:07.345678' AND nextrun = due AND changed IS NULL")
	})
}

// A database that is older than the oldest file is left as it is, and the commit to go through is named.
func TestTooOldSchemaIsRefused(t *testing.T) {
	both(t, func(db *database) {
		db.old(squashed)
		db.exec("DELETE FROM nextrun_migration WHERE version_id > 17")
		before := db.dump("periodic_task", "nextrun_migration", "nextrun_found")
		_, up := db.m.Up(db.Context())
		_, down := db.m.Down(db.Context())
		_, without := db.m.UpWithoutJobs(db.Context())
		for what, err := range map[string]error{"Up": up, "Down": down, "UpWithoutJobs": without, "Check": db.m.Check(db.Context())} {
			if !errors.Is(err, migrations.ErrOld) && what != "UpWithoutJobs" || err == nil {
				db.Errorf("%s: %v", what, err)
			}
		}
		if !strings.Contains(up.Error(), "at version 17") || !strings.Contains(up.Error(), "commit e221275") {
			db.Errorf("Up: %v", up)
		}
		if after := db.dump("periodic_task", "nextrun_migration", "nextrun_found"); after != before {
			db.Errorf("something was changed:\n%s\n---\n%s", before, after)
		}
	})
}

// schedule runs a scheduler until the function that it returns is called.
func (db *database) schedule() (stop func()) {
	db.Helper()
	own, err := store.Open(db.Context(), db.URL, store.Options{})
	if err != nil {
		db.Fatal(err)
	}
	s, err := scheduler.New(own.Periodic(), scheduler.Config{
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

// A migration that was killed has happened wholly or not at all, and the next one
// goes on from there.
func TestKilledMigrationGoesOn(t *testing.T) {
	both(t, func(db *database) {
		db.old(newest)
		const good, down = "CREATE TABLE next (id integer);", "DROP TABLE next;"
		if _, err := db.m.WithFiles(withNext(t, good+"\nINSERT INTO no_such_table VALUES (1);", down)).Up(t.Context()); err == nil {
			t.Fatal("the broken migration succeeded")
		}
		db.check("after the broken migration")
		next := db.m.WithFiles(withNext(t, good, down))
		if done, err := next.Up(t.Context()); err != nil || len(done) != 1 {
			t.Fatalf("Up did %v: %v", done, err)
		}
		db.want("0", "SELECT count(*) FROM next")
		if err := db.m.Check(t.Context()); !errors.Is(err, migrations.ErrNewer) {
			t.Errorf("Check: %v", err)
		}
	})
}
