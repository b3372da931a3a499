package calendar

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/adhocore/gronx"
)

// cronGenerator makes random cron expressions of 5, 6 and 7 fields with everything that gronx
// knows.
type cronGenerator struct{ *rand.Rand }

func (g cronGenerator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g cronGenerator) expression() string {
	fields := []string{g.field(cronMinute), g.field(cronHour), g.field(cronDay), g.field(cronMonth), g.field(cronWeekday)}
	switch g.IntN(4) {
	case 0:
		fields = append([]string{g.field(cronSecond)}, fields...)
	case 1:
		fields = append(fields, fmt.Sprint(2020+g.IntN(20)))
	case 2:
		fields = append([]string{g.field(cronSecond)}, append(fields, g.field(cronYear))...)
	}
	return strings.Join(fields, " ")
}

func (g cronGenerator) field(f int) string {
	if g.IntN(3) == 0 {
		return g.pick("*", "*", "?")
	}
	var items []string
	for range 1 + g.IntN(3)*g.IntN(2) {
		items = append(items, g.item(f))
	}
	return strings.Join(items, ",")
}

func (g cronGenerator) item(f int) string {
	low, high := cronFields[f].low, cronFields[f].high
	if f == cronYear {
		low, high = 2020, 2050
	}
	a, b := low+g.IntN(high-low+1), low+g.IntN(high-low+1)
	a, b = min(a, b), max(a, b)
	step := 1 + g.IntN(high-low)
	switch n := g.IntN(12); {
	case f == cronDay && n == 0:
		return "L"
	case f == cronDay && n == 1:
		return fmt.Sprintf("%dW", a)
	case f == cronWeekday && n == 0:
		return fmt.Sprintf("%dL", a)
	case f == cronWeekday && n == 1:
		return fmt.Sprintf("%d#%d", a, 1+g.IntN(5))
	case f == cronWeekday && n == 2:
		return g.pick("Mon", "TUE", "wed", "THU", "FRI", "SAT", "SUN", "MON-FRI", "FRIL", "SAT#2", "7-3")
	case f == cronMonth && n == 2:
		return g.pick("JAN", "Feb", "MAR", "APR-JUN", "jul", "AUG", "SEP", "OCT", "NOV", "DEC")
	case n <= 4:
		return fmt.Sprintf("%d-%d", a, b)
	case n == 5:
		return fmt.Sprintf("%d-%d/%d", a, b, step)
	case n == 6:
		return fmt.Sprintf("*/%d", step)
	case n == 7:
		return fmt.Sprintf("0/%d", step)
	case n == 8:
		return fmt.Sprintf("%d/%d", a, step)
	}
	return fmt.Sprint(a)
}

// TestCronElapsesLikeGronx compares with gronx, the reference for cron expressions, in UTC. gronx
// gives up now and then; the elapse that this package finds must then be due by gronx's own
// account.
func TestCronElapsesLikeGronx(t *testing.T) {
	g := cronGenerator{rand.New(rand.NewPCG(1, 2))}
	compared := 0
	for compared < 4000 {
		text := g.expression()
		s, err := Parse(text)
		if err != nil {
			if gronx.IsValid(text) {
				t.Errorf("Parse(%q) = %v, gronx accepts it", text, err)
			}
			continue
		}
		if normal := s.String(); !gronx.IsValid(text) || !gronx.IsValid(normal) {
			t.Errorf("Parse(%q) = %q, gronx refuses it", text, normal)
		}
		at := time.Unix(1_600_000_000+g.Int64N(600_000_000), 0).UTC()
		compared++
		next, err := gronx.NextTickAfter(text, at, false)
		compareWithGronx(t, text, "after", at, s.Next(at), next, err)
		prev, err := gronx.PrevTickBefore(text, at, false)
		compareWithGronx(t, text, "before", at, s.Prev(at), prev, err)
	}
}

func compareWithGronx(t *testing.T, text, where string, at, got, want time.Time, failed error) {
	t.Helper()
	switch {
	case failed == nil && !got.Equal(want):
		t.Errorf("%q %s %v: %v, gronx says %v", text, where, at, got, want)
	case failed != nil && !got.IsZero():
		if due, err := gronx.New().IsDue(text, got); err != nil || !due {
			t.Errorf("%q %s %v: %v, which is not due for gronx (%v)", text, where, at, got, err)
		}
	}
}
