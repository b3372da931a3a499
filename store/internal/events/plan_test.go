package events

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store/internal/connect"
)

// manyTopics is how many topics the tests below have, each with one event.
const manyTopics = 10000

// explainClaim returns the plans of the listing of all topics, and those of
// leasing 16 of them.
func explainClaim(t *testing.T, url, explain string) (listing, acquiring [][]string) {
	t.Helper()
	db, err := connect.Open(t.Context(), url, sqldb.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migrations.Of(db).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	user := storetest.At(t, url)
	user.Exec(`INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload, created)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
		SELECT 'e' || i, 'topic ' || i, 'x', 'a' || i, 1, '{}', '2026-01-01 00:00:00.000000' FROM n`)
	user.Exec(`INSERT INTO outbox_message (event_id, topic, created) SELECT id, topic, created FROM event_store`)
	user.Exec(`INSERT INTO scheduler_lock (name, holder, hostname, pid, token, acquired, heartbeat, expires)
		SELECT 'topic:' || topic, 'other', '', 0, 1, created, created, created FROM event_store`)
	err = db.Update(t.Context(), func(outer *sqldb.Tx) error {
		in := func(plans *[][]string) *sqldb.Tx {
			return db.In(storetest.Explainer{DBTX: outer.DBTX(), Explain: explain, Plans: plans}, outer.Now())
		}
		rows, err := pendingTopics(t.Context(), in(&listing))
		if err != nil {
			return err
		}
		if len(rows) != manyTopics {
			t.Errorf("%d topics are listed", len(rows))
		}
		terms := relay.Terms{Lease: time.Minute, Limit: 100}
		for _, row := range rows[:16] {
			b, err := lease(t.Context(), in(&acquiring), "h", row.Topic, terms)
			if err != nil || b == nil {
				t.Errorf("topic %q is not leased: %v", row.Topic, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return listing, acquiring
}

// Each topic costs the listing a few rows, and acquiring some does not read the
// others.
func TestClaimOfManyTopicsReadsFewRowsOnPostgres(t *testing.T) {
	t.Parallel()
	listing, acquiring := explainClaim(t, storetest.PostgresURL(t), "EXPLAIN (ANALYZE, FORMAT JSON) ")
	read := func(plans [][]string, tables ...string) (sum float64) {
		for _, lines := range plans {
			var p []struct{ Plan storetest.PlanNode }
			if err := json.Unmarshal([]byte(strings.Join(lines, "\n")), &p); err != nil {
				t.Fatal(err)
			}
			sum += p[0].Plan.Read(tables...)
		}
		return sum
	}
	messages, topics := read(listing, "outbox_message"), read(listing, "scheduler_lock")
	if messages < manyTopics || messages > 4*manyTopics || topics > 2*manyTopics {
		t.Errorf("the listing reads %g rows of outbox_message and %g of scheduler_lock", messages, topics)
	}
	messages, topics = read(acquiring, "outbox_message"), read(acquiring, "scheduler_lock")
	if messages < 16 || messages > 100 || topics > 500 {
		t.Errorf("acquiring 16 topics reads %g rows of outbox_message and %g of scheduler_lock", messages, topics)
	}
}

func TestClaimOfManyTopicsReadsFewRowsOnSQLite(t *testing.T) {
	t.Parallel()
	listing, acquiring := explainClaim(t, storetest.SQLiteURL(t), "EXPLAIN QUERY PLAN ")
	searches, unbound := 0, 0
	for _, line := range slices.Concat(slices.Concat(listing, acquiring)...) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !slices.Contains([]string{"outbox_message", "scheduler_lock", "l", "e", "event_store"}, fields[1]) {
			continue
		}
		if fields[0] == "SCAN" {
			t.Errorf("a table is read as a whole: %s", line)
		}
		searches++
		if !strings.Contains(line, "(") {
			unbound++ // min(topic) takes the first entry of the index, which the plan calls a search of all
		}
	}
	if searches < 4 || unbound > 1 {
		t.Errorf("%d searches, %d of them without a condition, in %q, %q", searches, unbound, listing, acquiring)
	}
}
