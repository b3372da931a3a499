package migrations_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store/storetest"
)

// ticksOfAYear are ticks of a task on each day, of which some wait.
const ticksOfAYear = `INSERT INTO periodic_tick (task_id, due, decision, reason, missed, until, jid, worker, decided)
	SELECT 'daily', at, CASE WHEN n % 50 = 0 THEN 'queued' ELSE 'submitted' END, 'r' || n, n % 3, at + interval '1 hour', 'j' || n, 'w', at
	FROM generate_series(1, 365) AS n, LATERAL (SELECT date_trunc('day', now() AT TIME ZONE 'UTC') - n * interval '1 day' AS at) AS t;
	INSERT INTO periodic_tick (task_id, due, decision, decided) VALUES
		('old', '1999-01-01', 'missed', '1999-01-01'), ('far', '9000-01-01', 'submitted', '2026-01-01')`

// extras are what people may have on the table.
const extras = `
	CREATE TABLE note (task_id varchar(254), due timestamp, note text,
		CONSTRAINT note_of FOREIGN KEY (task_id, due) REFERENCES periodic_tick (task_id, due) ON DELETE CASCADE);
	CREATE TABLE team (name text PRIMARY KEY);
	INSERT INTO team VALUES ('ops');
	ALTER TABLE periodic_tick ADD COLUMN team text DEFAULT 'ops' CONSTRAINT of_team REFERENCES team;
	COMMENT ON COLUMN periodic_tick.team IS 'who cares';
	CREATE INDEX by_team ON periodic_tick (team, due);
	COMMENT ON INDEX by_team IS 'for the report';
	CREATE STATISTICS team_stats ON team, decision FROM periodic_tick;
	CREATE VIEW report WITH (security_barrier = true) AS SELECT team, count(*) AS ticks FROM periodic_tick GROUP BY team;
	COMMENT ON VIEW report IS 'ticks of each team';
	CREATE VIEW above AS SELECT * FROM report;
	CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
	CREATE TRIGGER own BEFORE UPDATE ON periodic_tick FOR EACH ROW EXECUTE FUNCTION seen();
	CREATE TRIGGER off AFTER UPDATE ON periodic_tick FOR EACH ROW EXECUTE FUNCTION seen();
	CREATE TRIGGER always AFTER UPDATE ON periodic_tick FOR EACH ROW EXECUTE FUNCTION seen();
	ALTER TABLE periodic_tick DISABLE TRIGGER off, ENABLE ALWAYS TRIGGER always;
	ALTER TABLE periodic_tick ADD COLUMN day date GENERATED ALWAYS AS (due::date) STORED;
	COMMENT ON TRIGGER own ON periodic_tick IS 'sees all';
	ALTER TABLE periodic_tick ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
	CREATE POLICY ops ON periodic_tick FOR SELECT TO PUBLIC USING (team = 'ops');
	CREATE POLICY named ON periodic_tick AS RESTRICTIVE FOR INSERT TO pg_monitor WITH CHECK (team <> '');
	COMMENT ON POLICY ops ON periodic_tick IS 'their own';
	GRANT SELECT ON periodic_tick, report TO PUBLIC;
	GRANT UPDATE (reason) ON periodic_tick TO pg_monitor WITH GRANT OPTION;
	GRANT INSERT ON periodic_tick TO pg_monitor WITH GRANT OPTION;
	REVOKE TRUNCATE ON periodic_tick FROM current_user;
	ALTER TABLE periodic_tick SET (autovacuum_vacuum_scale_factor = 0.05);
	ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO pg_read_all_stats`

