package calendar_bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// ordinary are timers as people write them.
var ordinary = []string{"daily", "Mon..Fri *-*-* 09..17:0/15", "*-*~1 02:00 Europe/Berlin", "0 2 * * *", "*/5 9-17 * * 1-5",
	"CRON_TZ=Europe/Berlin 0 2 L * *", "every 15m", "every 1 month from 2026-01-31T02:00:00Z"}

// hostile are timers of up to 254 bytes that were made to take long.
var hostile = []string{
	fill("*:*:", "0/0.000001", ""),
	fill("*:*:", "59.9", ""),
	fill("", "1970/1", "-1-1"),
	fill("2199-", "12", "-31 23:59:59.999999"),
	fill("Mon *-02-", "29", " Africa/Casablanca"),
	fill("* * * * * ", "0-9999/1", ""), fill("* * * * * ", "0-2025/1", ""),
	fill("0 0 ", "31W", " * *"),
	fill("0 0 * * ", "5#5", ""),
	"TZ=Asia/Gaza 0 0 29 2 1#5 2196",
	"0 0 31 4 *", "*-02-30", "Mon *-02-29", "2199-12-31 23:59:59.999999 Pacific/Kiritimati",
	"every 230 years Asia/Gaza", "every 1s", "every 1 month from 1970-01-31 Australia/Lord_Howe",
	// refused
	fill("", "Mon..", ""), fill("", "1/", ""), fill("every ", "1h", ""), fill("* * * * ", "9999999", ""),
	"12:00 " + strings.Repeat("Aa/", 20) + "A", "12:00 europe/berlinn", strings.Repeat("dayl", 60),
	strings.Repeat(" ", 254), strings.Repeat("x ", 127), strings.Repeat("é", 127), strings.Repeat("0", 254),
}

// fill repeats an item of a list as often as there is room.
func fill(before, item, after string) string {
	n := (calendar.MaxLength - len(before) - len(after) + 1) / (len(item) + 1)
	return before + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + after
}

// BenchmarkParse measures timers as people write them.
func BenchmarkParse(b *testing.B) {
	for _, timer := range ordinary {
		b.Run(strings.NewReplacer("/", "|", " ", "_").Replace(timer), func(b *testing.B) {
			fastest := best(func() { parse(b, timer) })
			for b.Loop() {
				parse(b, timer)
			}
			b.ReportMetric(fastest, "best-ns")
		})
	}
}

// BenchmarkHostile runs through all timers and reports, beside the time of a round, that of the slowest timer (the
// fastest of 20 tries) in nanoseconds. The bound is a million.
func BenchmarkHostile(b *testing.B) {
	b.Run("parse", func(b *testing.B) {
		worst(b, func(timer string) func() {
			return func() { _, _ = calendar.Parse(timer) }
		})
	})
	for _, year := range []int{1969, 2026, 2201} {
		at := time.Date(year, 3, 29, 0, 59, 59, 999_999_999, time.UTC)
		b.Run(fmt.Sprintf("next-%d", year), func(b *testing.B) {
			worst(b, onSchedule(func(s calendar.Schedule) { sink = s.Next(at) }))
		})
		b.Run(fmt.Sprintf("prev-%d", year), func(b *testing.B) {
			worst(b, onSchedule(func(s calendar.Schedule) { sink = s.Prev(at) }))
		})
	}
}

// onSchedule skips the timers that are refused.
func onSchedule(call func(calendar.Schedule)) func(string) func() {
	return func(timer string) func() {
		s, err := calendar.Parse(timer)
		if err != nil {
			return nil
		}
		return func() { call(s) }
	}
}

func worst(b *testing.B, of func(timer string) func()) {
	var slowest time.Duration
	var calls []func()
	for _, timer := range append(ordinary, hostile...) {
		call := of(timer)
		if call == nil {
			continue
		}
		calls = append(calls, call)
		fastest := time.Hour
		for range 20 {
			start := time.Now()
			call()
			fastest = min(fastest, time.Since(start))
		}
		if fastest > slowest {
			slowest = fastest
			b.Logf("slowest so far: %v for %.40q", fastest, timer)
		}
	}
	for b.Loop() {
		for _, call := range calls {
			call()
		}
	}
	b.ReportMetric(float64(slowest), "worst-ns")
}
