//go:build linux

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/database"
	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
	"github.com/nextrun/nextrun/bench/chaos/internal/ledger"
	"github.com/nextrun/nextrun/bench/chaos/internal/postgres"
	"github.com/nextrun/nextrun/bench/chaos/internal/process"
	"github.com/nextrun/nextrun/bench/chaos/internal/report"
	"github.com/nextrun/nextrun/bench/chaos/internal/sqlite"
	"github.com/nextrun/nextrun/bench/chaos/internal/workload"
	"github.com/nextrun/nextrun/bench/internal/page"
)

// faulty is a database to which faults happen.
type faulty interface {
	URL(instance int) string // for an instance, on a way that faults happen to
	QuietURL() string        // for who checks
	Handle() *sql.DB
	Kinds() []fault.Kind // one after the other
	Aside() []fault.Kind // beside them
	Unmade() []string
	Describe(ctx context.Context) string
	Heal(ctx context.Context) error
	Close()
}

// chaos is a run on one database.
type chaos struct {
	settings
	dialect      database.Dialect
	program, dir string
	base         faulty
	ledger       *ledger.Ledger
	receiver     *ledger.Receiver
	fleet        process.Fleet
	diary        fault.Diary
	editor       *workload.Editor
}

func newChaos(s settings, d database.Dialect, program, dir string) *chaos {
	return &chaos{settings: s, dialect: d, program: program, dir: dir, ledger: ledger.New()}
}

// random is the source of the n-th part of the run.
func (c *chaos) random(n uint64) *rand.Rand { return rand.New(rand.NewPCG(c.seed, n)) }

func (c *chaos) run(ctx context.Context) (_ *report.Result, err error) {
	say("%s, seed %d: %d instances, %d tasks, %s", c.dialect.Name, c.seed, c.instances, c.tasks, c.duration)
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	alive, kill := context.WithCancel(ctx)
	var processes sync.WaitGroup
	processes.Go(func() { c.fleet.Keep(alive) })
	postman := ledger.NewPostman(c.base.Handle, c.ledger)
	processes.Go(func() { postman.Work(alive) })
	end := func() { kill(); c.fleet.Kill(); processes.Wait() }
	defer end()
	if err := database.Until(ctx, c.base.Handle(), time.Minute, "SELECT count(*) > 0 FROM periodic_tick"); err != nil {
		return nil, err
	}
	r := &report.Result{Begin: time.Now()}
	c.torment(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.Seconds = time.Since(r.Begin).Seconds()
	r.Load = page.Load()
	say("%s: %d faults; now all may recover", c.dialect.Name, len(c.diary.All()))
	found, err := c.settle(ctx)
	if err != nil {
		return nil, err
	}
	end()
	if err := c.account(ctx, r, found); err != nil {
		return nil, err
	}
	return r, nil
}

// prepare makes the database with its tasks, the receiver and the instances.
func (c *chaos) prepare(ctx context.Context) (err error) {
	if err := os.MkdirAll(c.dir, 0o755); err != nil { //nolint:gosec // the server may run as another user, who has to pass
		return err
	}
	if err := c.createDatabase(ctx); err != nil {
		return err
	}
	if err := workload.Insert(ctx, c.base.Handle(), c.random(1), c.tasks); err != nil {
		return err
	}
	if c.receiver, err = ledger.NewReceiver(c.ledger); err != nil {
		return err
	}
	if err := process.Configure(c.dir, c.receiver.URL(), c.effects()); err != nil {
		return err
	}
	c.editor = workload.NewEditor(c.base.Handle, c.random(2), c.dialect.Now, c.tasks)
	c.fleet, err = process.NewFleet(c.instances, c.program, c.dir, c.base.URL)
	return err
}

// createDatabase makes a database with all tables, and without a task.
func (c *chaos) createDatabase(ctx context.Context) error {
	if c.dialect.Name == database.SQLite.Name {
		lite, err := sqlite.New(c.dir)
		if err != nil {
			return err
		}
		c.base = lite
	} else {
		pg, err := postgres.New(ctx, c.dir, c.instances)
		if err != nil {
			return err
		}
		c.base = pg
	}
	if out, err := c.nextrun(ctx, "migrate", "up"); err != nil {
		return fmt.Errorf("migrate up: %w\n%s", err, out)
	}
	if err := database.Exec(ctx, c.base.Handle(), c.dialect.Tables...); err != nil {
		return err
	}
	return database.Exec(ctx, c.base.Handle(), "DELETE FROM chaos_change")
}

func (c *chaos) effects() string { return filepath.Join(c.dir, "effects") }

// nextrun runs the program once.
func (c *chaos) nextrun(ctx context.Context, args ...string) (string, error) {
	return process.Once(ctx, c.program, c.dir, c.base.QuietURL(), args...)
}

// torment lets faults happen for the duration of the run, in several lanes.
func (c *chaos) torment(ctx context.Context) {
	working, stop := context.WithCancel(ctx)
	ctx, cancel := context.WithTimeout(ctx, c.duration)
	defer cancel()
	lanes := []*fault.Lane{
		{Kinds: c.base.Kinds(), Pause: fault.Between(2*time.Second, 9*time.Second)},
		{Kinds: c.base.Aside(), Pause: fault.Between(3*time.Second, 12*time.Second)},
	}
	for range max(1, c.instances/3) {
		lanes = append(lanes, &fault.Lane{Kinds: c.fleet.Kinds(c.dialect.OwnClock), Pause: fault.Between(3*time.Second, 14*time.Second)})
	}
	var all, others sync.WaitGroup
	for i, l := range lanes {
		l.Kinds, l.Random, l.Ended = fault.Matching(l.Kinds, c.only), c.random(10+uint64(i)), c.note
		all.Go(func() { l.Run(ctx) })
	}
	others.Go(func() { c.editor.Work(working) })
	<-ctx.Done()
	all.Wait()
	stop()
	others.Wait()
}

// note notes a fault, and says it.
func (c *chaos) note(f fault.Fault) {
	c.diary.Add(f)
	say("%-34s %-12s %5.1f s %s", f.Kind, f.On, f.End.Sub(f.Begin).Seconds(), f.Error)
}

// close removes everything, and keeps the logs if that is asked for.
func (c *chaos) close() (err error) {
	if c.keep != "" {
		err = os.CopyFS(filepath.Join(c.keep, fmt.Sprintf("%s-%d-%d", c.dialect.Name, c.seed, time.Now().Unix())), logsOf(c.dir))
	}
	if c.receiver != nil {
		err = errors.Join(err, c.receiver.Close())
	}
	if c.base != nil {
		c.base.Close()
	}
	return err
}
