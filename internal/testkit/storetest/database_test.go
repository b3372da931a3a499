package storetest_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

func TestBothRunsOnEachKindUnderItsName(t *testing.T) {
	storetest.Need(t, storetest.Postgres)
	var seen sync.Map
	t.Run("kinds", func(t *testing.T) {
		storetest.Both(t, func(t *testing.T, d *storetest.Database) {
			if !strings.HasSuffix(t.Name(), "/"+d.Kind) || d.Name() != t.Name() {
				t.Errorf("%s ran on %s with the t of %s", t.Name(), d.Kind, d.Name())
			}
			d.Exec("CREATE TABLE word (text text); INSERT INTO word VALUES ('why?'), (NULL)")
			d.Exec("UPDATE word SET text = ? WHERE text = ?", "because", "why?")
			d.Want("because", "SELECT text FROM word WHERE text = ?", "because")
			d.Want("", "SELECT text FROM word WHERE text IS NULL")
			version := map[string]string{storetest.Postgres: "SELECT version()", storetest.SQLite: "SELECT sqlite_version()"}
			seen.Store(d.Kind, d.One(version[d.Kind]))
		})
	})
	for _, kind := range []string{storetest.Postgres, storetest.SQLite} {
		if version, ok := seen.Load(kind); !ok || version == "" {
			t.Errorf("the test did not run on %s", kind)
		}
	}
}

func TestEventuallyWaitsForAValue(t *testing.T) {
	calls := 0
	storetest.Eventually(t, "three calls", func() bool { calls++; return calls == 3 })
	if calls != 3 {
		t.Errorf("%d calls, want 3", calls)
	}
}

func TestPunctualJudgesWhenAsked(t *testing.T) {
	for pace, want := range map[string]int{"": 1, "1": 2} {
		t.Setenv(storetest.PaceVariable, pace)
		measured := 0
		storetest.Punctual(t, "work that is late once", func() []time.Duration {
			measured++
			return []time.Duration{[]time.Duration{time.Hour, 0}[measured-1]}
		})
		if measured != want {
			t.Errorf("with %q it measured %d times, want %d", pace, measured, want)
		}
	}
}
