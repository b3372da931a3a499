package month

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/periodic"
)

// legacyTable is the queue that the shop had before.
const legacyTable = `CREATE TABLE legacy_job (id varchar(254) PRIMARY KEY, args text, done boolean NOT NULL DEFAULT false)`

// furnish adds the tasks.
func (s *shop) furnish(ctx context.Context) error {
	for _, p := range plans {
		c := cols{"id": p.id, "task": strings.ReplaceAll(p.id, "-", "."), "timer": p.timer, "submitter": "shop"}
		maps.Copy(c, p.columns)
		if err := s.insert(ctx, c); err != nil {
			return err
		}
	}
	return s.jobs().SetLimit(ctx, jobqueue.ScopeGroup, "finance", 5)
}

func (s *shop) insert(ctx context.Context, c cols) error {
	names := slices.Sorted(maps.Keys(c))
	places, values := make([]string, len(names)), make([]any, len(names))
	for i, name := range names {
		places[i], values[i] = fmt.Sprintf("$%d", i+1), c[name]
	}
	return s.edit(ctx, "INSERT INTO periodic_task ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(places, ", ")+")", values...)
}

// planDays says what people do, as parts of the whole time.
func (s *shop) planDays() {
	part := func(percent int) time.Time { return s.start.Add(s.end.Sub(s.start) * time.Duration(percent) / 100) }
	s.outage = [2]time.Time{part(30), part(30).Add(4*time.Hour + 30*time.Minute)}
	s.at(s.outage[1], func(context.Context) error { return nil })
	s.at(part(40), func(ctx context.Context) error {
		return s.tasks.Pause(ctx, "newsletter", periodic.Pause{By: "ada", Reason: "the new template is not ready", Until: part(47)})
	})
	s.at(part(42), func(ctx context.Context) error {
		return s.tasks.Pause(ctx, "mail-bounces", periodic.Pause{Reason: "provider migration"})
	})
	s.at(part(50), func(ctx context.Context) error {
		return s.edit(ctx, `UPDATE periodic_task SET timer = '*-*-* 0/2:35' WHERE id = 'price-feed'`)
	})
	s.at(part(55), func(ctx context.Context) error {
		_, err := s.tasks.Resume(ctx, "mail-bounces")
		return err
	})
	s.at(part(60), func(ctx context.Context) error {
		return s.edit(ctx, `UPDATE periodic_task SET nextrun = $1 WHERE id = 'ledger-close'`, sqldb.Timestamp(s.now()))
	})
	s.at(part(66), func(ctx context.Context) error {
		return s.edit(ctx, `UPDATE periodic_task SET enabled = false WHERE id = 'legacy-sync'`)
	})
	s.at(part(70), s.cancelOne)
	s.at(part(88), func(ctx context.Context) error {
		return s.tasks.Pause(ctx, "feed-partner", periodic.Pause{By: "grace", Reason: "the partner has not paid"})
	})
	s.at(part(92), func(ctx context.Context) error {
		return s.insert(ctx, cols{"id": typo, "task": "feed.typo", "timer": "Fry 12:00", "group_": "partners"})
	})
	for day := s.start; day.Before(s.end); day = day.Add(6 * time.Hour) { // the workers of the other queue
		s.at(day, func(ctx context.Context) error { return s.exec(ctx, `UPDATE legacy_job SET done = true`) })
	}
}

// cancelOne cancels the job that runs longest.
func (s *shop) cancelOne(ctx context.Context) error {
	jobs, err := s.jobs().List(ctx, jobqueue.Filter{Tracker: "stock-count", States: []jobqueue.State{jobqueue.Running}})
	if err != nil || len(jobs) == 0 {
		return err
	}
	_, err = s.jobs().Cancel(ctx, jobs[0].JID)
	return err
}

// deliver is the relay, and the executor of hooks: what is older than an hour has arrived.
func (s *shop) deliver(ctx context.Context) error {
	if err := s.exec(ctx, `UPDATE job SET state = 'success', started = submitted, finished = submitted WHERE task = '`+
		jobqueue.HookHandler+`' AND state = 'waiting'`); err != nil {
		return err
	}
	return s.exec(ctx, `UPDATE outbox_message SET published = created WHERE published IS NULL`)
}

// leave closes the shop: its workers stop, and what they have not finished waits again.
func (s *shop) leave(ctx context.Context) error {
	jobs, err := s.jobs().List(ctx, jobqueue.Filter{States: []jobqueue.State{jobqueue.Running}, Limit: 1000})
	if err != nil {
		return err
	}
	for _, j := range jobs {
		err := s.transition(ctx, exchange.Transition{JID: j.JID, Worker: worker, From: jobqueue.Running, To: jobqueue.Waiting, Interrupted: true})
		if err != nil {
			return err
		}
	}
	if err := s.deliver(ctx); err != nil {
		return err
	}
	return s.exec(ctx, `UPDATE legacy_job SET done = true`)
}
