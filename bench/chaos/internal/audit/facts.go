package audit

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/ledger"
	"github.com/nextrun/nextrun/bench/chaos/internal/workload"
)

// Facts are what the tables and the ledger say of the run.
type Facts struct {
	stories map[string]*story
	runs    []ledger.Run
	ledger  *ledger.Ledger
}

// story is what is known of a task.
type story struct {
	id      string
	policy  *policy // nil: it changed
	changes []change
	ticks   []tick
	jobs    map[string]*job // by jid, wherever they are
}

// policy are the columns of a task that decide what becomes of a tick.
type policy struct {
	overlap, catchup, sink, handler string
	grace, deadline                 time.Duration // deadline 0: none
	jitter                          bool
}

// change is a row of chaos_change. Times that are NULL are zero.
type change struct {
	at, was, due, nextrun time.Time
	timer                 string
	enabled               bool
}

// tick is a row of periodic_tick.
type tick struct {
	due, until, decided  time.Time
	decision, cause, jid string
	missed               int
}

// job is a job, a letter or an event.
type job struct {
	jid, task, state    string
	due                 time.Time // zero for letters
	submitted, finished time.Time
	single              bool
	interrupts          int
	found               int // rows
}

func (f *Facts) story(id string) *story {
	s := f.stories[id]
	if s == nil {
		s = &story{id: id, jobs: map[string]*job{}}
		f.stories[id] = s
	}
	return s
}

func (s *story) add(j job) {
	if known := s.jobs[j.jid]; known != nil {
		known.found++
		return
	}
	j.found = 1
	s.jobs[j.jid] = &j
}

// Read reads all tables.
func Read(ctx context.Context, db *sql.DB, l *ledger.Ledger) (*Facts, error) {
	f := &Facts{stories: map[string]*story{}, runs: l.Runs(), ledger: l}
	for _, read := range []func(context.Context, *sql.DB) error{f.readPolicies, f.readChanges, f.readTicks, f.readJobs, f.readLetters, f.readEvents} {
		if err := read(ctx, db); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// each calls fn for each row of a query.
func each(ctx context.Context, db *sql.DB, query string, fn func(scan func(...any) error) error) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("%w in %s", err, query)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return fmt.Errorf("%w in %s", err, query)
		}
	}
	return rows.Err()
}

func (f *Facts) readPolicies(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, "SELECT id, task, overlap, catchup, sink, grace, deadline, jitter FROM periodic_task", func(scan func(...any) error) error {
		var id string
		var p policy
		var grace, jitter int
		var deadline sql.NullInt64
		if err := scan(&id, &p.handler, &p.overlap, &p.catchup, &p.sink, &grace, &deadline, &jitter); err != nil {
			return err
		}
		p.grace, p.deadline = time.Duration(grace)*time.Second, time.Duration(deadline.Int64)*time.Second
		p.jitter = jitter > 0
		if workload.IsFixed(id) {
			f.story(id).policy = &p
		}
		return nil
	})
}

// change adds one. SQLite writes down an edit twice, at the same time: as somebody made it, and then with what nextrun's trigger
// made of it, which alone counts.
func (s *story) change(c change) {
	if n := len(s.changes); n > 0 {
		if last := s.changes[n-1]; last.at.Equal(c.at) && last.was.Equal(c.was) && last.due.Equal(last.was) && c.due.IsZero() &&
			last.timer == c.timer && last.enabled == c.enabled {
			s.changes = s.changes[:n-1]
		}
	}
	s.changes = append(s.changes, c)
}

func (f *Facts) readChanges(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, "SELECT task_id, at, was, due, nextrun, timer, enabled FROM chaos_change ORDER BY seq", func(scan func(...any) error) error {
		var id string
		var at time.Time
		var was, due, next sql.NullTime
		var text sql.NullString
		var enabled bool
		if err := scan(&id, &at, &was, &due, &next, &text, &enabled); err != nil {
			return err
		}
		f.story(id).change(change{at.UTC(), was.Time.UTC(), due.Time.UTC(), next.Time.UTC(), text.String, enabled})
		return nil
	})
}

func (f *Facts) readTicks(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, "SELECT task_id, due, until, decided, decision, cause, jid, missed FROM periodic_tick ORDER BY task_id, due", func(scan func(...any) error) error {
		var id string
		var t tick
		var until sql.NullTime
		var cause, jid sql.NullString
		if err := scan(&id, &t.due, &until, &t.decided, &t.decision, &cause, &jid, &t.missed); err != nil {
			return err
		}
		t.due, t.until, t.decided, t.cause, t.jid = t.due.UTC(), until.Time.UTC(), t.decided.UTC(), cause.String, jid.String
		s := f.story(id)
		s.ticks = append(s.ticks, t)
		return nil
	})
}

func (f *Facts) readJobs(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, "SELECT jid, tracker, state, due, submitted, finished, single, interrupts FROM job", func(scan func(...any) error) error {
		var j job
		var due, finished sql.NullTime
		if err := scan(&j.jid, &j.task, &j.state, &due, &j.submitted, &finished, &j.single, &j.interrupts); err != nil {
			return err
		}
		j.due, j.submitted, j.finished = due.Time.UTC(), j.submitted.UTC(), finished.Time.UTC()
		f.story(j.task).add(j)
		return nil
	})
}

func (f *Facts) readLetters(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, "SELECT id, task_id, state FROM mail_queue", func(scan func(...any) error) error {
		var j job
		if err := scan(&j.jid, &j.task, &j.state); err != nil {
			return err
		}
		f.story(j.task).add(j)
		return nil
	})
}

func (f *Facts) readEvents(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, "SELECT id, aggregate_id, due FROM event_store", func(scan func(...any) error) error {
		j := job{state: "event"}
		var due sql.NullTime
		if err := scan(&j.jid, &j.task, &due); err != nil {
			return err
		}
		j.due = due.Time.UTC()
		f.story(j.task).add(j)
		return nil
	})
}
