package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// fixture is a database of a test's own, with the schema in it.
type fixture struct {
	*storetest.Database
	db *store.DB
}

// both runs a test on SQLite and on PostgreSQL.
func both(t *testing.T, test func(f *fixture)) {
	t.Helper()
	t.Parallel()
	migrated.Both(t, func(_ *testing.T, d *migrated.Database) { test(newFixture(d)) })
}

// newPostgresFixture is for what SQLite has no equal of. The test runs in parallel
// with others.
func newPostgresFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	return newFixture(migrated.New(t, storetest.Postgres))
}

func newFixture(d *migrated.Database) *fixture {
	d.Helper()
	return &fixture{d.Database, d.Store}
}

// exec runs a user's SQL with ? as placeholder.
func (f *fixture) exec(query string, args ...any) { f.Helper(); f.Exec(query, args...) }

// one returns the single value of a user's query as text; "" for NULL.
func (f *fixture) one(query string, args ...any) string { f.Helper(); return f.One(query, args...) }

// want fails unless a query returns a value.
func (f *fixture) want(value any, query string, args ...any) {
	f.Helper()
	f.Want(value, query, args...)
}

// series is a table of the numbers from 1 to n.
func (f *fixture) series(n int) string {
	if f.Kind == "postgres" {
		return fmt.Sprintf("generate_series(1, %d) AS n", n)
	}
	return fmt.Sprintf("(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s)", n)
}

// at is a time as a user writes it, some time from the database's now.
func (f *fixture) at(offset time.Duration) string {
	f.Helper()
	var now time.Time
	if err := f.db.View(f.Context(), func(tx *store.Tx) error { now = tx.Now(); return nil }); err != nil {
		f.Fatal(err)
	}
	return utc(now.Add(offset))
}

