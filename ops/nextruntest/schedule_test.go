package nextruntest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/ops/nextruntest"
	"github.com/nextrun/nextrun/periodic"
)

// Rows that are added by SQL carry the test's time, so that intervals count from it.
func TestRowsCarryTheTimeOfTheTest(t *testing.T) {
	t.Parallel()
	s := nextruntest.New(t, nextruntest.Options{Start: time.Date(2040, 2, 29, 10, 0, 0, 0, time.UTC)})
	s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('i', 'i', 'every 90m')`)
	s.Advance(90 * time.Minute)
	s.RequireSubmitted("i", "2040-02-29 11:30")
	s.Exec(`UPDATE periodic_task SET timer = 'daily' WHERE id = 'i'`)
	s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('j', 'j', 'daily')`)
	task, err := periodic.NewTasks(s.DB().Tasks()).Get(t.Context(), "j")
	if err != nil {
		t.Fatal(err)
	}
	if !task.Created.Equal(s.Now()) {
		t.Errorf("created is %s, and the clock stands at %s", task.Created, s.Now())
	}
	s.RequireGuarantees()
}

// A check that fails says what there is.
func TestFailures(t *testing.T) {
	t.Parallel()
	prepared := func(t testing.TB) *nextruntest.Schedule {
		s := nextruntest.New(t, nextruntest.Options{})
		s.Exec(`INSERT INTO periodic_task (id, task, timer, args) VALUES ('a', 'a', 'hourly', '{"x": 1}')`)
		s.Advance(2 * time.Hour)
		return s
	}
	for name, test := range map[string]struct {
		do   func(s *nextruntest.Schedule)
		want []string
	}{
		"too few": {func(s *nextruntest.Schedule) { s.RequireSubmitted("a", "2026-01-01 01:00", "2026-01-01 02:00") },
			[]string{"want\n  2026-01-01 01:00:00\n  2026-01-01 02:00:00", "2026-01-01 02:00:00  a  skipped  a job of the task had not ended"}},
		"reason":        {func(s *nextruntest.Schedule) { s.RequireReason("a", "2026-01-01 02:00", periodic.Skipped, "rain") }, []string{`because of "rain"`}},
		"sql":           {func(s *nextruntest.Schedule) { s.Exec("DELETE FROM periodic_job") }, []string{"periodic_job"}},
		"bad row":       {func(s *nextruntest.Schedule) { s.Add(periodic.NewTask("b", "b", "dayly")) }, []string{"dayly"}},
		"back":          {func(s *nextruntest.Schedule) { s.AdvanceTo("2025-12-31") }, []string{"cannot go back to 2025-12-31"}},
		"nothing fails": {func(s *nextruntest.Schedule) { s.Fail("b", "x") }, []string{`task "b" has no unfinished job`}},
		"guarantees": {func(s *nextruntest.Schedule) {
			s.Exec(`INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, tracker, due, single)
				SELECT 'second', task, group_, args, subject, submitted, submitter, priority, 'success', tracker, due, single FROM job`)
			s.RequireGuarantees()
		}, []string{"the guarantees were not kept", "G1", "a: due 2026-01-01 01:00:00.000000: 2 jobs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := fatal(t, func(t testing.TB) { test.do(prepared(t)) })
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("the test says\n%s\nwant %q in it", got, want)
				}
			}
		})
	}
}

// failing is a test that fails without failing the one around it.
type failing struct {
	testing.TB
	text string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// fatal returns what a function says when it ends its test.
func fatal(t *testing.T, run func(testing.TB)) string {
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(f)
	}()
	<-done
	if f.text == "" {
		t.Error("it should have failed")
	}
	return f.text
}

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }
