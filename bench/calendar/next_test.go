package calendar_bench

import (
	"testing"
	"time"

	"github.com/adhocore/gronx"
	"github.com/nextrun/nextrun/calendar"
	"github.com/robfig/cron/v3"
)

// base is the time from which all searches start.
var base = time.Date(2026, 3, 14, 10, 7, 3, 0, time.UTC)

// timers are those that every library is given, as a cron expression that all of them understand. The last day of the
// month is unknown to robfig/cron.
var timers = []struct{ name, event, cron, zone string }{
	{"daily", "02:00", "0 2 * * *", ""},
	{"hourly", "hourly", "0 * * * *", ""},
	{"5minutes", "*:0/5", "*/5 * * * *", ""},
	{"weekly", "Mon 02:00", "0 2 * * 1", ""},
	{"monthend", "*-*~1 02:00", "0 2 L * *", ""},
	{"daily-Berlin", "02:00 Europe/Berlin", "0 2 * * *", "Europe/Berlin"},
	{"5minutes-Berlin", "*:0/5 Europe/Berlin", "*/5 * * * *", "Europe/Berlin"},
	{"weekly-Berlin", "Mon 02:00 Europe/Berlin", "0 2 * * 1", "Europe/Berlin"},
	{"monthend-Berlin", "*-*~1 02:00 Europe/Berlin", "0 2 L * *", "Europe/Berlin"},
	{"never", "*-04-31", "0 0 31 4 *", ""},
}

// sink keeps the compiler from leaving the work out.
var sink time.Time

// BenchmarkNext compares the next elapse. The lines of nextrun say how many times faster it is than the others: x/gronx
// and x/robfig. gronx reads the expression in every call, as that is its interface; robfig/cron is given a compiled one.
// gronx has no never: it gives up.
func BenchmarkNext(b *testing.B) {
	for _, t := range timers {
		b.Run(t.name, func(b *testing.B) {
			zone, err := time.LoadLocation(t.zone)
			if err != nil {
				b.Fatal(err)
			}
			from := base.In(zone)
			gronxTime := measure(b, "gronx", func() { sink, _ = gronx.NextTickAfter(t.cron, from, false) })
			robfigTime := time.Duration(0)
			if s, err := cron.ParseStandard(t.cron); err == nil {
				robfigTime = measure(b, "robfig", func() { sink = s.Next(from) })
			}
			expression := t.cron
			if t.zone != "" {
				expression = "CRON_TZ=" + t.zone + " " + expression
			}
			compare(b, "nextrun-cron", expression, gronxTime, robfigTime)
			compare(b, "nextrun", t.event, gronxTime, robfigTime)
		})
	}
}

// compare measures a timer and reports the ratios.
func compare(b *testing.B, name, timer string, gronxTime, robfigTime time.Duration) {
	s := parse(b, timer)
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			sink = s.Next(base)
		}
		own := float64(b.Elapsed()) / float64(b.N)
		b.ReportMetric(float64(gronxTime)/own, "x/gronx")
		if robfigTime > 0 {
			b.ReportMetric(float64(robfigTime)/own, "x/robfig")
		}
	})
}

// measure runs a benchmark and returns the time of one call.
func measure(b *testing.B, name string, call func()) (each time.Duration) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			call()
		}
		each = b.Elapsed() / time.Duration(b.N)
	})
	return each
}

func parse(b *testing.B, timer string) calendar.Schedule {
	s, err := calendar.Parse(timer)
	if err != nil {
		b.Fatal(err)
	}
	return s
}
