package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// database is a database of a test's own, without a schema.
type database struct {
	*storetest.Database
	m *migrations.Migrator
}

func both(t *testing.T, test func(db *database)) {
	t.Helper()
	t.Parallel()
	storetest.Both(t, func(_ *testing.T, d *storetest.Database) { test(open(d)) })
}

// bothMade is [both] on databases that have the schema of this version already.
func bothMade(t *testing.T, test func(db *database)) {
	t.Helper()
	t.Parallel()
	storetest.Kinds(t, func(t *testing.T, kind string) { test(made(t, kind)) })
}

// made is a database that has the schema of this version already: a copy, which takes
// a fraction of the time.
func made(t *testing.T, kind string) *database {
	t.Helper()
	d := migrated.New(t, kind)
	return &database{Database: d.Database, m: migrations.Of(d.Store)}
}

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

func open(d *storetest.Database) *database {
	d.Helper()
	db, err := store.Open(d.Context(), d.URL, store.Options{Create: true})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = db.Close() })
	return &database{Database: d, m: migrations.Of(db)}
}

func (db *database) exec(statements string) { db.Helper(); db.Exec(statements) }

func (db *database) one(query string) string { db.Helper(); return db.One(query) }

func (db *database) execFile(path string) {
	db.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		db.Fatal(err)
	}
	db.exec(string(text))
}

func (db *database) up() {
	db.Helper()
	if _, err := db.m.Up(db.Context()); err != nil {
		db.Fatal(err)
	}
}

func (db *database) check(when string) {
	db.Helper()
	if err := db.m.Check(db.Context()); err != nil {
		db.Errorf("%s: %v", when, err)
	}
}

func (db *database) down() {
	db.Helper()
	if _, err := db.m.Down(db.Context()); err != nil {
		db.Fatal(err)
	}
}

// dump describes the schema and all rows of the tables of a database.
func (db *database) dump(tables ...string) string {
	db.Helper()
	schema := `SELECT string_agg(line, chr(10) ORDER BY line) FROM (
		SELECT format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) AS line
			FROM information_schema.columns WHERE table_schema = 'public'
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
		UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
		UNION ALL SELECT conname || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
		UNION ALL SELECT objoid::regclass || '.' || objsubid || ' ' || description FROM pg_description
			WHERE classoid = 'pg_class'::regclass AND objoid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
		UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AS lines`
	if db.Kind == "sqlite" {
		schema = `SELECT group_concat(type || ' ' || name || ' ' || coalesce(sql, ''), char(10)) FROM (SELECT * FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' ORDER BY type, name)`
	}
	text := db.one(schema)
	for _, table := range tables {
		row := "t::text"
		if db.Kind == "sqlite" {
			row = "json_array(" + db.one("SELECT group_concat(name) FROM pragma_table_info('"+table+"')") + ")"
		}
		text += "\n" + table + ":\n" + db.one("SELECT coalesce("+map[string]string{
			"postgres": "string_agg(" + row + ", chr(10) ORDER BY " + row + ")", "sqlite": "group_concat(" + row + ", char(10))",
		}[db.Kind]+", '') FROM "+table+" AS t")
	}
	return text
}

func TestUpDownUp(t *testing.T) {
	both(t, func(db *database) {
		empty := db.dump()
		if err := db.m.Check(db.Context()); !errors.Is(err, migrations.ErrPending) {
			db.Errorf("Check of an empty database: %v", err)
		}
		db.up()
		first := db.dump()
		if err := db.m.Check(db.Context()); err != nil {
			db.Error(err)
		}
		again, err := db.m.Up(db.Context())
		if err != nil || len(again) > 0 {
			db.Errorf("a second Up applied %v: %v", again, err)
		}
		db.down()
		if rest := db.dump(); rest != empty {
			db.Errorf("Down left something behind:\n%s", rest)
		}
		db.up()
		if second := db.dump(); second != first {
			db.Errorf("the schema is another one after down and up:\n%s\n---\n%s", first, second)
		}
		status, err := db.m.Status(db.Context())
		if err != nil || len(status) == 0 || !status[len(status)-1].Done {
			db.Errorf("status %v: %v", status, err)
		}
	})
}