func utc(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05.000000") }

// due makes a task's planned tick one of some time ago, as if nobody had
// scheduled since. Its timer elapses each year at that time.
func (f *fixture) due(id string, ago time.Duration) time.Time {
	f.Helper()
	at := f.at(-ago)
	f.exec("UPDATE periodic_task SET due = ?, nextrun = ?, timer = ? WHERE id = ?", at, at, "*"+at[4:], id)
	return f.time(at)
}

// behind makes the planned tick of a task one of some time ago that its timer has: it elapses at the begin of each such span.
func (f *fixture) behind(id string, ago, span time.Duration) time.Time {
	f.Helper()
	due := f.time(f.at(-ago)).Truncate(span)
	f.exec("UPDATE periodic_task SET due = ?, nextrun = ? WHERE id = ?", utc(due), utc(due), id)
	return due
}

// time reads a time as a user writes it.
func (f *fixture) time(at string) time.Time {
	f.Helper()
	due, err := time.Parse("2006-01-02 15:04:05.000000", at)
	f.done(err)
	return due
}

// make makes a scheduler whose events are collected. What no wake-up brings never comes.
func (f *fixture) make(h scheduler.Store, change ...func(*scheduler.Config)) (*scheduler.Scheduler, *events) {
	f.Helper()
	log := slog.New(slog.DiscardHandler)
	cfg := scheduler.Config{Name: "test", Logger: log, PollInterval: 24 * time.Hour}
	seen := watch(&cfg)
	for _, c := range change {
		c(&cfg)
	}
	s, err := scheduler.New(h, cfg)
	f.done(err)
	return s, seen
}

// start starts one that is stopped with the test.
func (f *fixture) start(h scheduler.Store, change ...func(*scheduler.Config)) (*scheduler.Scheduler, *events) {
	f.Helper()
	s, seen := f.make(h, change...)
	f.Cleanup(func() { _ = s.Stop(context.Background()) })
	f.done(s.Start(context.Background()))
	return s, seen
}

func (f *fixture) stop(s *scheduler.Scheduler) { f.Helper(); f.done(s.Stop(context.Background())) }

// once runs a scheduler until nothing is due.
func (f *fixture) once(change ...func(*scheduler.Config)) {
	f.Helper()
	f.onceOn(f.db.Periodic(), change...)
}

func (f *fixture) onceOn(h scheduler.Store, change ...func(*scheduler.Config)) {
	f.Helper()
	s, _ := f.make(h, change...)
	f.done(storetest.Insist(func() error { return s.RunOnce(f.Context()) }))
}

// named gives a scheduler a name.
func named(name string) func(*scheduler.Config) { return func(c *scheduler.Config) { c.Name = name } }

// polls has a scheduler look for work as often as it does by default.
func polls(c *scheduler.Config) { c.PollInterval = 0 }

// done fails the test with an error.
func (f *fixture) done(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// guarantees fails if one of the queries of G1 to G3 finds something.
func (f *fixture) guarantees() {
	f.Helper()
	f.want(0, g1)
	f.want(0, g3)
}

const (
	// g1: at most one job for each (task, due).
	g1 = `SELECT count(*) FROM (SELECT tracker, due FROM job WHERE due IS NOT NULL
		GROUP BY tracker, due HAVING count(*) > 1) AS doubled`
	// g3: no two single jobs of a task that are not final.
	g3 = `SELECT count(*) FROM (SELECT tracker FROM job
		WHERE single AND state IN ('waiting', 'scheduled', 'running', 'stuck')
		GROUP BY tracker HAVING count(*) > 1) AS overlapping`
)

// events collects what a scheduler did.
type events struct {
	mu   sync.Mutex
	list []scheduler.Event
	more chan struct{}
}

func watch(cfg *scheduler.Config) *events {
	e := &events{more: make(chan struct{}, 1)}
	cfg.Observe = func(event scheduler.Event) {
		e.mu.Lock()
		e.list = append(e.list, event)
		e.mu.Unlock()
		select {
		case e.more <- struct{}{}:
		default:
		}
	}
	return e
}

// until waits for an event.
func (e *events) until(t testing.TB, what string, found func(scheduler.Event) bool) scheduler.Event {
	t.Helper()
	limit := time.After(storetest.Patience)
	for seen := 0; ; {
		e.mu.Lock()
		list := e.list[seen:]
		seen = len(e.list)
		e.mu.Unlock()
		for _, event := range list {
			if found(event) {
				return event
			}
		}
		select {
		case <-e.more:
		case <-limit:
			t.Fatalf("no %s within %s", what, storetest.Patience)
		}
	}
}

// nth finds the nth event that another condition finds: until looks at all
// events from the first on.
func nth(n int, found func(scheduler.Event) bool) func(scheduler.Event) bool {
	return func(e scheduler.Event) bool {
		if found(e) {
			n--
		}
		return n == 0
	}
}

// hooked is a store that lets a test act at the seams of the scheduler.
type hooked struct {
	scheduler.Store
	peeks, updates atomic.Int64
	// beforeUpdate, if not nil, runs before each transaction; its error is that
	// of the transaction.
	beforeUpdate func(n int64) error
	// afterAdvance, if not nil, runs in the submit transaction.
	afterAdvance func() error
}

func (h *hooked) Poll(ctx context.Context, look batch.Look) (batch.Work, error) {
	h.peeks.Add(1)
	return h.Store.Poll(ctx, look)
}

func (h *hooked) Update(ctx context.Context, wait time.Duration, fn func(batch.Tx) error) error {
	n := h.updates.Add(1)
	if h.beforeUpdate != nil {
		if err := h.beforeUpdate(n); err != nil {
			return err
		}
	}
	return h.Store.Update(ctx, wait, func(tx batch.Tx) error { return fn(hookedTx{tx, h}) })
}

type hookedTx struct {
	batch.Tx
	h *hooked
}

func (tx hookedTx) Advance(ctx context.Context, plans []periodic.Plan) ([]string, error) {
	ids, err := tx.Tx.Advance(ctx, plans)
	if err == nil && tx.h.afterAdvance != nil {
		err = tx.h.afterAdvance()
	}
	return ids, err
}

func (tx hookedTx) SubmitPlain(ctx context.Context, queue periodic.Queue, plans []periodic.Plan) (left []string, can bool, err error) {
	left, can, err = tx.Tx.SubmitPlain(ctx, queue, plans)
	if can && err == nil && tx.h.afterAdvance != nil {
		err = tx.h.afterAdvance()
	}
	return left, can, err
}

// nthTake is the transaction of RunOnce that takes the first batch; the first one clears marks.
const nthTake = 2
