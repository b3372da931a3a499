package queues_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/queues"
)

// The settings of a kind name what is wrong with them, without a database.
func TestKindsCheckTheirSettings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 129)
	for _, test := range []struct {
		kind queues.Kind
		want []string // empty: nothing is wrong
	}{
		{queues.River{}, nil},
		{queues.River{Schema: "app", Queue: "mail", MaxAttempts: 32767, Priority: 4}, nil},
		{queues.River{Schema: `a"b`, Queue: long, MaxAttempts: 32768, Priority: 5},
			[]string{`queues.River.Schema is "a\"b"; use a name`, "queues.River.Queue is", "queues.River.MaxAttempts is 32768; use 1 to 32767", "queues.River.Priority is 5; use 1 to 4"}},
		{queues.River{MaxAttempts: -1, Priority: -1}, []string{"MaxAttempts is -1", "Priority is -1"}},
		{queues.GraphileWorker{Queue: long[1:]}, nil},
		{queues.GraphileWorker{Schema: "1a", Queue: long, MaxAttempts: -1}, []string{"queues.GraphileWorker.Schema is", "Queue is", "MaxAttempts is"}},
		{queues.PgBoss{Schema: "pg-boss_2"}, nil},
		{queues.PGMQ{}, []string{"queues.PGMQ.Queue is \"\"; use the name of a queue"}},
		{queues.PgBoss{Schema: "pg boss"}, []string{`queues.PgBoss.Schema is "pg boss"`}},
	} {
		err := test.kind.Validate()
		if lines := strings.Count(fmt.Sprint(err), "\n") + 1; err != nil && lines != len(test.want) || err == nil && len(test.want) > 0 {
			t.Errorf("%+v: %v", test.kind, err)
		}
		for _, want := range test.want {
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%+v: %v\n  lacks %s", test.kind, err, want)
			}
		}
	}
}

// What only PostgreSQL has is refused on SQLite.
func TestKindsOfPostgreSQLAreRefusedOnSQLite(t *testing.T) {
	t.Parallel()
	db := open(t, storetest.SQLiteURL(t))
	for _, k := range []queues.Kind{queues.River{Schema: "river"}, queues.GraphileWorker{}, queues.PgBoss{}, queues.PGMQ{Queue: "mail"}} {
		if _, err := queues.OpenIn(db, k); err == nil || !strings.Contains(err.Error(), "SQLite") {
			t.Errorf("%+v: %v, want an error", k, err)
		}
	}
}
