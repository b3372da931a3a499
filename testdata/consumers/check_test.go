package consumers_test

import (
	"cmp"
	"database/sql"
	"slices"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// check is what has to hold after a run.
func (p *proof) check() {
	p.Helper()
	ticks := p.readTicks()
	p.checkAccounted(ticks)
	p.checkDecisions(ticks)
	p.checkWork(ticks)
	p.checkTwice()
	p.checkOverlap()
	for _, line := range p.work.mistakes() {
		p.errorf("the worker printed %s", line)
	}
}

// errorf is Errorf for what may happen many times: it prints a few of each format.
func (p *proof) errorf(format string, args ...any) {
	p.Helper()
	if p.errors == nil {
		p.errors = map[string]int{}
	}
	const few = 5
	switch p.errors[format]++; {
	case p.errors[format] <= few:
		p.Errorf(format, args...)
	case p.errors[format] == few+1:
		p.Errorf("... and more like this: "+format, args...)
	}
}

// tick is a row of periodic_tick.
type tick struct {
	Task     string         `db:"task_id"`
	Due      time.Time      `db:"due"`
	Until    sql.NullTime   `db:"until"`
	Decision string         `db:"decision"`
	JID      sql.NullString `db:"jid"`
}

func (p *proof) readTicks() map[string][]tick {
	p.Helper()
	var rows []tick
	if err := p.SQL.Select(&rows, "SELECT task_id, due, until, decision, jid FROM periodic_tick ORDER BY task_id, due"); err != nil {
		p.Fatal(err)
	}
	ticks := map[string][]tick{}
	for _, row := range rows {
		ticks[row.Task] = append(ticks[row.Task], row)
	}
	return ticks
}

// checkAccounted: each elapse of each timer is in one row, and there are no others.
func (p *proof) checkAccounted(ticks map[string][]tick) {
	p.Helper()
	for _, t := range p.tasks {
		schedule, err := calendar.ParseAt(t.timer, p.begin)
		if err != nil {
			p.Fatal(err)
		}
		rows := ticks[t.id]
		for due := schedule.Next(p.begin.Add(-1)); due.Before(p.begin.Add(duration)); due = schedule.Next(due) {
			if len(rows) == 0 || rows[0].Due.After(due) {
				p.errorf("%s: the tick of %s is not accounted for", t.id, due)
				break
			}
			if last := cmp.Or(rows[0].Until.Time, rows[0].Due); !last.After(due) {
				rows = rows[1:]
			}
		}
		for _, row := range rows {
			p.errorf("%s: there is a tick %s that no timer has", t.id, row.Due)
		}
	}
}

// checkDecisions: the ticks are decided as their tasks say, so that the run has
// been through all policies.
func (p *proof) checkDecisions(ticks map[string][]tick) {
	p.Helper()
	counts := map[string]map[string]int{}
	for _, t := range p.tasks {
		if counts[t.overlap] == nil {
			counts[t.overlap] = map[string]int{}
		}
		for _, row := range ticks[t.id] {
			counts[t.overlap][row.Decision]++
		}
	}
	p.Logf("decisions: %v", counts)
	if counts["skip"]["skipped"] == 0 || counts["allow"]["skipped"] > 0 {
		p.errorf("decisions: %v, want skipped ticks of tasks that skip, and none of those that allow", counts)
	}
	for _, policy := range policies {
		if counts[policy]["submitted"] < tasks/len(policies) {
			p.errorf("decisions: %v, want many submitted ones of %s", counts, policy)
		}
	}
}

// checkWork: the worker has begun each submitted job once, for the right tick
// and with its args; `replace` may have cancelled some before.
func (p *proof) checkWork(ticks map[string][]tick) {
	p.Helper()
	begun := map[string]work{}
	for _, w := range p.work.all() {
		if _, twice := begun[w.jid]; twice {
			p.errorf("job %s of %s began twice", w.jid, w.args.Task)
		}
		begun[w.jid] = w
	}
	cancelled := map[string]bool{}
	if p.queue.cancelled != "" {
		var list []string
		if err := p.SQL.Select(&list, p.queue.cancelled); err != nil {
			p.Fatal(err)
		}
		for _, jid := range list {
			cancelled[jid] = true
		}
	}
	n, replaced := 0, 0
	var delays []time.Duration
	for _, t := range p.tasks {
		for _, row := range ticks[t.id] {
			if row.Decision != "submitted" {
				continue
			}
			n++
			w, found := begun[row.JID.String]
			delete(begun, row.JID.String)
			switch {
			case !found && t.overlap == "replace" && (cancelled[row.JID.String] || p.queue.cancelled == ""):
				replaced++
			case !found:
				p.errorf("%s: no worker saw the job %s of %s", t.id, row.JID.String, row.Due)
			case w.args != t.args || !w.due.Equal(row.Due):
				p.errorf("%s: the job of %s had the args %s and was due %s, want %s", t.id, row.Due, w.args, w.due, t.args)
			default:
				delays = append(delays, w.at.Sub(row.Due))
			}
		}
	}
	for jid, w := range begun {
		p.errorf("%s: the job %s belongs to no submitted tick", w.args.Task, jid)
	}
	slices.Sort(delays)
	p.Logf("%d submitted, %d of them replaced; jobs began %d ms after their tick in the median", n, replaced, delays[len(delays)/2].Milliseconds())
}

// checkTwice: no tick has two jobs, even if the worker saw only one.
func (p *proof) checkTwice() {
	p.Helper()
	if p.queue.kept != "" {
		p.Want(0, "SELECT count(*) FROM (SELECT k.task, k.due FROM ("+p.queue.kept+") AS k GROUP BY k.task, k.due HAVING count(*) > 1) AS twice")
	}
}

// checkOverlap: no task that must not overlap had two unfinished jobs at a time.
func (p *proof) checkOverlap() {
	p.Helper()
	for _, id := range p.overlaps {
		p.errorf("two unfinished jobs of a task that must not overlap: %s", id)
	}
	list := p.work.all()
	slices.SortFunc(list, func(a, b work) int { return a.at.Compare(b.at) })
	allow := map[string]bool{}
	for _, t := range p.tasks {
		allow[t.id] = t.overlap == "allow"
	}
	last := map[string]work{}
	for _, w := range list {
		if before, ok := last[w.args.Task]; ok && !allow[w.args.Task] && w.at.Before(before.done) {
			p.errorf("%s: a job began at %s, another had until %s", w.args.Task, w.at, before.done)
		}
		last[w.args.Task] = w
	}
}
