package scheduler

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/reasons"
	"github.com/nextrun/nextrun/periodic"
)

// Why ticks were not decided in time is said as far as this scheduler knows, and not more.
func TestDelayed(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 3, 10, 12, minute, 0, 0, time.UTC) }
	began := func(d *delayed) { d.began = at(10) }
	for name, c := range map[string]struct {
		before func(*delayed)
		due    int
		want   string
	}{
		"this scheduler has not begun":         {func(*delayed) {}, 20, ""},
		"it was due before this scheduler ran": {began, 5, ""},
		"this scheduler ran":                   {began, 20, reasons.DelayUnknown},
		"its row is locked": {func(d *delayed) {
			began(d)
			d.add(delay{"t", "locked", at(20).Add(3 * time.Second), time.Time{}})
		}, 20, "locked"},
		"its row was locked":                        {func(d *delayed) { began(d); d.add(delay{"t", "locked", at(20), at(25)}) }, 22, "locked"},
		"its row was locked only before":            {func(d *delayed) { began(d); d.add(delay{"t", "locked", at(20), at(25)}) }, 26, reasons.DelayUnknown},
		"its row was locked only later":             {func(d *delayed) { began(d); d.add(delay{"t", "locked", at(30), time.Time{}}) }, 20, reasons.DelayUnknown},
		"the row of a task without an id is locked": {func(d *delayed) { began(d); d.add(delay{"", "locked", at(20), time.Time{}}) }, 20, reasons.DelayUnknown},
		"the row of another task is locked":         {func(d *delayed) { began(d); d.add(delay{"u", "locked", at(20), time.Time{}}) }, 20, reasons.DelayUnknown},
		"the database was away":                     {func(d *delayed) { began(d); d.add(delay{ofAll, "no database", at(20), at(25)}) }, 21, "no database"},
		"the database was away at the start":        {func(d *delayed) { d.add(delay{ofAll, "no database", at(5), at(10)}); began(d) }, 7, "no database"},
		"the database went away again and again": {func(d *delayed) {
			began(d)
			for m := 20; m < 50; m++ {
				d.add(delay{ofAll, "no database", at(m), at(m + 1)})
			}
		}, 21, "no database"},
		"the sink was broken": {func(d *delayed) {
			began(d)
			d.clock.set(at(25), time.Now())
			d.add(delay{of: ofSink(periodic.SinkJob), cause: "no table"})
			d.over(ofSink(periodic.SinkJob))
		}, 21, "no table"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &delayed{clock: &clock{}}
			c.before(d)
			if got := d.missedBecause(&periodic.Task{ID: "t", Sink: periodic.SinkJob, Due: at(c.due), NextRun: at(c.due)}); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
