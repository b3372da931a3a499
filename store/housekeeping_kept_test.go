package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/store"
)

// Rows that cannot be deleted stay, and are counted and named with the remedy. All
// others go: of the same kind, and of the other kinds.
func TestHousekeepingLeavesWhatCannotBeDeleted(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		postgres := !strings.HasPrefix(env.db.URL(), "sqlite")
		old := time.Now().UTC().Add(-31 * 24 * time.Hour).Format("2006-01-02 15:04:05.000000")
		for _, name := range []string{"bad", "good1", "good2", "good3"} {
			env.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided)
				VALUES ('` + name + `', '` + old + `', 'submitted', '` + old + `')`)
			env.Exec(`INSERT INTO job (jid, task, submitted, state, finished)
				VALUES ('` + name + `', 'echo', '` + old + `', 'success', '` + old + `')`)
			env.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload, created)
				VALUES ('` + name + `', 't', 't', '` + name + `', 1, '{}', '` + old + `')`)
		}
		env.Exec("CREATE TABLE invoice (jid varchar(254) NOT NULL REFERENCES job (jid))")
		env.Exec("INSERT INTO invoice VALUES ('bad')")
		for table, column := range map[string]string{"periodic_tick": "task_id", "event_store": "id", "job": "jid"} {
			bad := "OLD." + column + " = 'bad'"
			if postgres {
				env.Exec("CREATE FUNCTION own_" + table + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF " + bad + " AND TG_TABLE_NAME <> 'job' THEN RAISE EXCEPTION 'keep it'; END IF; RETURN OLD; END $$")
				env.Exec("CREATE TRIGGER own BEFORE DELETE ON " + table + " FOR EACH ROW EXECUTE FUNCTION own_" + table + "()")
				continue
			}
			if table != "job" {
				env.Exec("CREATE TRIGGER own_bad_" + table + " BEFORE DELETE ON " + table + " WHEN " + bad + " BEGIN SELECT raise(ABORT, 'keep it'); END")
			}
		}
		result := env.runJob(t, store.HousekeepingTask, `{"ticks_days": 30, "jobs_days": 30, "events_days": 30}`)
		for _, part := range []string{
			"deleted ticks: 3, jobs: 3, events: 3",
			"ticks that cannot be deleted: 1 (bad of ", "keep it", "jobs that cannot be deleted: 1 (job bad)", "ON DELETE CASCADE",
			"rows of event_store that cannot be deleted: 1 (seq 1)",
		} {
			if !strings.Contains(result, part) {
				t.Errorf("the result is %q, want %q in it", result, part)
			}
		}
		for query, want := range map[string]string{
			"SELECT task_id FROM periodic_tick ORDER BY task_id":                  "bad",
			"SELECT jid FROM job WHERE task = 'echo' ORDER BY jid":                "bad",
			"SELECT id FROM event_store ORDER BY id":                              "bad",
			"SELECT state FROM job WHERE task = '" + store.HousekeepingTask + "'": "failed",
		} {
			if got := strings.Join(env.texts(t, query), " "); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
	})
}

// Rows that stay, however many follow one another, do not keep those behind them.
func TestHousekeepingGoesPastManyRowsThatStay(t *testing.T) {
	t.Parallel()
	tasksOn(t, func(t *testing.T, env tasksEnv) {
		env.Exec(`INSERT INTO job (jid, task, submitted, state, finished)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
			SELECT 'j' || i, 'echo', '2020-01-01 00:00:00.000000', 'success', '2020-01-01 00:00:00.000000' FROM n`)
		env.Exec(`CREATE TABLE invoice (jid varchar(254) NOT NULL REFERENCES job (jid))`)
		env.Exec(`INSERT INTO invoice SELECT jid FROM job WHERE jid < 'j9'`)
		if result, want := env.runJob(t, store.HousekeepingTask, `{"jobs_days": 30}`), "jobs that cannot be deleted: 89 (job j1, job j10, job j100, job j11, job j12, ...)"; !strings.Contains(result, want) {
			t.Errorf("the result is %q, want %q in it", result, want)
		}
		if left := env.texts(t, `SELECT count(*) FROM job WHERE task = 'echo'`); left[0] != "89" {
			t.Errorf("%s jobs are left", left[0])
		}
	})
}