// onTheTable describes all that is on periodic_tick, in whichever form.
const onTheTable = `SELECT string_agg(regexp_replace(line, '::(character varying|text)(\[\])?|[()]', '', 'g'), chr(10) ORDER BY line) FROM (
	SELECT format('column %s %s %s %s %s', attnum, attname, atttypid::regtype, attnotnull, col_description(attrelid, attnum)) AS line
		FROM pg_attribute WHERE attrelid = 'periodic_tick'::regclass AND attnum > 0
	UNION ALL SELECT format('default %s', pg_get_expr(adbin, adrelid)) FROM pg_attrdef WHERE adrelid = 'periodic_tick'::regclass
	UNION ALL SELECT format('constraint %s %s %s', conname, pg_get_constraintdef(oid), obj_description(oid)) FROM pg_constraint
		WHERE conrelid = 'periodic_tick'::regclass AND contype <> 'n' OR confrelid = 'periodic_tick'::regclass AND conparentid = 0
	UNION ALL SELECT format('index %s %s', replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON '), obj_description(indexrelid)) FROM pg_index
		WHERE indrelid = 'periodic_tick'::regclass
	UNION ALL SELECT format('statistics %s', pg_get_statisticsobjdef(oid)) FROM pg_statistic_ext WHERE stxrelid = 'periodic_tick'::regclass
	UNION ALL SELECT format('trigger %s %s %s', pg_get_triggerdef(oid), tgenabled, obj_description(oid)) FROM pg_trigger
		WHERE tgrelid = 'periodic_tick'::regclass AND NOT tgisinternal
	UNION ALL SELECT format('policy %s %s %s', p, obj_description(oid), pg_get_expr(polqual, polrelid)) FROM pg_policy
		JOIN pg_policies AS p ON policyname = polname WHERE polrelid = 'periodic_tick'::regclass
	UNION ALL SELECT format('view %s %s %s %s %s', relname, pg_get_viewdef(oid), reloptions, relacl, obj_description(oid)) FROM pg_class
		WHERE relkind = 'v' AND relnamespace = current_schema()::regnamespace
	UNION ALL SELECT format('table %s %s %s %s', relowner::regrole, relrowsecurity, relforcerowsecurity, obj_description(oid)) FROM pg_class
		WHERE oid = 'periodic_tick'::regclass
	UNION ALL SELECT format('right %s %s %s', grantee::regrole, privilege_type, is_grantable) FROM pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner)))
		WHERE oid = 'periodic_tick'::regclass
	UNION ALL SELECT format('right %s %s', attname, attacl) FROM pg_attribute WHERE attrelid = 'periodic_tick'::regclass AND attacl IS NOT NULL
	) AS lines`

// without are the lines that others lack.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

func (db *database) rows() string {
	db.Helper()
	return db.one("SELECT md5(string_agg(t::text, ' ' ORDER BY task_id, due)) || count(*) FROM periodic_tick AS t")
}

// partition converts the table; an empty width makes it one table.
func (db *database) partition(width migrations.Width) {
	db.Helper()
	var err error
	if width == "" {
		_, err = db.m.Unpartition(db.Context())
	} else {
		_, err = db.m.Partition(db.Context(), width)
	}
	if err != nil {
		db.Fatal(err)
	}
}

// There and back, each row and all that is on the table stay.
func TestPartitionKeepsWhatIsOnTheTablePostgres(t *testing.T) {
	t.Parallel()
	for _, width := range []migrations.Width{migrations.Day, migrations.Week, migrations.Month} {
		t.Run(string(width), func(t *testing.T) {
			t.Parallel()
			db := made(t, storetest.Postgres)
			db.exec(ticksOfAYear)
			db.exec(extras)
			db.exec("INSERT INTO note SELECT task_id, due, 'n' FROM periodic_tick WHERE decision = 'queued'")
			table, rows := db.one(onTheTable), db.rows()
			for _, to := range []migrations.Width{width, ""} {
				db.partition(to)
				was, is := strings.Split(table, "\n"), strings.Split(db.one(onTheTable), "\n")
				if lost := without(was, is); len(lost) > 0 {
					t.Errorf("to %q: no longer on the table: %q", to, lost)
				}
				if more := without(is, was); len(more) > 0 {
					t.Errorf("to %q: on the table is also: %q", to, more)
				}
				if got := db.rows(); got != rows {
					t.Errorf("to %q: the rows differ", to)
				}
				db.want("0", "SELECT count(*) FROM pg_class, aclexplode(relacl) WHERE relispartition AND grantee <> relowner")
				db.want("1", "SELECT count(DISTINCT coalesce(reloptions::text, 'none')) FROM pg_class WHERE (relname = 'periodic_tick' OR relispartition) AND relkind = 'r'")
			}
			db.want("367", "SELECT sum(ticks) FROM above")
		})
	}
}

