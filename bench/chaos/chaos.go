//go:build linux

package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/audit"
	"github.com/nextrun/nextrun/bench/chaos/internal/database"
	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
	"github.com/nextrun/nextrun/bench/chaos/internal/process"
	"github.com/nextrun/nextrun/bench/chaos/internal/world"
	"github.com/nextrun/nextrun/bench/internal/page"
)

// faulty is a database to which faults happen.
type faulty interface {
	URL(instance int) string // on a way that faults happen to; beyond the last instance: for who checks
	Handle() *sql.DB
	Lanes() [][]fault.Kind
	Heal(ctx context.Context) error
	Close()
}

// chaos is a run on one database.
type chaos struct {
	settings
	dialect  database.Dialect
	dir      string
	base     faulty
	ledger   *world.Ledger
	receiver *world.Receiver
	fleet    *process.Fleet
	editor   *world.Editor
}

// random is the source of the n-th part of the run.
func (c *chaos) random(n uint64) *rand.Rand { return rand.New(rand.NewPCG(c.seed, n)) }

func (c *chaos) run(ctx context.Context) (*report, error) {
	say("%s, seed %d: %d instances, %d tasks, %s", c.dialect.Name, c.seed, c.instances, c.tasks, c.duration)
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	alive, kill := context.WithCancel(ctx)
	var others sync.WaitGroup
	others.Go(func() { c.fleet.Keep(alive) })
	others.Go(func() { world.NewPostman(c.base.Handle, c.ledger).Work(alive) })
	end := func() { kill(); c.fleet.Kill(); others.Wait() }
	defer end()
	ticked := "SELECT CASE WHEN EXISTS (SELECT 1 FROM periodic_tick) THEN 0 ELSE 1 END"
	if err := database.Await(ctx, c.base.Handle, time.Minute, ticked); err != nil {
		return nil, fmt.Errorf("the first tick: %w", err)
	}
	r := &report{settings: c.settings, kind: c.dialect.Name, begin: time.Now()}
	faults := c.makeFaults(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.took, r.load = time.Since(r.begin), page.Load()
	say("%s: %d faults; now all may recover", c.dialect.Name, len(faults))
	found, err := c.settle(ctx)
	if err != nil {
		return nil, err
	}
	end()
	return r, c.account(ctx, r, found, faults)
}

// prepare makes the database with its tasks, the receiver and the instances.
func (c *chaos) prepare(ctx context.Context) (err error) {
	if c.dialect.Name == database.SQLite.Name {
		c.base, err = database.NewFile(c.dir)
	} else {
		c.base, err = database.NewCluster(ctx, c.dir, c.instances)
	}
	if err != nil {
		return err
	}
	c.ledger = world.NewLedger()
	if c.receiver, err = world.NewReceiver(c.ledger); err != nil {
		return err
	}
	say("building nextrun for %s", c.dialect.Name)
	c.fleet, err = process.NewFleet(ctx, c.dir, c.receiver.URL(), c.instances, c.base.URL, c.dialect.OwnClock)
	if err != nil {
		return err
	}
	if out, err := c.fleet.Once(ctx, "migrate", "up"); err != nil {
		return fmt.Errorf("migrate up: %w\n%s", err, out)
	}
	if err := database.Exec(ctx, c.base.Handle(), c.dialect.Tables...); err != nil {
		return err
	}
	c.editor = world.NewEditor(c.base.Handle, c.random(2), c.dialect.Now, c.tasks)
	return world.Insert(ctx, c.base.Handle(), c.random(1), c.tasks)
}

// makeFaults lets faults happen for the duration of the run, in several lanes, while tasks are edited.
func (c *chaos) makeFaults(ctx context.Context) (list []fault.Fault) {
	working, stop := context.WithCancel(ctx)
	ctx, cancel := context.WithTimeout(ctx, c.duration)
	defer cancel()
	var mu sync.Mutex
	note := func(f fault.Fault) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, f)
		say("%-34s %-12s %5.1f s %s", f.Kind, f.On, f.End.Sub(f.Begin).Seconds(), f.Problem)
	}
	lanes := c.base.Lanes()
	for range max(1, c.instances/3) {
		lanes = append(lanes, c.fleet.Kinds(c.dialect.OwnClock))
	}
	var all, editing sync.WaitGroup
	for i, kinds := range lanes {
		all.Go(func() { fault.Run(ctx, c.random(10+uint64(i)), fault.Chosen(kinds, c.only), note) })
	}
	editing.Go(func() { c.editor.Work(working) })
	<-ctx.Done()
	all.Wait()
	stop()
	editing.Wait()
	return list
}

// account audits the run, and completes its report.
func (c *chaos) account(ctx context.Context, r *report, found *audit.Findings, faults []fault.Fault) error {
	if err := c.ledger.ReadFile(filepath.Join(c.dir, process.Effects)); err != nil {
		return err
	}
	facts, err := audit.Read(ctx, c.base.Handle(), c.ledger)
	if err != nil {
		return err
	}
	say("%s: accounting", c.dialect.Name)
	facts.Audit(found)
	for _, what := range c.fleet.Odd() {
		found.Add("a process", "", "%s", what)
	}
	r.edits, r.findings, r.faults = c.editor.Done(), found, facts.Recoveries(faults)
	return c.base.Handle().QueryRowContext(ctx, c.dialect.Version).Scan(&r.version)
}

func (c *chaos) close() (err error) {
	if c.receiver != nil {
		err = c.receiver.Close()
	}
	if c.base != nil {
		c.base.Close()
	}
	return err
}

// recoverWithin is how long all may take to be on time again after the last fault.
const recoverWithin = 3 * time.Minute

// settle ends all faults, waits until everything is on time, lets nextrun check --guarantees look, and then ends the tasks and waits for
// what is under way.
func (c *chaos) settle(ctx context.Context) (*audit.Findings, error) {
	if err := c.base.Heal(ctx); err != nil {
		return nil, fmt.Errorf("end the faults: %w", err)
	}
	c.fleet.Heal()
	found := audit.NewFindings()
	await := func(what, query string) {
		if err := database.Await(ctx, c.base.Handle, recoverWithin, query); err != nil {
			found.Add("it did not recover", what, "%v", err)
		}
	}
	open := "SELECT count(*) FROM job WHERE state IN ('waiting', 'scheduled', 'running', 'stuck')"
	await("tasks are overdue", "SELECT count(*) FROM periodic_health WHERE overdue IS NOT NULL")
	await("jobs of a minute ago have not ended", open+" AND submitted < "+c.dialect.MinuteAgo)
	out, err := c.fleet.Once(ctx, "check", "--guarantees", "--timeout", "5m")
	if out = strings.TrimSpace(out); err != nil {
		found.Add("nextrun check --guarantees", "", "%v\n%s", err, out)
	}
	say("nextrun check --guarantees: %s", out[strings.LastIndex(out, "\n")+1:])
	if err := c.endTasks(ctx); err != nil {
		return nil, fmt.Errorf("end the tasks: %w", err)
	}
	await("jobs have not ended", open)
	await("letters were not delivered", "SELECT count(*) FROM mail_queue WHERE state <> 'done'")
	await("events were not published", "SELECT count(*) FROM outbox_message WHERE published IS NULL")
	return found, ctx.Err()
}

// endTasks disables all tasks, as soon as the database lets it.
func (c *chaos) endTasks(ctx context.Context) error {
	for end := time.Now().Add(recoverWithin); ; fault.Wait(ctx, time.Second) {
		_, err := c.base.Handle().ExecContext(ctx, "UPDATE periodic_task SET enabled = false")
		if err == nil || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
	}
}
