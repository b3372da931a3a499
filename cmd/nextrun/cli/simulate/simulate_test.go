package simulate_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// result is what the tests read of the JSON form.
type result struct {
	Jobs  int
	Most  int `json:"most_at_a_time"`
	Tasks []struct {
		ID                               string
		Submitted, Skipped, Missed, Late int
	}
}

// first are figures of the first task: submitted, skipped, missed, late.
func (r *result) first() [4]int {
	t := r.Tasks[0]
	return [4]int{t.Submitted, t.Skipped, t.Missed, t.Late}
}

// answer is the JSON form.
type answer struct {
	From, To time.Time
	Now      *result
	With     *result                        `json:"with_set"`
	Unknown  []string                       `json:"unknown_durations"`
	Clocks   []struct{ ID, Message string } `json:"clock_changes"`
}

// A user sees what the schedule will do, with the durations that jobs have had.
func TestSimulate(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `DELETE FROM periodic_task`)
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('hourly', 'a', 'hourly')`)
		run := func(args ...string) (got answer) {
			t.Helper()
			s.JSON(t, &got, append([]string{"simulate", "hourly", "--from", "2026-03-28T00:30Z", "--days", "2"}, args...)...)
			return got
		}
		if got := run(); got.Now.first() != [4]int{48, 0, 0, 0} || len(got.Unknown) != 1 || got.Unknown[0] != "hourly" || got.Now.Most != 1 {
			t.Errorf("plain: %+v %v", got.Now, got.Unknown)
		}
		if got := run("--durations", "90m"); got.Now.first() != [4]int{24, 24, 0, 0} || len(got.Unknown) != 0 {
			t.Errorf("with jobs of 90 minutes: %+v", got.Now)
		}
		file := filepath.Join(t.TempDir(), "durations")
		if err := os.WriteFile(file, []byte("# ours\nhourly\t2h30m\n* 1s\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := run("--durations", file); got.Now.first() != [4]int{16, 32, 0, 0} {
			t.Errorf("with the durations of a file: %+v", got.Now)
		}
		if got := run("--outage", "2026-03-28T03:30Z+5h"); got.Now.first() != [4]int{44, 0, 4, 0} {
			t.Errorf("with an outage: %+v", got.Now)
		}
		got := run("--durations", "90m", "--set", "overlap=allow", "--set", "timer=*-*-* 02:30 Europe/Berlin")
		if got.Now.Jobs != 24 || got.With == nil || got.With.Jobs != 2 {
			t.Errorf("with other settings: %+v, %+v", got.Now, got.With)
		}
		if len(got.Clocks) == 0 || got.Clocks[0].ID != "hourly" || !strings.Contains(got.Clocks[0].Message, "2026-03-29") {
			t.Errorf("what the clock does: %+v", got.Clocks)
		}
	})
}

// Jobs take as long as they took lately.
func TestSimulateTakesTheMedian(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('hourly', 'a', 'hourly')`)
		ago := func(minutes int) string {
			return time.Now().UTC().Add(-time.Duration(minutes) * time.Minute).Format("'2006-01-02 15:04:05.000000'")
		}
		for _, took := range []int{1, 90, 100} {
			s.Exec(t, `INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, tracker, started, finished)
				VALUES ('`+strconv.Itoa(took)+`', 'a', 'g', '{}', '', `+ago(200)+`, 'x', 0, 'success', 0, 100, 'hourly', `+ago(110)+`, `+ago(110-took)+`)`)
			s.Exec(t, `INSERT INTO periodic_tick (task_id, due, decision, jid, decided) VALUES ('hourly', `+ago(200+took)+`, 'submitted', '`+strconv.Itoa(took)+`', `+ago(200)+`)`)
		}
		var got answer
		s.JSON(t, &got, "simulate", "hourly", "--days", "4")
		// Every other tick finds the job of the one before: 96 or 97 in four days.
		if first := got.Now.first(); len(got.Unknown) != 0 || first[0] < 48 || first[0] > 49 || first[1] < 47 || first[1] > 48 {
			t.Errorf("%+v, unknown %v", got.Now, got.Unknown)
		}
	})
}

// People read a table, and see what a change would do.
func TestSimulateForPeople(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `DELETE FROM periodic_task`)
		clitest.WantLines(t, s.Must(t, "simulate"), "no tasks")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('hourly', 'a', 'hourly')`)
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('off', 'a', 'hourly', false)`)
		out := s.Must(t, "simulate", "--from", "2026-03-28T00:30Z", "--days", "2", "--durations", "90m", "--set", "overlap=allow")
		for _, want := range []string{"24 -> 48", "24 -> 0", "not enabled", "at most 1, first at 2026-03-28 01:00:00 UTC -> at most 2"} {
			if !strings.Contains(out, want) {
				t.Errorf("want %q in\n%s", want, out)
			}
		}
		svg := s.Must(t, "simulate", "--svg")
		decoder := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("the drawing is no XML: %v", err)
			}
		}
		if !strings.Contains(svg, "jobs: 24") {
			t.Error("no day of the drawing has 24 jobs")
		}
	})
}

// Bad input is named, with the remedy.
func TestSimulateBadInput(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('second', 'a', 'hourly')`)
		bad := filepath.Join(t.TempDir(), "durations")
		if err := os.WriteFile(bad, []byte("second 5s\nsecond fast\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			code int
			args []string
			want string
		}{
			{ui.WrongUsage, []string{"--days", "0"}, "--days is 0; use 1 to 3660"},
			{ui.WrongUsage, []string{"--outage", "2026-03-29"}, "after the last + stands how long it takes"},
			{ui.WrongUsage, []string{"--outage", "soonish+6h"}, "an outage is TIME+DURATION"},
			{ui.WrongUsage, []string{"--set", "task=b"}, "COLUMN is one of catchup, catchup_delay"},
			{ui.WrongUsage, []string{"--set", "overlap=perhaps"}, "overlap"},
			{ui.WrongUsage, []string{"--set", "timer=dayly"}, "dayly"},
			{ui.WrongUsage, []string{"--durations", "ten"}, "neither median, nor a duration such as 20m, nor a file"},
			{ui.Failed, []string{"--durations", bad}, `durations:2: "second fast"`},
			{ui.Failed, []string{"unknown"}, "unknown"},
		} {
			s.Fails(t, test.code, append([]string{"simulate"}, test.args...), test.want)
		}
	})
}

// A deadline of no seconds is missed, as it is in life, and limits that are left out are named.
func TestSimulateSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, deadline) VALUES ('a', 'x', 'hourly', 0)`)
		said := s.Must(t, "simulate", "a", "--days", "2")
		clitest.WantLines(t, said, "a 0 0 0 48 0")
		if strings.Contains(said, "left out") {
			t.Errorf("without limits:\n%s", said)
		}
		s.Exec(t, `INSERT INTO job_limit (kind, name, most) VALUES ('task', 'x', 1)`)
		clitest.WantLines(t, s.Must(t, "simulate", "a"), "left out the limits in job_limit: jobs begin here when they are submitted")
		s.Fails(t, ui.Failed, []string{"why", "k"}, `task "k": not found; see: nextrun task list`)
	})
}
