package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// The status is the first page in a terminal: what needs attention, what runs, and what is next, in this order.
func TestStatus(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "status", "0 tasks: add one with nextrun task add", "no scheduler runs; jobs: 0 waiting, 0 running")
		s.Must(t, "task", "add", "good", "--handler", "h", "--timer", "yearly")
		s.Must(t, "task", "add", "bad", "--handler", "h", "--timer", "yearly")
		s.Must(t, "task", "add", "off", "--handler", "h", "--timer", "yearly")
		s.Must(t, "task", "disable", "off")
		s.Exec(t, `UPDATE periodic_task SET due = '2098-01-01 00:00:00.000000', nextrun = '2098-01-01 00:00:00.000000' WHERE id = 'good'`)
		s.Exec(t, `UPDATE periodic_task SET problem = 'no such zone' WHERE id = 'bad'`)
		s.Exec(t, `INSERT INTO job (jid, task, tracker, group_, subject, state, worker, started) VALUES ('0123456789-end', 'h', 'good', 'g', 's', 'running', 'w', '2026-01-01 00:00:00')`)
		s.Says(t, ui.Done, "task list --state problem", "bad blocked ", "no such zone", "! good")
		r := s.Says(t, ui.Changes, "status")
		out := strings.Join(strings.Fields(r.Stdout), " ")
		at := 0
		for _, want := range []string{
			"3 tasks: 1 needs attention, ", "1 disabled no scheduler runs; jobs: 0 waiting, 1 running", "NEEDS ATTENTION WHY bad ", "no such zone",
			"RUNNING JOB SINCE WORKER good 0123456789-end ", "NEXT IN AT HANDLER ", "good in 71 y",
		} {
			next := strings.Index(out[at:], want)
			if next < 0 {
				t.Fatalf("the status lacks %q, or has it elsewhere:\n%s%s", want, r.Stdout, r.Stderr)
			}
			at += next
		}
		var got struct {
			Need      int                      `json:"need_attention"`
			Attention []struct{ About string } `json:"attention"`
			Running   []struct{ Task string }  `json:"running"`
		}
		clitest.Decode(t, s.Run(t.Context(), "status", "--json").Stdout, &got)
		if got.Need != 1 || len(got.Attention) != 1 || got.Attention[0].About != "bad" || len(got.Running) != 1 || got.Running[0].Task != "good" {
			t.Errorf("as JSON: %+v", got)
		}
	})
}
