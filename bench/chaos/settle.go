//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/audit"
	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
	"github.com/nextrun/nextrun/bench/chaos/internal/report"
)

// recoverWithin is how long all may take to be on time again after the last fault.
const recoverWithin = 3 * time.Minute

// settle ends all faults, waits until everything is on time, lets nextrun check --guarantees look, and then ends the tasks and waits for
// what is under way.
func (c *chaos) settle(ctx context.Context) (*audit.Findings, error) {
	found := &audit.Findings{}
	if err := c.base.Heal(ctx); err != nil {
		return nil, fmt.Errorf("end the faults: %w", err)
	}
	c.fleet.Heal()
	c.await(ctx, found, "tasks are overdue", "SELECT count(*) FROM periodic_health WHERE overdue IS NOT NULL")
	c.await(ctx, found, "jobs of a minute ago have not ended",
		"SELECT count(*) FROM job WHERE state IN ('waiting', 'scheduled', 'running', 'stuck') AND submitted < "+c.dialect.Ago(60))
	if out, err := c.nextrun(ctx, "check", "--guarantees", "--timeout", "5m"); err != nil {
		found.Add("nextrun check --guarantees", "", "%v\n%s", err, out)
	} else {
		say("nextrun check --guarantees: %s", lastLine(out))
	}
	if err := c.endTasks(ctx); err != nil {
		return nil, fmt.Errorf("end the tasks: %w", err)
	}
	c.await(ctx, found, "jobs have not ended", "SELECT count(*) FROM job WHERE state IN ('waiting', 'scheduled', 'running', 'stuck')")
	c.await(ctx, found, "letters were not delivered", "SELECT count(*) FROM mail_queue WHERE state <> 'done'")
	c.await(ctx, found, "events were not published", "SELECT count(*) FROM outbox_message WHERE published IS NULL")
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

// await waits until a query says 0, and reports if it does not.
func (c *chaos) await(ctx context.Context, found *audit.Findings, what, query string) {
	var n int
	var err error
	begin := time.Now()
	for ctx.Err() == nil && time.Since(begin) < recoverWithin {
		if err = c.base.Handle().QueryRowContext(ctx, query).Scan(&n); err == nil && n == 0 {
			return
		}
		fault.Wait(ctx, 500*time.Millisecond)
	}
	found.Add("it did not recover", what, "%d after %s %v", n, recoverWithin, errors.Join(err, ctx.Err()))
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// account audits the run, and completes its result.
func (c *chaos) account(ctx context.Context, r *report.Result, found *audit.Findings) error {
	if err := c.ledger.ReadFile(c.effects()); err != nil {
		return err
	}
	facts, err := audit.Read(ctx, c.base.Handle(), c.ledger)
	if err != nil {
		return err
	}
	say("%s: accounting", c.dialect.Name)
	audited := facts.Audit()
	c.fleet.Odd(func(instance, what string) { audited.Add("a process", instance, "%s", what) })
	audited.Counts.Edits = c.editor.Done()
	r.Kind, r.Database = c.dialect.Name, c.base.Describe(ctx)
	r.Seed, r.Instances, r.Tasks = c.seed, c.instances, c.tasks
	r.Starts, r.Refused = c.fleet.Starts()
	r.Counts, r.Findings = audited.Counts, slices.Concat(found.List, audited.List)
	r.Faults, r.Unmade = facts.Recoveries(c.diary.All()), c.base.Unmade()
	r.Tell(say)
	return nil
}
