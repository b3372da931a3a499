//go:build linux

package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/audit"
	"github.com/nextrun/nextrun/bench/internal/must"
)

// chaos is a run on one database.
type chaos struct {
	settings
	database string
	clocks   bool // those of the processes are not that of the database
	dir      string
	base     faulty
	ledger   *ledger
	fleet    *fleet
	editor   *editor
	found    audit.Findings
}

// random is the source of the n-th part of the run.
func (c *chaos) random(n uint64) *rand.Rand { return rand.New(rand.NewPCG(c.seed, n)) }

// run panics by must.Nil.
func (c *chaos) run(ctx context.Context) {
	say("%s, seed %d: %d instances, %d tasks, %s", c.database, c.seed, c.instances, c.tasks, c.duration)
	c.ledger = newLedger()
	defer c.ledger.server.Close() //nolint:errcheck // it ends all calls
	if c.database == "postgres" {
		c.clocks, c.base = true, newCluster(ctx, c.dir, c.instances, c.ledger)
	} else {
		c.base = newFile(c.dir)
	}
	defer c.base.close()
	say("building nextrun for %s", c.database)
	c.fleet = newFleet(ctx, c)
	must.Nil(c.fleet.once(ctx, c.fleet.programs[0], "migrate", "up"))
	queues := []string{"mail"}
	if c.database == "postgres" {
		queues = []string{"mail", "river"}
		c.ledger.startRiver(ctx, c.base.url(c.instances))
	}
	must.Nil(execute(ctx, c.base.handle(), audit.Tables(c.database)))
	c.editor = newEditor(ctx, c.base.handle, c.random(1), c.tasks, queues)

	alive, kill := context.WithCancel(ctx)
	var others sync.WaitGroup
	others.Go(func() { c.fleet.keep(alive) })
	others.Go(func() { c.ledger.deliver(alive, c.base.handle) })
	end := func() { kill(); c.fleet.kill(); others.Wait() }
	defer end()
	must.Nil(await(ctx, c.base.handle, time.Minute, "SELECT CASE WHEN EXISTS (SELECT 1 FROM periodic_tick) THEN 0 ELSE 1 END"))
	begin := time.Now()
	faults := c.torture(ctx)
	took := time.Since(begin)
	say("%s: %d faults; now all may recover", c.database, len(faults))
	c.settle(ctx)
	end()
	say("%s: accounting", c.database)
	c.ledger.mu.Lock() // nothing is noted any more
	facts := audit.Read(ctx, c.base.handle(), c.ledger.seen)
	facts.Audit(&c.found)
	c.report(ctx, begin, took, faults)
}

// torture makes faults for the duration of the run, in several lanes, while tasks are edited.
func (c *chaos) torture(ctx context.Context) (list []fault) {
	working, stop := context.WithCancel(ctx)
	ctx, cancel := context.WithTimeout(ctx, c.duration)
	defer cancel()
	var mu sync.Mutex
	note := func(f fault) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, f)
		say("%-34s %-12s %5.1f s %s", f.kind, f.on, f.end.Sub(f.begin).Seconds(), f.problem)
	}
	lanes := c.base.lanes()
	for range max(1, c.instances/3) {
		lanes = append(lanes, c.fleet.kinds(c.clocks))
	}
	var all, editing sync.WaitGroup
	for i, kinds := range lanes {
		kinds = slices.DeleteFunc(kinds, func(k kind) bool { return !c.only.MatchString(k.name) })
		all.Go(func() { makeFaults(ctx, c.random(10+uint64(i)), kinds, note) })
	}
	if c.upgrade {
		all.Go(func() { c.fleet.upgrade(ctx, c.duration) })
	}
	editing.Go(func() { c.editor.work(working) })
	<-ctx.Done()
	all.Wait()
	stop()
	editing.Wait()
	return list
}

// patience is how long all may take to be on time again after the last fault.
const patience = 3 * time.Minute

// settle ends all faults, waits until everything is on time, lets nextrun check --guarantees look, and then ends the tasks and waits for
// what is under way.
func (c *chaos) settle(ctx context.Context) {
	c.base.heal(ctx)
	c.editor.lift(ctx)
	recovered := func(what, query string) {
		if err := await(ctx, c.base.handle, patience, query); err != nil {
			c.found.Add("it did not recover", what, "%v", err)
		}
	}
	open := "SELECT count(*) FROM job WHERE state IN ('waiting', 'scheduled', 'running', 'stuck')"
	recovered("tasks are overdue", "SELECT count(*) FROM periodic_health WHERE overdue IS NOT NULL")
	recovered("jobs of a minute ago have not ended", open+" AND submitted < "+stamp(time.Now().Add(-time.Minute)))
	if c.database == "postgres" {
		recovered("connections are not given back", "SELECT count(*) / 70 FROM pg_stat_activity WHERE usename = 'nextrun'") // 80 may be
	}
	for _, program := range c.fleet.programs {
		if err := c.fleet.once(ctx, program, "check", "--guarantees", "--timeout", "5m"); err != nil {
			c.found.Add("nextrun check --guarantees", "", "%v", err)
		}
	}
	c.editor.end(ctx)
	recovered("jobs have not ended", open)
	recovered("letters were not delivered", "SELECT count(*) FROM letter WHERE state NOT IN ('done', 'success', 'failed', 'cancelled')")
	recovered("their outcomes are not recorded", "SELECT count(*) FROM periodic_open")
	recovered("events were not published", "SELECT count(*) FROM outbox_message WHERE published IS NULL")
	must.Nil(ctx.Err())
}
