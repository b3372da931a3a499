package verify

import (
	"context"
	"fmt"
	"time"
)

const (
	timerCheck = "ticks against timers"
	taskPage   = 500
	tickPage   = 10_000
)

// timers computes the ticks of each task anew, and compares them with those that are
// recorded.
func (r *run) timers(ctx context.Context) error {
	a := &audits{run: r,
		unrecorded: Finding{Level: Violation, Check: timerCheck, Guarantee: "G2", Text: "a timer elapsed, and no tick says what became of it",
			Remedy: "find out who deletes rows of periodic_tick; to run what is missing: nextrun task backfill ID --from TIME --to TIME"},
		strange: Finding{Level: Doubt, Check: timerCheck, Text: "a tick is recorded that the timer does not have",
			Remedy: "nothing, if the zone's rules have changed since; else find out who writes rows of periodic_tick"},
		unplanned: Finding{Level: Violation, Check: timerCheck, Guarantee: "G9", Text: "the planned tick is not one of the timer",
			Remedy: "have it planned anew: UPDATE periodic_task SET nextrun = '1970-01-01 00:00:00' WHERE id = 'ID'"},
	}
	after := ""
	for {
		page, err := r.tasks(ctx, after, "")
		if err != nil {
			return err
		}
		for _, p := range page {
			if err := a.audit(ctx, p, true); err != nil {
				return err
			}
			after = p.Task.ID
		}
		if len(page) < taskPage {
			break
		}
	}
	for _, f := range []Finding{a.unrecorded, a.strange, a.unplanned} {
		r.found(f)
	}
	return nil
}

// audits are the audits of all tasks.
type audits struct {
	*run
	unrecorded, strange, unplanned Finding
}

// audit audits one task. What it finds the first time is looked at again: the task may
// have been changed, or its oldest ticks deleted, meanwhile.
func (a *audits) audit(ctx context.Context, p planned, first bool) error {
	result, follows, err := a.compare(ctx, p)
	if result == nil || err != nil {
		return err
	}
	if first && (!follows || len(result.Unrecorded) > 0 || len(result.Strange) > 0) {
		again, err := a.tasks(ctx, "", p.Task.ID)
		if err != nil || len(again) == 0 {
			return err
		}
		return a.audit(ctx, again[0], false)
	}
	a.report.Tasks++
	a.report.Ticks += result.Recorded
	id := p.Task.ID
	for _, u := range result.Unrecorded {
		text := "the tick of " + moment(u.First)
		if !u.Last.Equal(u.First) {
			text = fmt.Sprintf("the ticks from %s to %s", moment(u.First), moment(u.Last))
		}
		a.unrecorded.Rows = append(a.unrecorded.Rows, Row{id, text})
	}
	for _, due := range result.Strange {
		a.strange.Rows = append(a.strange.Rows, Row{id, "due " + moment(due)})
	}
	if !follows {
		a.unplanned.Rows = append(a.unplanned.Rows, Row{id, fmt.Sprintf("due %s, timer %q", moment(p.Task.Due), p.Task.Timer)})
	}
	return nil
}

// compare reads the ticks of a task in pages. It returns nothing for a task whose timer
// cannot be read: its problem says so.
func (a *audits) compare(ctx context.Context, p planned) (result *audit, follows bool, err error) {
	timer, err := p.Task.Schedule()
	if err != nil {
		return nil, false, nil //nolint:nilerr // nextrun check reports it
	}
	result = &audit{task: &p.Task, timer: timer}
	from := later(p.Since, a.o.Since)
	for {
		page, err := a.ticks(ctx, p.Task.ID, from, tickPage)
		if err != nil {
			return nil, false, err
		}
		for _, tick := range page {
			if due := p.Task.Due; due.IsZero() || tick.First.Before(due) {
				result.add(tick)
			}
		}
		if len(page) < tickPage {
			break
		}
		from = page[len(page)-1].First.Add(time.Microsecond)
	}
	follows = result.end(p.Now)
	return result, follows, nil
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999 UTC") }