func TestSeveralProcessesMigrateAtOnce(t *testing.T) {
	both(t, func(db *database) {
		var group sync.WaitGroup
		for range 6 {
			own, err := store.Open(db.Context(), db.URL, store.Options{Create: true})
			if err != nil {
				db.Fatal(err)
			}
			group.Go(func() {
				defer func() { _ = own.Close() }()
				if _, err := migrations.Of(own).Up(context.Background()); err != nil {
					db.Error(err)
				}
			})
		}
		group.Wait()
		if err := db.m.Check(db.Context()); err != nil {
			db.Error(err)
		}
		if n := db.one("SELECT count(*) FROM nextrun_migration WHERE version_id > 0"); n != fmt.Sprint(len(known(db))) {
			db.Errorf("%s migrations were recorded", n)
		}
	})
}

func known(db *database) []migrations.Status {
	status, err := db.m.Status(db.Context())
	if err != nil {
		db.Fatal(err)
	}
	return status
}

// A database that another schema file made is left as it is.
func TestDatabaseOfAnotherFileIsRefused(t *testing.T) {
	bothMade(t, func(db *database) {
		db.exec("UPDATE nextrun_found SET name = 'made by 0123456789abcdef' WHERE name LIKE 'made by %'")
		before := db.dump("periodic_task", "nextrun_migration", "nextrun_found")
		_, up := db.m.Up(db.Context())
		_, down := db.m.Down(db.Context())
		_, status := db.m.Status(db.Context())
		for what, err := range map[string]error{"Up": up, "Down": down, "Status": status, "Check": db.m.Check(db.Context())} {
			if !errors.Is(err, migrations.ErrOther) {
				db.Errorf("%s: %v", what, err)
			}
		}
		if after := db.dump("periodic_task", "nextrun_migration", "nextrun_found"); after != before {
			db.Errorf("something was changed:\n%s\n---\n%s", before, after)
		}
	})
}

// On a database of Docspell, migrating changes no row, and back again nothing
// is left of it.
func TestDocspellDatabase(t *testing.T) {
	t.Parallel()
	db := open(storetest.New(t, storetest.Postgres))
	db.execFile("../testdata/docspell/postgres.sql")
	tables := []string{"job", "joblog", "jobgroupuse", "periodic_task", "node"}
	before := db.dump(tables...)
	rows := db.one(`SELECT string_agg(id || enabled || task || group_ || args || subject || submitter || priority || timer ||
		nextrun || created || coalesce(summary, ''), ';' ORDER BY id) FROM periodic_task`)
	db.up()
	if after := db.one(`SELECT string_agg(id || enabled || task || group_ || args || subject || submitter || priority || timer ||
		nextrun || created || coalesce(summary, ''), ';' ORDER BY id) FROM periodic_task`); after != rows {
		t.Errorf("rows changed:\n%s\n%s", rows, after)
	}
	db.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('mine', 'backup', 'daily')") // defaults were added
	db.exec("DELETE FROM periodic_task WHERE id = 'mine'")
	db.down()
	if after := db.dump(tables...); after != before {
		t.Errorf("Down did not restore what was there:\n%s\n---\n%s", before, after)
	}
}

