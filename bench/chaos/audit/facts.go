package audit

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// Fixed begins the ids of tasks that nobody edits.
const Fixed = "fixed-"

// Run is one run of a job, as the handler saw it.
type Run struct {
	Job, Task  string // jid and id
	Due        string // as nextrun wrote it; empty: not for a tick
	Begin, End time.Time
	Succeeded  bool
}

// Told is what a hook told of the end of a job, or of a tick without one.
type Told struct {
	Event, Task string
	Job         struct{ ID string }
	Tick        struct{ Due time.Time }
}

// Event is one that was delivered.
type Event struct {
	ID, Subject      string
	AggregateVersion int `json:",string"`
}

// Outside is what happened outside of the database.
type Outside struct {
	Runs      []Run              // in the order in which they began
	Told      map[string]Told    // by the ids of notices
	Delivered map[string][]Event // of each aggregate, in the order of their first arrival

	// What failovers have lost: ids as Known has them, and the times from which the database kept nothing.
	Lost    map[string]bool
	Rewound [][2]time.Time
}

// Known is a query for the ids of all jobs, letters and events.
const Known = "SELECT jid FROM job UNION ALL SELECT jid FROM letter UNION ALL SELECT id FROM event_store"

// adrift reports whether the database may not know any more that the run has begun.
func (o *Outside) adrift(r Run) bool {
	return slices.ContainsFunc(o.Rewound, func(w [2]time.Time) bool { return r.Begin.After(w[0].Add(-slack)) && r.Begin.Before(w[1].Add(slack)) })
}

//go:embed postgres.sql sqlite.sql
var tables embed.FS

// Tables are the statements for a database, postgres or sqlite, that make what is beside nextrun's tables.
func Tables(database string) string { return string(must.Get(tables.ReadFile(database + ".sql"))) }

// Facts are what the tables say of the run, and who is outside.
type Facts struct {
	stories map[string]*story
	rules   map[string][]step
	outside Outside
}

// story is what is known of a task.
type story struct {
	id      string
	policy  *policy // nil: it changed
	changes []change
	ticks   []tick
	jobs    map[string]*job // by jid, wherever they are
	effects []string        // the jids of what handlers that are SQL have written
}

// policy are the columns of a task that decide what becomes of a tick.
type policy struct {
	overlap, catchup, sink, handler string
	grace, deadline                 time.Duration // deadline 0: none
	jitter, calendar                bool
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
	outcome              string // of a job in a queue that tells
	missed               int
}

// job is a job, a letter or an event.
type job struct {
	jid, task, state    string
	handler, group      string    // empty for letters and events; of River's jobs the kind
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

// Read reads all tables. It panics by must.Nil.
func Read(ctx context.Context, db *sql.DB, outside Outside) *Facts {
	f := &Facts{stories: map[string]*story{}, rules: map[string][]step{}, outside: outside}
	f.readTasks(ctx, db)
	Each(ctx, db, "SELECT what, at, value FROM chaos_rule ORDER BY seq", func(scan func(...any)) {
		var what string
		var s step
		scan(&what, timeOf(&s.at), &s.value)
		f.rules[what] = append(f.rules[what], s)
	})
	Each(ctx, db, `SELECT task_id, due, until, decided, decision, coalesce(cause, ''), coalesce(jid, ''), coalesce(outcome, ''), missed FROM periodic_tick
		ORDER BY task_id, due`, func(scan func(...any)) {
		var id string
		var t tick
		scan(&id, timeOf(&t.due), timeOf(&t.until), timeOf(&t.decided), &t.decision, &t.cause, &t.jid, &t.outcome, &t.missed)
		s := f.story(id)
		s.ticks = append(s.ticks, t)
	})
	Each(ctx, db, `SELECT jid, tracker, task, group_, state, due, submitted, finished, single, interrupts FROM job WHERE task <> 'nextrun.hook'
		UNION ALL SELECT jid, task_id, handler, '', state, due, NULL, NULL, false, 0 FROM letter
		UNION ALL SELECT id, aggregate_id, '', '', 'event', due, NULL, NULL, false, 0 FROM event_store`, func(scan func(...any)) {
		var j job
		scan(&j.jid, &j.task, &j.handler, &j.group, &j.state, timeOf(&j.due), timeOf(&j.submitted), timeOf(&j.finished), &j.single, &j.interrupts)
		f.story(j.task).add(j)
	})
	Each(ctx, db, "SELECT jid, task_id FROM effect", func(scan func(...any)) {
		var jid, task string
		scan(&jid, &task)
		s := f.story(task)
		s.effects = append(s.effects, jid)
	})
	return f
}

// readTasks reads how tasks changed, and the policies of those that nobody edits.
func (f *Facts) readTasks(ctx context.Context, db *sql.DB) {
	Each(ctx, db, "SELECT task_id, at, was, due, nextrun, coalesce(timer, ''), enabled FROM chaos_change ORDER BY seq", func(scan func(...any)) {
		var id string
		var c change
		scan(&id, timeOf(&c.at), timeOf(&c.was), timeOf(&c.due), timeOf(&c.nextrun), &c.timer, &c.enabled)
		s := f.story(id)
		s.changes = append(s.changes, c)
	})
	Each(ctx, db, `SELECT id, task, overlap, catchup, sink, grace, coalesce(deadline, 0), jitter, exclude_calendars IS NOT NULL FROM periodic_task
		WHERE id LIKE '`+Fixed+`%'`, func(scan func(...any)) {
		var id string
		var p policy
		var grace, deadline, jitter int
		scan(&id, &p.handler, &p.overlap, &p.catchup, &p.sink, &grace, &deadline, &jitter, &p.calendar)
		p.grace, p.deadline, p.jitter = time.Duration(grace)*time.Second, time.Duration(deadline)*time.Second, jitter > 0
		f.story(id).policy = &p
	})
}

// Each calls fn for each row of a query. It panics by must.Nil, as scan does.
func Each(ctx context.Context, db *sql.DB, query string, fn func(scan func(into ...any))) {
	rows := must.Get(db.QueryContext(ctx, query)) //nolint:rowserrcheck // must.Nil does
	defer rows.Close()                            //nolint:errcheck // Err tells
	for rows.Next() {
		fn(func(into ...any) { must.Nil(rows.Scan(into...)) })
	}
	must.Nil(rows.Err())
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
