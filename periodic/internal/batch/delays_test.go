package batch

import (
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/periodic/task"
)

// Why ticks were not decided in time is said as far as this scheduler knows, and not more.
func TestDelays(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 3, 10, 12, minute, 0, 0, time.UTC) }
	began := func(d *Delays) { d.Began(at(10)) }
	for name, c := range map[string]struct {
		before func(*Delays)
		due    int
		want   string
	}{
		"this scheduler has not begun":         {func(*Delays) {}, 20, ""},
		"it was due before this scheduler ran": {began, 5, ""},
		"this scheduler ran":                   {began, 20, task.DelayUnknown},
		"its row is locked":                    {func(d *Delays) { began(d); d.Locked(Key("t"), "pid 7", at(20).Add(3*time.Second)) }, 20, "its row was locked by pid 7"},
		"its row was locked":                   {func(d *Delays) { began(d); d.Locked(Key("t"), "pid 7", at(20)); d.Free(Key("t"), at(25)) }, 22, "its row was locked by pid 7"},
		"its row was locked only before":       {func(d *Delays) { began(d); d.Locked(Key("t"), "pid 7", at(20)); d.Free(Key("t"), at(25)) }, 26, task.DelayUnknown},
		"its row was locked only later":        {func(d *Delays) { began(d); d.Locked(Key("t"), "pid 7", at(30)) }, 20, task.DelayUnknown},
		"the row of another task is locked":    {func(d *Delays) { began(d); d.Locked(Key("u"), "pid 7", at(20)) }, 20, task.DelayUnknown},
		"the database was away":                {func(d *Delays) { began(d); d.Stood("no database", at(20), at(25)) }, 21, "no database"},
		"the database was away at the start":   {func(d *Delays) { d.Stood("no database", at(5), at(10)); began(d) }, 7, "no database"},
		"the database went away again and again": {func(d *Delays) {
			began(d)
			for m := 20; m < 50; m++ {
				d.Stood("no database", at(m), at(m+1))
			}
		}, 21, "no database"},
		"the sink was broken": {func(d *Delays) {
			began(d)
			d.Failed("job", errors.New("no table"))
			d.Over("job", at(25))
		}, 21, `its sink "job" could not be used: no table`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &Delays{}
			c.before(d)
			if got := d.why(&task.Task{ID: "t", Sink: task.SinkJob, Due: at(c.due), NextRun: at(c.due)}); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
