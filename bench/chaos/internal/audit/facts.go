package audit

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/world"
)

// Facts are what the tables and the ledger say of the run.
type Facts struct {
	stories map[string]*story
	runs    []world.Run
	ledger  *world.Ledger
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

// change is a row of chaos_change. Times that are NULL are zero, here as in all that follows.
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

// Read reads all tables.
func Read(ctx context.Context, db *sql.DB, l *world.Ledger) (*Facts, error) {
	f := &Facts{stories: map[string]*story{}, runs: l.Runs(), ledger: l}
	for _, read := range []func(context.Context, *sql.DB) error{f.readPolicies, f.readChanges, f.readTicks, f.readJobs} {
		if err := read(ctx, db); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// readPolicies reads those of tasks that nobody edits.
func (f *Facts) readPolicies(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, `SELECT id, task, overlap, catchup, sink, grace, coalesce(deadline, 0), jitter FROM periodic_task
		WHERE id LIKE '`+world.Fixed+`%'`, func(scan scan) error {
		var id string
		var p policy
		var grace, deadline, jitter int
		err := scan(&id, &p.handler, &p.overlap, &p.catchup, &p.sink, &grace, &deadline, &jitter)
		p.grace, p.deadline, p.jitter = time.Duration(grace)*time.Second, time.Duration(deadline)*time.Second, jitter > 0
		f.story(id).policy = &p
		return err
	})
}

func (f *Facts) readChanges(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, "SELECT task_id, at, was, due, nextrun, coalesce(timer, ''), enabled FROM chaos_change ORDER BY seq", func(scan scan) error {
		var id string
		var c change
		err := scan(&id, timeOf(&c.at), timeOf(&c.was), timeOf(&c.due), timeOf(&c.nextrun), &c.timer, &c.enabled)
		f.story(id).change(c)
		return err
	})
}

func (f *Facts) readTicks(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, `SELECT task_id, due, until, decided, decision, coalesce(cause, ''), coalesce(jid, ''), missed FROM periodic_tick
		ORDER BY task_id, due`, func(scan scan) error {
		var id string
		var t tick
		err := scan(&id, timeOf(&t.due), timeOf(&t.until), timeOf(&t.decided), &t.decision, &t.cause, &t.jid, &t.missed)
		s := f.story(id)
		s.ticks = append(s.ticks, t)
		return err
	})
}

func (f *Facts) readJobs(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, `SELECT jid, tracker, state, due, submitted, finished, single, interrupts FROM job
		UNION ALL SELECT id, task_id, state, NULL, NULL, NULL, false, 0 FROM mail_queue
		UNION ALL SELECT id, aggregate_id, 'event', due, NULL, NULL, false, 0 FROM event_store`, func(scan scan) error {
		var j job
		err := scan(&j.jid, &j.task, &j.state, timeOf(&j.due), timeOf(&j.submitted), timeOf(&j.finished), &j.single, &j.interrupts)
		f.story(j.task).add(j)
		return err
	})
}

type scan func(into ...any) error

// each calls fn for each row of a query.
func each(ctx context.Context, db *sql.DB, query string, fn func(scan scan) error) error {
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

// column is where a time of the database goes, in UTC. NULL is zero, and SQLite may say it as a text.
type column time.Time

func timeOf(t *time.Time) sql.Scanner { return (*column)(t) }

// Scan implements [sql.Scanner].
func (c *column) Scan(value any) (err error) {
	var t time.Time
	switch v := value.(type) {
	case nil:
	case time.Time:
		t = v.UTC()
	case string:
		t, err = time.Parse("2006-01-02 15:04:05.999999", v)
	default:
		err = fmt.Errorf("%v is no time", value)
	}
	*c = column(t)
	return err
}
