package calendar

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/adhocore/gronx"
)

// FuzzParse parses any text, and asks what is a timer about any time. The seeds of the corpus in testdata/fuzz are timers
// that once were, or could have been, treated wrongly.
func FuzzParse(f *testing.F) {
	for _, timer := range []string{"Mon..Fri *-*-* 9..17:0/15 Europe/Berlin", "*-*~07/1", "@1798761600", "12:00:00.5..2/0.25",
		"0 2 1W,L * 5#2,1L 2030", "CRON_TZ=UTC @daily", "every 1h30m from 2026-01-31 02:00 Asia/Tokyo", "5 0 0 0", ""} {
		f.Add(timer, int64(1774692423))
	}
	for _, row := range append(readVectors(f, "calev.tsv"), readVectors(f, "systemd.tsv")[:300]...) {
		f.Add(row.timer, row.base.Unix())
	}
	f.Fuzz(func(t *testing.T, timer string, unix int64) {
		s, err := Parse(timer)
		if err != nil {
			var wrong *ParseError
			if !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(timer) || wrong.Msg == "" {
				t.Fatalf("Parse(%q): %#v", timer, err)
			}
			if lines := strings.Count(wrong.Caret(), "\n"); lines != 1 {
				t.Fatalf("Parse(%q): the caret has %d lines", timer, lines+1)
			}
			return
		}
		if c, ok := s.(*cron); ok && !gronx.IsValid(c.text) {
			t.Fatalf("%q: gronx refuses %q", timer, c.text)
		}
		at := time.Unix(unix%(1<<50), unix&0xfffffff)
		if err := errors.Join(sameSchedule(s, at), properties(s, at)); err != nil {
			t.Fatalf("%q: %v", timer, err)
		}
	})
}
