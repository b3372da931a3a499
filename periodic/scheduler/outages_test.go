package scheduler

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/reasons"
)

// Why ticks were not decided in time is said as far as this scheduler knows, and not more.
func TestOutages(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 3, 10, 12, minute, 0, 0, time.UTC) }
	began := func(d *outages) { d.began = at(10) }
	for name, c := range map[string]struct {
		before func(*outages)
		due    int
		want   string
	}{
		"this scheduler has not begun":         {func(*outages) {}, 20, ""},
		"it was due before this scheduler ran": {began, 5, ""},
		"this scheduler ran":                   {began, 20, reasons.DelayUnknown},
		"the database was away":                {func(d *outages) { began(d); d.add(outage{ofAll, "no database", at(20), at(25)}) }, 21, "no database"},
		"the database was away at the start":   {func(d *outages) { d.add(outage{ofAll, "no database", at(5), at(10)}); began(d) }, 7, "no database"},
		"the database went away again and again": {func(d *outages) {
			began(d)
			for m := 20; m < 50; m++ {
				d.add(outage{ofAll, "no database", at(m), at(m + 1)})
			}
		}, 21, "no database"},
		"the sink was broken": {func(d *outages) {
			began(d)
			d.add(outage{of: ofSink(periodic.SinkJob), cause: "no table"})
			d.over(ofSink(periodic.SinkJob), at(25))
		}, 21, "no table"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &outages{}
			c.before(d)
			if got := d.of(&periodic.Task{ID: "t", Sink: periodic.SinkJob, Due: at(c.due), NextRun: at(c.due)}); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
