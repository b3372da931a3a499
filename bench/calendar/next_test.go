package calendar_bench

import (
	"math"
	"testing"
	"time"

	"github.com/adhocore/gronx"
	"github.com/robfig/cron/v3"

	"github.com/nextrun/nextrun/calendar"
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

// BenchmarkNext compares the next elapse. Beside the usual mean, best-ns is the time of a call in the fastest of many
// short rounds, which a busy machine does not disturb. The lines of nextrun say how many times faster than the others it
// is by that measure: x/gronx and x/robfig. gronx reads the expression in every call, as that is its interface;
// robfig/cron is given a compiled one. gronx has no never: it gives up.
func BenchmarkNext(b *testing.B) {
	for _, t := range timers {
		b.Run(t.name, func(b *testing.B) {
			zone, err := time.LoadLocation(t.zone)
			if err != nil {
				b.Fatal(err)
			}
			from := base.In(zone)
			others := map[string]float64{}
			others["x/gronx"] = measure(b, "gronx", nil, func() { sink, _ = gronx.NextTickAfter(t.cron, from, false) })
			if s, err := cron.ParseStandard(t.cron); err == nil {
				others["x/robfig"] = measure(b, "robfig", nil, func() { sink = s.Next(from) })
			}
			expression := t.cron
			if t.zone != "" {
				expression = "CRON_TZ=" + t.zone + " " + expression
			}
			s, event := parse(b, expression), parse(b, t.event)
			measure(b, "nextrun-cron", others, func() { sink = s.Next(base) })
			measure(b, "nextrun", others, func() { sink = event.Next(base) })
		})
	}
}

// measure runs a benchmark and returns its best time in nanoseconds. It reports how many times longer others take.
func measure(b *testing.B, name string, others map[string]float64, call func()) (fastest float64) {
	b.Run(name, func(b *testing.B) {
		fastest = best(call)
		for b.Loop() {
			call()
		}
		b.ReportMetric(fastest, "best-ns")
		for metric, other := range others {
			b.ReportMetric(other/fastest, metric)
		}
	})
	return fastest
}

// best returns the nanoseconds of a call in the fastest of 50 rounds of at least 50 microseconds.
func best(call func()) float64 {
	fastest := math.Inf(1)
	for calls, round := 1, 0; round < 50; {
		start := time.Now()
		for range calls {
			call()
		}
		took := time.Since(start)
		if took < 50*time.Microsecond {
			calls *= 2
			continue
		}
		fastest = min(fastest, float64(took)/float64(calls))
		round++
	}
	return fastest
}

func parse(b *testing.B, timer string) calendar.Schedule {
	s, err := calendar.Parse(timer)
	if err != nil {
		b.Fatal(err)
	}
	return s
}
