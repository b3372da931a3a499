package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/config"
)

// moment writes a time for people: in their zone, to the second.
func (p *program) moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(p.zone).Format("2006-01-02 15:04:05 MST")
}

// ago writes how far a time is away: "in 3 h 12 min", "5 s ago".
func (p *program) ago(t time.Time) string {
	switch d := t.Sub(p.now()); {
	case t.IsZero():
		return ""
	case d > 0:
		return "in " + span(d)
	case d > -time.Second:
		return "now"
	default:
		return span(-d) + " ago"
	}
}

// span writes a duration by its two greatest units, rounded up to the second.
func span(d time.Duration) string {
	seconds := int64((d + time.Second - 1) / time.Second)
	units := []struct {
		size int64
		name string
	}{{365 * 86400, "y"}, {86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}
	for i, u := range units {
		if seconds < u.size {
			continue
		}
		text := fmt.Sprintf("%d %s", seconds/u.size, u.name)
		if i+1 < len(units) {
			if rest := seconds % u.size / units[i+1].size; rest > 0 {
				text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
			}
		}
		return text
	}
	return "0 s"
}

// exactSpan is span with the fraction of a second where that matters.
func exactSpan(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.2f s", max(d, 0).Seconds())
	}
	return span(d)
}

// timeFlag is a flag that holds a time. "none" is the zero time if that is
// allowed.
type timeFlag struct {
	value     time.Time
	allowNone bool
}

func (f *timeFlag) String() string {
	if f.value.IsZero() {
		return ""
	}
	return f.value.Format(time.RFC3339Nano)
}

func (f *timeFlag) Type() string { return "time" }

// Set reads a time.
func (f *timeFlag) Set(text string) error {
	if text == "none" && f.allowNone {
		f.value = time.Time{}
		return nil
	}
	t, err := config.ParseTime(text)
	if err != nil {
		return fmt.Errorf("use %w%s", err, orNone(f.allowNone))
	}
	f.value = t
	return nil
}

func orNone(allowed bool) string {
	if allowed {
		return ", or none"
	}
	return ""
}

// secondsFlag is a flag that holds whole seconds: 90, 90s or 1h30m. It is nil
// for "none" if that is allowed.
type secondsFlag struct {
	value     *time.Duration
	allowNone bool
}

func (f *secondsFlag) String() string {
	if f.value == nil {
		return ""
	}
	return f.value.String()
}

func (f *secondsFlag) Type() string { return "seconds" }

// Set reads a duration.
func (f *secondsFlag) Set(text string) error {
	if text == "none" && f.allowNone {
		f.value = nil
		return nil
	}
	d, err := config.ParseSeconds(text)
	if err != nil {
		return fmt.Errorf("use %w%s", err, orNone(f.allowNone))
	}
	f.value = &d
	return nil
}

// ageFlag is a flag that holds how long ago something was: 90m, 24h, 30d.
type ageFlag time.Duration

func (f *ageFlag) String() string { return "" }
func (f *ageFlag) Type() string   { return "age" }

// Set reads an age.
func (f *ageFlag) Set(text string) error {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			*f = ageFlag(time.Duration(n) * 24 * time.Hour)
			return nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("use an age such as 90m, 24h or 30d")
	}
	*f = ageFlag(d)
	return nil
}

// timeOrNull is a time as JSON has it: null for the zero time.
func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
