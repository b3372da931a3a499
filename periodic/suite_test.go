package periodic_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/storetest"
)

// fixture is a database of a test's own, with the schema in it.
type fixture struct {
	testing.TB
	kind string // "sqlite" or "postgres"
	url  string
	db   *store.DB
	sql  *sqlx.DB // a user's connection
}

// both runs a test on SQLite and on PostgreSQL.
func both(t *testing.T, test func(f *fixture)) {
	t.Helper()
	t.Parallel()
	for kind, url := range map[string]func(testing.TB) string{
		"sqlite": storetest.SQLiteURL, "postgres": storetest.PostgresURL,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(newFixture(t, kind, url(t)))
		})
	}
}

// newPostgresFixture is for what SQLite has no equal of.
func newPostgresFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, "postgres", storetest.PostgresURL(t))
}

func newFixture(t testing.TB, kind, url string) *fixture {
	t.Helper()
	db, err := store.Open(t.Context(), url, store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrator().Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := &fixture{TB: t, kind: kind, url: url, db: db}
	f.sql = f.connect()
	f.exec("DELETE FROM periodic_task") // housekeeping would be counted
	return f
}

// connect opens another connection of a user.
func (f *fixture) connect() *sqlx.DB {
	f.Helper()
	driver, source := "postgres", f.url
	if f.kind == "sqlite" {
		driver, source = "sqlite3", "file:"+strings.TrimPrefix(f.url, "sqlite:")+"?_busy_timeout=10000&_foreign_keys=on"
	}
	conn, err := sqlx.Open(driver, source)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = conn.Close() })
	return conn
}

// exec runs a user's SQL with ? as placeholder.
func (f *fixture) exec(query string, args ...any) {
	f.Helper()
	if _, err := f.sql.Exec(f.sql.Rebind(query), args...); err != nil {
		f.Fatalf("%s: %v", query, err)
	}
}

// one returns the single value of a user's query as text; "" for NULL.
func (f *fixture) one(query string, args ...any) string {
	f.Helper()
	var value *string
	if err := f.sql.Get(&value, f.sql.Rebind(query), args...); err != nil {
		f.Fatalf("%s: %v", query, err)
	}
	if value == nil {
		return ""
	}
	return *value
}

// want fails unless a query returns a value.
func (f *fixture) want(value any, query string, args ...any) {
	f.Helper()
	if got := f.one(query, args...); got != fmt.Sprint(value) {
		f.Errorf("%s %v\n  got  %s\n  want %v", query, args, got, value)
	}
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
// scheduled since.
func (f *fixture) due(id string, ago time.Duration) time.Time {
	f.Helper()
	at := f.at(-ago)
	f.exec("UPDATE periodic_task SET due = ?, nextrun = ? WHERE id = ?", at, at, id)
	due, err := time.Parse("2006-01-02 15:04:05.000000", at)
	if err != nil {
		f.Fatal(err)
	}
	return due
}

// config is the configuration of a scheduler of a test.
func (f *fixture) config(name string) periodic.Config {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return periodic.Config{Name: name, Logger: log}
}

// once runs a scheduler until nothing is due.
func (f *fixture) once(change ...func(*periodic.Config)) {
	f.Helper()
	cfg := f.config("once")
	for _, c := range change {
		c(&cfg)
	}
	s, err := periodic.New(f.db.Periodic(), cfg)
	if err != nil {
		f.Fatal(err)
	}
	if err := s.RunOnce(f.Context()); err != nil {
		f.Fatal(err)
	}
}

// start starts a scheduler that is stopped with the test.
func (f *fixture) start(cfg periodic.Config) *periodic.Scheduler {
	f.Helper()
	s, err := periodic.New(f.db.Periodic(), cfg)
	if err != nil {
		f.Fatal(err)
	}
	if err := s.Start(context.Background()); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			f.Error(err)
		}
	})
	return s
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
	list []periodic.Event
	more chan struct{}
}

func watch(cfg *periodic.Config) *events {
	e := &events{more: make(chan struct{}, 1)}
	cfg.Observe = func(event periodic.Event) {
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
func (e *events) until(t testing.TB, what string, found func(periodic.Event) bool) periodic.Event {
	t.Helper()
	limit := time.After(30 * time.Second)
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
			t.Fatalf("no %s within 30 seconds", what)
		}
	}
}

// nth finds the nth event that another condition finds: until looks at all
// events from the first on.
func nth(n int, found func(periodic.Event) bool) func(periodic.Event) bool {
	return func(e periodic.Event) bool {
		if found(e) {
			n--
		}
		return n == 0
	}
}
