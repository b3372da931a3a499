package timer_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/ops/cli/timer"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The preview looks as far as it is asked to; a frequent task has one line, which says how often it runs.
func TestPreview(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		s.Says(t, ui.Done, "preview", "no ticks until ", "--until looks further")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, enabled) VALUES ('a', 't', '*:0/30', true), ('b', 't', 'hourly', true), ('c', 't', 'minutely', false)`)
		type preview struct {
			Ticks   []struct{ ID string }
			Total   int
			Busiest []struct{ Ticks int }
		}
		for until, want := range map[string]int{"24h": 72, "2h": 6, "2d": 144, "2 d": 144, "1h": 3} {
			var p preview
			if s.JSON(t, &p, "preview", "--until", until); p.Total != want || len(p.Ticks) != p.Total || p.Busiest[0].Ticks != 2 {
				t.Errorf("--until %s: %d ticks, want %d; busiest %+v", until, p.Total, want, p.Busiest)
			}
		}
		s.Says(t, ui.Done, "preview -n 2", "NEXT RUN LEFT TASK", "and 23 more; -n 0 shows all", "BUSIEST MINUTES TICKS")
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('clock', 't', '*:*:0/5'), ('uneven', 't', '*:0/3,1/3')`)
		s.Says(t, ui.Done, "preview --until 1h", "NEXT RUN LEFT TASK REPEATS", "clock 720 times: *:*:0/5", "uneven 40 times: *:0/3,1/3", "! more;")
	})
	for _, until := range []string{"0", "yesterday", "x", "367d"} {
		clitest.Shell{}.Says(t, ui.WrongUsage, "preview --until "+until, "--until", "use a time from now")
	}
}

// Times are local, in the zone that the timer names, and else in the reader's: at noon (UTC) before the clock goes forward in
// Berlin.
func TestNext(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"*-*-* 02:30 Europe/Berlin|-n|3": `timer       *-*-* 02:30:00 Europe/Berlin
meaning     at 02:30 every day, Europe/Berlin time
dst-moved   2026-03-29 02:30 does not exist and elapses at 03:30
dst-moved   2027-03-28 02:30 does not exist and elapses at 03:30
dst-moved   2028-03-26 02:30 does not exist and elapses at 03:30
dst-merged  2026-10-25 02:30 occurs twice and elapses the first time only
dst-merged  2027-10-31 02:30 occurs twice and elapses the first time only

ELAPSES                   LEFT
2026-03-29 03:30:00 CEST  in 13 h 30 min
2026-03-30 02:30:00 CEST  in 1 d 12 h
2026-03-31 02:30:00 CEST  in 2 d 12 h
`,
		"*-*-* 02:30 Asia/Tokyo|-n|1":             "2026-03-29 02:30:00 JST  in 5 h 30 min\n",
		"*-*-* 02:30|-n|1":                        "2026-03-29 04:30:00 CEST  in 14 h 30 min\n",
		"CRON_TZ=Asia/Tokyo 0 2 * * *|-n|1":       "2026-03-29 02:00:00 JST  in 5 h\n",
		"every 36h|-n|2|--after|2026-03-01 07:00": "\n2026-03-02 19:00:00 CET  25 d 18 h ago\n2026-03-04 07:00:00 CET  24 d 6 h ago\n",
		"*-02-30": "never elapses",
		"daily|-n|1|--json": `{
  "timer": "daily",
  "normal_form": "*-*-* 00:00:00",
  "explanation": "at 00:00 every day, UTC",
  "elapses": [
    {
      "local": "2026-03-29T01:00:00+01:00",
      "utc": "2026-03-29T00:00:00Z",
      "seconds_left": 43200
    }
  ]
}
`,
		"daily Asia/Tokyo|-n|1|--json":           `"local": "2026-03-29T00:00:00+09:00"`,
		"*-*-31 02:30 Europe/Berlin|-n|1":        "short-months",
		"*-*-31 02:30 Europe/Berlin|-n|1|--json": `"code": "short-months"`,
	} {
		var stdout bytes.Buffer
		now := func() time.Time { return time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC) }
		command := timer.NextCommand(&ui.Env{Stdout: &stdout, Now: now, Zone: berlin})
		command.SetArgs(strings.Split(line, "|"))
		command.PreRunE = func(c *cobra.Command, _ []string) error {
			if after := c.Flag("after"); after.Changed {
				return after.Value.(*ui.TimeFlag).Resolve(now(), berlin)
			}
			return nil
		}
		command.SilenceErrors, command.SilenceUsage = true, true
		err := command.ExecuteContext(t.Context())
		if got := stdout.String(); !strings.Contains(got, want) || (err != nil) != (want == "never elapses") {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", line, err, got, want)
		}
	}
}
