//go:build unix

// Package crash runs nextrun in a process of a test's own program, which kills itself at the step
// that the test names. Its steps are those of the driver: the begin of a transaction, a
// statement that comes next, a commit that comes next, and one that is done. To end after a
// statement is the same as to end before the next one.
package crash

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/cli"
	"github.com/nextrun/nextrun/store/internal/connect"
	"github.com/nextrun/nextrun/store/internal/dburl"
)

// variable says that the process is nextrun, and where it kills itself.
const variable = "NEXTRUN_TEST_CRASH"

// Steps is what the process writes to standard error before the number of its steps when it ends by itself.
const Steps = "crash: steps: "

// Place says at which of its steps something happens to a process. 0 is none.
type Place struct {
	Step int // at which it is killed, as by SIGKILL
	Last int // at which it is asked to end, as by SIGTERM
}

// Command is nextrun with arguments in a process of this program, whose TestMain calls [Main].
func Command(at Place, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...) //nolint:gosec // this test program itself
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", variable, at.Step, at.Last))
	return c
}

// Main runs nextrun in place of tests if the process is one of [Command].
func Main() {
	text, is := os.LookupEnv(variable)
	if !is {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	at := &counter{cancel: cancel}
	if _, err := fmt.Sscan(text, &at.Step, &at.Last); err != nil {
		panic(err)
	}
	for _, system := range []sqldb.System{sqldb.Postgres, sqldb.SQLite} {
		driver, err := connect.DriverOf(system)
		if err != nil {
			panic(err)
		}
		driver.Open = at.open
		connect.Register(system, driver)
	}
	exit := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	fmt.Fprintf(os.Stderr, "%s%d\n", Steps, at.made.Load())
	os.Exit(exit)
}

// counter counts the steps of the process.
type counter struct {
	Place
	cancel context.CancelFunc
	made   atomic.Int64
}

// step is the next one.
func (c *counter) step() {
	n := int(c.made.Add(1))
	if n == c.Last {
		c.cancel()
	}
	if n != c.Step {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // it may take a moment
}

// open opens a pool with steps, and has nextrun use it.
func (c *counter) open(ctx context.Context, u dburl.URL, o sqldb.Options) (*sqldb.DB, error) {
	name, source := "sqlite3", fmt.Sprintf("file:%s?_journal_mode=WAL&_foreign_keys=on&_busy_timeout=%d", u.SQLite, o.WithDefaults().LockTimeout.Milliseconds())
	if u.Postgres != nil {
		at := *u.Postgres
		q := at.Query()
		q.Set("idle_in_transaction_session_timeout", strconv.FormatInt(o.WithDefaults().IdleTimeout.Milliseconds(), 10))
		at.RawQuery = q.Encode()
		name, source, o.ListenURL = "postgres", at.String(), u.Postgres.String()
	}
	plain, err := sql.Open(name, source)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector{plain.Driver(), source, c.step})
	if u.Postgres != nil {
		pool.SetMaxOpenConns(o.WithDefaults().MaxConns)
	}
	return connect.Adopt(ctx, pool, o)
}
