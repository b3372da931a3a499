package timer_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/timer"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

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
