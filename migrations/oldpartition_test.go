package migrations_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store/storetest"
)

// Old partitions go as a whole. What waits or is young stays, and the next partitions are
// made, although the default one has rows of their times.
func TestOldPartitionsAreDroppedPostgres(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.Postgres)
	db.exec(ticksOfAYear)
	db.partition(migrations.Week)
	db.exec(`INSERT INTO periodic_tick (task_id, due, decision, decided)
		SELECT 'backfilled', now() AT TIME ZONE 'UTC' - interval '200 days', 'submitted', now() AT TIME ZONE 'UTC'`)
	db.exec(`DO $$ DECLARE p regclass; BEGIN
		FOR p IN SELECT inhrelid::regclass FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'periodic_tick'::regclass ORDER BY relname DESC OFFSET 1 LIMIT 3 LOOP
			EXECUTE format('DROP TABLE %s', p);
		END LOOP; END $$`)
	db.exec("INSERT INTO periodic_tick (task_id, due, decision, decided) SELECT 'soon', now() AT TIME ZONE 'UTC' + interval '21 days', 'late', now() AT TIME ZONE 'UTC'")
	db.exec("ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO pg_read_all_stats")
	young := "SELECT count(*) FROM periodic_tick WHERE decision = 'queued' OR decided >= now() AT TIME ZONE 'UTC' - interval '30 days'"
	stay, all := db.one(young), db.one("SELECT count(*) FROM periodic_tick")
	gone, err := db.m.KeepPartitions(t.Context(), 30*24*time.Hour)
	if err != nil || gone < 300 {
		t.Fatalf("%d ticks are gone, %v", gone, err)
	}
	db.want(stay, young)
	db.want(all, "SELECT count(*) + "+fmt.Sprint(gone)+" FROM periodic_tick")
	db.want("0", "SELECT count(*) FROM periodic_tick_default WHERE task_id = 'soon'")
	state, err := db.m.Partitions(t.Context())
	if err != nil || state.Partitions < 9 || state.Partitions > 11 {
		t.Errorf("%+v, %v", state, err)
	}
	db.noDrift()
	db.want("0", "SELECT count(*) FROM pg_class, aclexplode(relacl) WHERE relispartition AND grantee <> relowner")

	// A row trigger or a foreign key wants to know of each row.
	db.exec("CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'; CREATE TRIGGER seen AFTER DELETE ON periodic_tick FOR EACH ROW EXECUTE FUNCTION seen()")
	if gone, err := db.m.KeepPartitions(t.Context(), 8*24*time.Hour); gone != 0 || err != nil {
		t.Errorf("%d ticks are gone beside a trigger, %v", gone, err)
	}
}
