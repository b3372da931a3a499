//go:build crashpoints && linux

package crash_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/program"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/internal/testkit/crash"
)

// files declare tasks: those before, those of a process to which something happens, and those of one that comes meanwhile.
var files = []string{`
tasks: {same: {handler: x, timer: daily}, other: {handler: x, timer: daily, exclude_calendars: off}, gone: {handler: x, timer: daily}}
calendars: {off: {2030-01-01: , 2030-05-01: }}`, `
tasks: {same: {handler: x, timer: daily}, other: {handler: x, timer: hourly, exclude_calendars: off}, new: {handler: x, timer: daily}}
calendars: {off: {2030-01-01: , 2030-12-25: Christmas}}`, `
tasks: {same: {handler: x, timer: weekly}, new: {handler: y, timer: daily}}
calendars: {off: {2031-01-01: }}`}

// TestApplyIsCutShort kills or stops a process that declares tasks, at its steps. If it was stopped, another one declares
// its own before it goes on. The tables are always as one of the files says, and to declare again makes them right.
func TestApplyIsCutShort(t *testing.T) {
	for i, command := range []string{"task apply --origin shop --prune delete -f", crash.Embedded} {
		for _, kind := range kinds(i) {
			t.Run(strings.Fields(command)[0]+"/"+kind, func(t *testing.T) {
				t.Parallel()
				d := declarations{migrated.New(t, kind).Database, t.TempDir(), strings.Fields(command)}
				d.Exec("INSERT INTO periodic_task (id, task, timer, origin) VALUES ('apart', 'x', 'daily', 'another')")
				var whole *program.Process
				var states []string
				for n := range files {
					whole = d.declare(n)
					states = append(states, d.state())
				}
				list := append(places(t, whole, syscall.SIGKILL), places(t, whole, syscall.SIGSTOP)...)
				t.Logf("cut short at %d places", len(list))
				for _, at := range list {
					d.declare(0)
					d.cutShort(at, states)
					if d.declare(1); d.state() != states[1] || t.Failed() {
						t.Fatalf("%+v, then declared again: %s", at, d.state())
					}
				}
			})
		}
	}
}

// declarations is a database whose tasks a command declares.
type declarations struct {
	*storetest.Database
	dir     string
	command []string
}

func (d *declarations) start(file int, at crash.Place) *program.Process {
	d.Helper()
	path := filepath.Join(d.dir, strconv.Itoa(file))
	if err := os.WriteFile(path, []byte(files[file]), 0o600); err != nil {
		d.Fatal(err)
	}
	return start(d.Database, at, nil, append(slices.Clone(d.command), path)...)
}

// declare declares the tasks of a file.
func (d *declarations) declare(file int) *program.Process {
	d.Helper()
	p := d.start(file, crash.Place{})
	if p.End() != 0 {
		d.Fatalf("declaring the tasks of file %d failed:\n%s", file, p.Said())
	}
	return p
}

// cutShort has something happen to a process that declares the tasks of file 1, and the tables be as one of the files says.
func (d *declarations) cutShort(at crash.Place, states []string) {
	d.Helper()
	p, after := d.start(1, at), 0
	storetest.Eventually(d, "the step of the process, or its end", func() bool { return p.Ended() || stopped(p) })
	if !p.Ended() {
		if d.start(2, crash.Place{}).End() == 0 { // otherwise the first one kept it waiting for too long
			after = 1
		}
		p.Signal(syscall.SIGCONT)
	}
	if p.End() == 0 {
		after = 1
	}
	if is := slices.Index(states, d.state()); is < after {
		d.Errorf("the tables are as file %d says: %s", is, d.state())
	}
}

// state is what the tables say of tasks and calendars, without the plans.
func (d *declarations) state() string {
	d.Helper()
	var lines []string
	if err := d.SQL.Select(&lines, `SELECT id || ' ' || task || ' ' || timer || ' ' || origin || coalesce(' ' || exclude_calendars, '') FROM periodic_task
		UNION ALL SELECT name || ' ' || CAST(first_day AS varchar) || coalesce(' ' || reason, '') FROM periodic_calendar ORDER BY 1`); err != nil {
		d.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
