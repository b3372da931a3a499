//go:build crashpoints && linux

package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/crash"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// A process that is to be killed runs the program in place of the tests.
func init() { crash.Main() } //nolint:gochecknoinits // TestMain is in a file that knows nothing of it

// TestMigrationsAreKilled kills `migrate up` on an empty database and `migrate down` on one
// with rows, at each step of the driver. The program then goes on, or goes back.
// NEXTRUN_CRASH_EACH=10 does so at every tenth step only.
func TestMigrationsAreKilled(t *testing.T) {
	each, seed := crashSetting(t, "NEXTRUN_CRASH_EACH", 1), crashSetting(t, "NEXTRUN_CRASH_SEED", int(time.Now().Unix()%1_000_000))
	for version := int64(0); version <= 1; version++ {
		for _, kind := range crashKinds(int(version) + seed) {
			t.Run(fmt.Sprintf("%d/%s", version, kind), func(t *testing.T) {
				t.Parallel()
				k := &kills{kind: kind, version: version, origin: storetest.NewTemplate(func(url string) error { return fill(t, url, version) })}
				defer func() { _ = k.origin.Drop() }()
				k.empty = (&database{Database: storetest.New(t, kind)}).dump()
				k.all(t, 1+seed%each, each)
			})
		}
	}
}

// crashSetting is a number of the environment.
func crashSetting(t *testing.T, name string, value int) int {
	t.Helper()
	if text := os.Getenv(name); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s is %q: %v", name, text, err)
		}
		return n
	}
	return value
}

// crashKinds are the databases on which to kill: both, that of
// NEXTRUN_CRASH_DATABASE, or one after the other if it is "alternate".
func crashKinds(n int) []string {
	all := []string{storetest.SQLite, storetest.Postgres}
	switch one := os.Getenv("NEXTRUN_CRASH_DATABASE"); one {
	case "":
		return all
	case "alternate":
		return all[n%2:][:1]
	default:
		return []string{one}
	}
}

// fill makes the schema with rows in it, in an empty database, or leaves it empty for version 0.
func fill(t *testing.T, url string, version int64) error {
	db, err := store.Open(context.Background(), url, store.Options{Create: true})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	made := &database{Database: storetest.At(t, url), m: migrations.Of(db)}
	if version > 0 {
		made.up()
		made.exec("INSERT INTO periodic_task (id, task, timer) VALUES ('kept', 'x', 'daily'); INSERT INTO job (jid, task) VALUES ('kept', 'x')")
	}
	return made.SQL.Close() // of which the template is copied
}

// kills are those of migrate up at version 0, and of migrate down at version 1.
type kills struct {
	kind    string
	version int64
	origin  *storetest.Template
	empty   string // the schema without nextrun
	count   int
}

// all kills the command at every so many steps.
func (k *kills) all(t *testing.T, first, each int) {
	command := []string{"migrate", "up"}
	if k.version > 0 {
		command = []string{"migrate", "down", "--yes"}
	}
	for step, more := first, true; more && !t.Failed(); step += each {
		t.Run(strconv.Itoa(step), func(t *testing.T) { more = k.once(t, command, step, k.count%2 == 0) }) // which drops its database at once
	}
	if t.Logf("killed %d times", k.count); k.count == 0 {
		t.Error("it was never killed")
	}
}

// once kills a command, then lets the program migrate up, or go back first. It reports whether
// the command came to the step.
func (k *kills) once(t *testing.T, command []string, step int, goesOn bool) bool {
	t.Helper()
	db := open(k.origin.New(t, k.kind))
	defer func() { _ = db.SQL.Close() }()
	out, err := run(db, step, command...)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return false
	}
	k.count++
	version, err := db.m.Version(t.Context())
	if err != nil {
		t.Error(err)
	}
	if !goesOn {
		must(t, db, "migrate", "down", "--yes")
		if rest := db.dump(); rest != k.empty {
			t.Errorf("migrate down left something behind:\n%s", rest)
		}
	}
	must(t, db, "migrate", "up")
	must(t, db, "migrate", "status") // exit code 1 if anything differs
	must(t, db, "check")
	if goesOn && version > 0 && k.version > 0 {
		db.want("1", "SELECT count(*) FROM job WHERE jid = 'kept'")
	}
	return true
}

// run runs a command that is killed at a step; 0: at none.
func run(db *database, step int, args ...string) ([]byte, error) {
	c := crash.Command(crash.Place{Step: step}, args...)
	c.Env = append(c.Env, "NEXTRUN_DB="+db.URL)
	return c.CombinedOutput()
}

func must(t *testing.T, db *database, args ...string) {
	t.Helper()
	if out, err := run(db, 0, args...); err != nil {
		t.Errorf("then %v: %v\n%s", args, err, out)
	}
}
