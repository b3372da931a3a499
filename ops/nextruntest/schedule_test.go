package nextruntest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/nextruntest"
	"github.com/nextrun/nextrun/periodic"
)

// A day passes as it would outside of a test: ticks, an outage, an overlap, retries.
func TestDay(t *testing.T) {
	t.Parallel()
	s := nextruntest.New(t, nextruntest.Options{})
	s.Exec(`INSERT INTO periodic_task (id, task, timer, overlap, catchup) VALUES (?1, 'a', '*-*-* *:00/30', 'allow', 'all')`, "each")
	s.Exec(`INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('queue', 'b', 'hourly', 'queue')`)
	s.Add(periodic.NewTask("go", "c", "every 45m"))
	s.Advance(time.Hour)
	s.RequireSubmitted("each", "2026-01-01 00:30", "2026-01-01 01:00")
	s.RequireSubmitted("go", "2026-01-01 00:45")
	s.Outage(2 * time.Hour)
	s.RequireSubmitted("each", "2026-01-01 00:30", "2026-01-01 01:00", "2026-01-01 01:30", "2026-01-01 02:00", "2026-01-01 02:30", "2026-01-01 03:00")
	s.RequireSubmitted("queue", "2026-01-01 01:00")
	s.RequireNoTick("queue", "2026-01-01 02:00")
	s.FinishJobs("queue")
	s.RequireReason("queue", "2026-01-01 02:00", periodic.Skipped, "it waited for the end of the job")
	s.RequireSubmitted("queue", "2026-01-01 01:00", "2026-01-01 03:00")
	s.Fail("queue", "no space left")
	if jobs := s.Jobs("queue"); len(jobs) != 2 || jobs[1].State != jobqueue.Failed || jobs[1].Result != "no space left" ||
		!jobs[1].Finished.Equal(s.Now()) {
		t.Errorf("jobs of queue: %+v", jobs)
	}
	s.FinishJobs()
	s.RequireGuarantees()
}

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

// Handlers run with the real executor, and see what they would see.
func TestWork(t *testing.T) {
	t.Parallel()
	s := nextruntest.New(t, nextruntest.Options{})
	s.Exec(`INSERT INTO periodic_task (id, task, timer, args, overlap) VALUES ('a', 'load', 'hourly', '{"n": 7}', 'allow')`)
	s.Exec(`INSERT INTO periodic_task (id, task, timer) VALUES ('other', 'other', 'hourly')`)
	s.Advance(2 * time.Hour)
	runs := s.Work("load", jobqueue.JSON(func(_ context.Context, job *jobqueue.JobContext, args struct{ N int }) error {
		job.Logf(jobqueue.Info, "loaded %d", args.N)
		job.SetResult(fmt.Sprint(args.N, " rows"))
		if job.Due.Hour() == 2 {
			return jobqueue.Permanent(errors.New("the file is empty"))
		}
		return nil
	}))
	if len(runs) != 2 {
		t.Fatalf("%d attempts, want 2: %+v", len(runs), runs)
	}
	good, bad := runs[0], runs[1]
	if good.Job.Due.Hour() == 2 {
		good, bad = bad, good
	}
	if good.Err != nil || good.Job.State != jobqueue.Success || good.Job.Result != "7 rows" || !logged(good, "loaded 7") {
		t.Errorf("good: %+v", good)
	}
	if bad.Err == nil || bad.Job.State != jobqueue.Failed || !strings.Contains(bad.Job.Result, "the file is empty") {
		t.Errorf("bad: %+v", bad)
	}
	if rest := s.Work("load", nothing); len(rest) != 0 {
		t.Errorf("nothing was left to run, and it ran %+v", rest)
	}
	if other := s.Jobs("other"); len(other) != 1 || other[0].State != jobqueue.Waiting {
		t.Errorf("job of another task: %+v", other)
	}
}

func nothing(context.Context, *jobqueue.JobContext) error { return nil }

func logged(r nextruntest.Run, message string) bool {
	for _, l := range r.Lines {
		if l.Message == message {
			return true
		}
	}
	return false
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
		"none wanted":       {func(s *nextruntest.Schedule) { s.RequireSubmitted("a") }, []string{"submitted for\n  2026-01-01 01:00:00\nwant\n  none"}},
		"a tick":            {func(s *nextruntest.Schedule) { s.RequireNoTick("a", "2026-01-01 02:00") }, []string{"has a tick", "skipped"}},
		"reason":            {func(s *nextruntest.Schedule) { s.RequireReason("a", "2026-01-01 02:00", periodic.Skipped, "rain") }, []string{`because of "rain"`}},
		"decision":          {func(s *nextruntest.Schedule) { s.RequireReason("a", "2026-01-01 02:00", periodic.Late, "") }, []string{"want it late"}},
		"args":              {func(s *nextruntest.Schedule) { s.RequireArgs("a", "2026-01-01 01:00", `{"x": 2}`) }, []string{`{"x": 1}`, `{"x": 2}`}},
		"no job":            {func(s *nextruntest.Schedule) { s.RequireArgs("a", "2026-01-01 02:00", `{"x": 1}`) }, []string{"no job for 2026-01-01 02:00"}},
		"sql":               {func(s *nextruntest.Schedule) { s.Exec("DELETE FROM periodic_job") }, []string{"periodic_job"}},
		"bad row":           {func(s *nextruntest.Schedule) { s.Add(periodic.NewTask("b", "b", "dayly")) }, []string{"dayly"}},
		"time":              {func(s *nextruntest.Schedule) { s.AdvanceTo("tomorrow") }, []string{`"tomorrow" is not a time`}},
		"back":              {func(s *nextruntest.Schedule) { s.AdvanceTo("2025-12-31") }, []string{"cannot go back to 2025-12-31"}},
		"back in an outage": {func(s *nextruntest.Schedule) { s.Outage(-time.Hour) }, []string{"cannot go back"}},
		"nothing fails":     {func(s *nextruntest.Schedule) { s.Fail("b", "x") }, []string{`task "b" has no unfinished job`}},
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