// On the tables of the ADR, too. A task that had stopped is looked at again after down and up, since nothing
// else would say what is wrong with it.
func TestTablesOfTheADR(t *testing.T) {
	both(t, func(db *database) {
		db.execFile("../testdata/docspell/adr0012.sql")
		before := db.dump("periodic_task")
		db.up()
		if n := db.one("SELECT count(*) FROM periodic_task WHERE overlap = 'skip' AND due IS NULL AND summary IS NULL"); n != "1" {
			db.Errorf("%s rows with the new columns", n)
		}
		db.down()
		after := db.dump("periodic_task")
		if db.Kind == "sqlite" { // ALTER TABLE rewrites the text of the schema
			after, before = strings.Join(strings.Fields(after), ""), strings.Join(strings.Fields(before), "")
		}
		if after != before {
			db.Errorf("Down did not restore what was there:\n%s\n---\n%s", before, after)
		}
		db.up()
		db.exec("UPDATE periodic_task SET due = '9999-12-31 23:59:59.000000', nextrun = '9999-12-31 23:59:59.000000', problem = 'timer: no'")
		db.down()
		db.want("1", "SELECT count(*) FROM periodic_task WHERE nextrun > '9999-01-01'") // or Docspell would submit it
		db.up()
		db.want("1", "SELECT count(*) FROM periodic_task WHERE nextrun = '1970-01-01 00:00:00.000000' AND due IS NULL")
	})
}

// Times that another program has written are rewritten in the one form, and those
// that are none are left alone; then the triggers accept edits of the row.
func TestTimesOfFoundTasks(t *testing.T) {
	t.Parallel()
	db := open(storetest.New(t, storetest.SQLite))
	db.execFile("../testdata/docspell/adr0012.sql")
	db.exec("UPDATE periodic_task SET nextrun = '2026-03-04T05:06+01:00', created = '2025-01-02 03:04:05.6'")
	db.up()
	if got, want := db.one("SELECT nextrun || ', ' || created FROM periodic_task"), "2026-03-04 04:06:00.000000, 2025-01-02 03:04:05.600000"; got != want {
		t.Errorf("nextrun, created are %s, want %s", got, want)
	}
	db.exec("UPDATE periodic_task SET worker = 'somebody', marked = nextrun")
	db.exec("UPDATE periodic_task SET priority = priority + 1") // takes the mark away, since the row is known
	if n := db.one("SELECT count(*) FROM periodic_task WHERE worker IS NULL"); n != "1" {
		t.Error("an edit of a row that was found is not seen")
	}
}

func TestOtherTablesAreLeftAlone(t *testing.T) {
	tests := []struct{ what, create, place string }{
		{"lock of something else", "CREATE TABLE scheduler_lock (id integer PRIMARY KEY, pid integer, hostname text, created_at real, heartbeat_at real)", "scheduler_lock.name"},
		{"job of something else", "CREATE TABLE job (id integer PRIMARY KEY, payload text)", "job.jid"},
		{"another type", "CREATE TABLE jobgroupuse (groupid integer, workerid varchar(254))", "jobgroupuse.groupid"},
		{"required column", "CREATE TABLE jobgroupuse (groupid varchar(254), workerid varchar(254), tenant text NOT NULL)", "jobgroupuse.tenant"},
		{"nullable column", `CREATE TABLE joblog (id varchar(254) NOT NULL PRIMARY KEY, jid varchar(254) NOT NULL,
			level varchar(254) NOT NULL, created timestamp, message text NOT NULL)`, "joblog.created"},
		{"our own name", "CREATE TABLE periodic_tick (id integer)", "periodic_tick"},
	}
	both(t, func(db *database) {
		for _, test := range tests { // each table is gone before the next
			db.exec(test.create)
			before := db.dump()
			_, err := db.m.Up(db.Context())
			var mismatch *migrations.MismatchError
			if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), test.place) || !strings.Contains(err.Error(), "--schema nextrun") {
				db.Errorf("%s: Up returned %v, expected it to name %s", test.what, err, test.place)
			}
			if after := db.dump(); after != before {
				db.Errorf("%s: something was changed:\n%s\n---\n%s", test.what, before, after)
			}
			table, _, _ := strings.Cut(test.place, ".")
			db.exec("DROP TABLE " + table)
		}
	})
}
