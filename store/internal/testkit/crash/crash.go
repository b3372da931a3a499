//go:build linux

// Package crash runs nextrun in a process of a test's own program, which kills or stops itself at the
// step that the test names. Its steps are those of the driver: the begin of a transaction, a
// statement that comes next, a commit that comes next, and one that is done. To end after a
// statement is the same as to end before the next one. A step is named after itself and the one
// before it in the transaction, so that a place is found again in another process.
package crash

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"github.com/nextrun/nextrun"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/ops/cli"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/connect"
	"github.com/nextrun/nextrun/store/internal/dburl"
)

// variable says that the process is nextrun, and where what happens to it.
const variable = "NEXTRUN_TEST_CRASH"

// Steps is what a process that ends by itself writes to standard error before its steps, and how often it came there, as JSON.
const Steps = "crash: steps: "

// Place says at which of its steps a process gets a signal, SIGKILL or SIGSTOP.
type Place struct {
	Step   string
	Nth    int // time that the process comes there; 0: never
	Signal syscall.Signal
}

// Embedded is a command that nextrun does not have: it does what a program does that embeds nextrun, and declares the
// tasks of a file at its start.
const Embedded = "embedded"

// Command is nextrun with arguments in a process of this program, whose TestMain calls [Main].
func Command(at Place, args ...string) *exec.Cmd {
	text, _ := json.Marshal(at)            // cannot fail
	c := exec.Command(os.Args[0], args...) //nolint:gosec // this test program itself
	c.Env = append(os.Environ(), variable+"="+string(text))
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // one that has stopped would stay
	return c
}

// Main runs nextrun in place of tests if the process is one of [Command].
func Main() {
	text, is := os.LookupEnv(variable)
	if !is {
		return
	}
	ctx, at := context.Background(), &counter{made: map[string]int{}}
	if err := json.Unmarshal([]byte(text), &at.Place); err != nil {
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
	exit := 0
	if os.Args[1] != Embedded {
		exit = cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	} else if err := embedded(ctx, os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		exit = 1
	}
	steps, _ := json.Marshal(at.made)
	fmt.Fprintf(os.Stderr, "%s%s\n", Steps, steps)
	os.Exit(exit)
}

func embedded(ctx context.Context, path string) error {
	text, err := os.ReadFile(path) //nolint:gosec // the test names it
	if err != nil {
		return err
	}
	file, err := config.ParseTasks(path, text)
	if err != nil {
		return err
	}
	s, err := nextrun.Start(ctx, nextrun.Config{Name: "shop", URL: os.Getenv("NEXTRUN_DB"), Migrate: true,
		Declare: periodic.Apply{Tasks: file.Tasks, Calendars: file.Calendars, Prune: periodic.PruneDelete}})
	if err != nil {
		return err
	}
	return s.Stop(ctx)
}

// counter counts the steps of the process.
type counter struct {
	Place
	mu   sync.Mutex
	made map[string]int
}

// step is the next one.
func (c *counter) step(step string) {
	c.mu.Lock()
	c.made[step]++
	here := step == c.Step && c.made[step] == c.Nth
	c.mu.Unlock()
	if !here {
		return
	}
	_ = syscall.Tgkill(os.Getpid(), syscall.Gettid(), c.Signal) // to this thread, so that it does not run on for a moment
	if c.Signal == syscall.SIGKILL {
		select {}
	}
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