func (db *database) noDrift() {
	db.Helper()
	if err := db.m.Check(db.Context()); err != nil {
		db.Error(err)
	}
}

// Every version's table can be partitioned, and all later migrations apply to that form;
// then it can be taken back, and down leaves nothing.
func TestMigrationsApplyToPartitionsPostgres(t *testing.T) {
	t.Parallel()
	for _, version := range []int64{2, 5, 8, newestUpgraded} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			db := open(storetest.New(t, storetest.Postgres))
			empty := db.dump()
			db.old(".", version)
			if _, err := db.m.WithFiles(upTo(t, ".", version)).Partition(t.Context(), migrations.Week); err != nil {
				t.Fatal(err)
			}
			before := db.keeps(version)
			db.up()
			db.noDrift()
			if after := db.keeps(version); strings.Join(after, "\n") != strings.Join(before, "\n") {
				t.Errorf("rows changed from\n%q to\n%q", before, after)
			}
			state, err := db.m.Partitions(t.Context())
			if err != nil || !state.Partitioned || state.Width != migrations.Week || !state.Owned {
				t.Errorf("%+v, %v", state, err)
			}
			if version == newestUpgraded {
				db.partition("")
				db.noDrift()
				db.partition(migrations.Month)
			}
			db.down()
			if rest := db.dump(); rest != empty {
				t.Errorf("Down left something behind:\n%s", rest)
			}
		})
	}
}

// What somebody has changed in the partitioned form is named and restored.
func TestDriftOfPartitionsPostgres(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	db.partition(migrations.Week)
	db.exec("DROP INDEX nextrun_tick_queued; ALTER TABLE periodic_tick DROP CONSTRAINT nextrun_decision; DROP TRIGGER nextrun_tick_queues ON periodic_tick")
	var drift *migrations.DriftError
	if err := db.m.Check(t.Context()); !errors.As(err, &drift) || len(drift.Differences) != 3 {
		t.Errorf("Check: %v", err)
	}
	db.up()
	db.noDrift()
	db.want("0", "SELECT count(*) FROM pg_class WHERE relispartition AND relkind = 'r' AND oid NOT IN (SELECT indrelid FROM pg_index WHERE pg_get_indexdef(indexrelid) LIKE '%queued%')")
}

// What cannot be taken along is named, and nothing is changed.
func TestPartitionNamesObstaclesPostgres(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"materialized view": "CREATE MATERIALIZED VIEW big AS SELECT * FROM periodic_tick",
		"function f":        "CREATE FUNCTION f(periodic_tick) RETURNS text LANGUAGE sql AS 'SELECT $1.reason'",
		"rule r":            "CREATE RULE r AS ON UPDATE TO periodic_tick DO ALSO NOTHING",
		"publication p":     "CREATE PUBLICATION p FOR TABLE periodic_tick",
		"replica identity":  "ALTER TABLE periodic_tick REPLICA IDENTITY FULL",
		"child table c":     "CREATE TABLE c () INHERITS (periodic_tick)",
		"parent table p":    "CREATE TABLE p (LIKE periodic_tick); ALTER TABLE periodic_tick INHERIT p",
		"identity column n": "ALTER TABLE periodic_tick ADD COLUMN n integer GENERATED ALWAYS AS IDENTITY",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := made(t, storetest.Postgres)
			db.exec(statement)
			before := db.dump("periodic_tick")
			_, err := db.m.Partition(t.Context(), migrations.Week)
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "nothing was changed") {
				t.Error(err)
			}
			if after := db.dump("periodic_tick"); after != before {
				t.Error("something was changed")
			}
		})
	}
}
