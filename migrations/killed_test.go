//go:build crashpoints && linux

package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// killable builds nextrun with its crash points, unless NEXTRUN_CRASH_PROGRAM names it.
var killable = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("NEXTRUN_CRASH_PROGRAM"); given != "" {
		return given, nil
	}
	dir, err := os.MkdirTemp("", "nextrun-migrations-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "nextrun")
	out, err := exec.Command("go", "build", "-tags", "crashpoints", "-o", binary, "../cmd/nextrun").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
})

// stepsOfMigrations are the points at which a migration can end. To be killed after a
// statement is the same as to be killed before the next.
var stepsOfMigrations = []string{"database/begun", "database/statement-next", "database/commit-next", "database/commit-done"}

// TestMigrationsAreKilled kills `migrate up` on an empty database and `migrate down` on one
// with rows, at each statement. The program then goes on, or goes back.
// NEXTRUN_CRASH_EACH=10 does so at every tenth statement only.
func TestMigrationsAreKilled(t *testing.T) {
	binary, err := killable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("NEXTRUN_CRASH_PROGRAM") == "" {
		t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(binary)) })
	}
	each, seed := crashSetting(t, "NEXTRUN_CRASH_EACH", 1), crashSetting(t, "NEXTRUN_CRASH_SEED", int(time.Now().Unix()%1_000_000))
	var total atomic.Int64
	t.Cleanup(func() { t.Logf("seed %d: killed %d times", seed, total.Load()) })
	for version := int64(0); version <= 1; version++ {
		for _, kind := range crashKinds(int(version) + seed) {
			t.Run(fmt.Sprintf("%d/%s", version, kind), func(t *testing.T) {
				t.Parallel()
				k := &kills{binary: binary, kind: kind, version: version, each: each, rng: rand.New(rand.NewPCG(uint64(seed), uint64(version))),
					origin: storetest.NewTemplate(func(url string) error { return fill(t, url, version) })}
				defer func() { _ = k.origin.Drop() }()
				defer func() { total.Add(int64(k.count)) }()
				k.empty = (&database{Database: storetest.New(t, kind)}).dump()
				k.all(t)
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
	binary  string
	kind    string
	version int64
	each    int
	rng     *rand.Rand
	origin  *storetest.Template
	empty   string // the schema without nextrun
	count   int
}

// all kills the command at each statement.
func (k *kills) all(t *testing.T) {
	command := []string{"migrate", "up"}
	if k.version > 0 {
		command = []string{"migrate", "down", "--yes"}
	}
	for _, point := range stepsOfMigrations {
		for visit, more := k.first(point), true; more && !t.Failed(); visit += k.each {
			where := fmt.Sprintf("kill:%s:%d", point, visit)
			t.Run(where, func(t *testing.T) { more = k.once(t, command, where, k.count%2 == 0) }) // which drops its database at once
		}
	}
	t.Logf("killed %d times", k.count)
}

// first is the visit of a point to begin with: any of those that are left out otherwise, and
// of transactions, of which there are few, one of the first.
func (k *kills) first(point string) int {
	if point == "database/statement-next" {
		return 1 + k.rng.IntN(k.each)
	}
	return 1 + k.rng.IntN(min(k.each, 4))
}

// once kills a command, then lets the program migrate up, or go back first. It reports whether
// the command came to the point before it was done with the next migration.
func (k *kills) once(t *testing.T, command []string, where string, goesOn bool) bool {
	t.Helper()
	db := open(k.origin.New(t, k.kind))
	defer func() { _ = db.SQL.Close() }()
	kill := k.command(db, command...)
	kill.Env = append(kill.Env, "NEXTRUN_CRASHPOINT="+where)
	out, err := kill.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		if err != nil {
			t.Errorf("%s: %v\n%s", where, err, out)
		}
		return false
	}
	k.count++
	version, err := db.m.Version(t.Context())
	if err != nil {
		t.Errorf("%s: %v", where, err)
	}
	if !goesOn {
		k.must(t, db, where, "migrate", "down", "--yes")
		if rest := db.dump(); rest != k.empty {
			t.Errorf("%s: migrate down left something behind:\n%s", where, rest)
		}
	}
	k.must(t, db, where, "migrate", "up")
	k.must(t, db, where, "migrate", "status") // exit code 1 if anything differs
	k.must(t, db, where, "check")
	if goesOn && version > 0 && command[1] == "down" {
		db.want("1", "SELECT count(*) FROM job WHERE jid = 'kept'")
	}
	return command[1] == "down" || version <= k.version
}

func (k *kills) command(db *database, args ...string) *exec.Cmd {
	c := exec.Command(k.binary, args...)
	c.Env = append(os.Environ(), "NEXTRUN_DB="+db.URL)
	return c
}

func (k *kills) must(t *testing.T, db *database, where string, args ...string) {
	t.Helper()
	if out, err := k.command(db, args...).CombinedOutput(); err != nil {
		t.Errorf("%s: then %v: %v\n%s", where, args, err, out)
	}
}
