package executor_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/store"
)

func TestMain(m *testing.M) {
	migrated.As("executor", "operator")
	migrated.VerifyTestMain(m)
}

// patience is how long tests wait for what must happen; they never wait for a
// time to pass.
const patience = storetest.Patience

// onBoth runs a test on a fresh database of each kind, beside others.
func onBoth(t *testing.T, test func(t *testing.T, q *fixture)) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) { test(t, newFixture(d)) })
}

func onPostgres(t *testing.T, test func(t *testing.T, q *fixture)) {
	t.Parallel()
	test(t, newFixture(migrated.New(t, storetest.Postgres)))
}

// fixture is a queue on a database of its own.
type fixture struct {
	*migrated.Database
	ctx   context.Context
	store store.JobStore
	queue *jobqueue.Queue
}

func newFixture(d *migrated.Database) *fixture {
	jobs := d.Store.Jobs()
	return &fixture{Database: d, ctx: d.Context(), store: jobs, queue: jobqueue.NewQueue(jobs)}
}

// sql runs a statement as a user would.
func (q *fixture) sql(statement string, args ...any) {
	q.Helper()
	q.Exec(fmt.Sprintf(statement, args...))
}

// value returns the one value that a query yields, as text.
func (q *fixture) value(query string, args ...any) string {
	q.Helper()
	return q.One(fmt.Sprintf(query, args...))
}

// utc is a time as a literal of both databases.
func utc(t time.Time) string { return "'" + t.UTC().Format("2006-01-02 15:04:05.000000") + "'" }

func (q *fixture) submit(jobs ...jobqueue.Job) []string {
	q.Helper()
	jids, err := q.queue.Submit(q.ctx, jobs...)
	if err != nil {
		q.Fatal(err)
	}
	return jids
}

func (q *fixture) get(jid string) jobqueue.Job {
	q.Helper()
	job, err := q.queue.Get(q.ctx, jid)
	if err != nil {
		q.Fatal(err)
	}
	return job
}

// log returns the messages of a job's log.
func (q *fixture) log(jid string) []string {
	q.Helper()
	lines, err := q.queue.Logs(q.ctx, jobqueue.LogFilter{JID: jid, Limit: 100_000})
	if err != nil {
		q.Fatal(err)
	}
	var messages []string
	for i, line := range lines {
		if i > 0 && line.Counter <= lines[i-1].Counter {
			q.Errorf("counter %d after %d", line.Counter, lines[i-1].Counter)
		}
		messages = append(messages, line.Message)
	}
	return messages
}

// executor is an executor with a record of its events.
type newExecutor struct {
	*executor.Executor
	q      *fixture
	mu     sync.Mutex
	events []executor.Event
	news   chan struct{} // closed and replaced at each event
}

// executor makes one that has yet to be started; it is stopped with the test.
func (q *fixture) executor(cfg executor.Config, handlers map[string]jobqueue.Handler) *newExecutor {
	q.Helper()
	return q.executorOn(q.store, cfg, handlers)
}

func (q *fixture) executorOn(s executor.Store, cfg executor.Config, handlers map[string]jobqueue.Handler) *newExecutor {
	q.Helper()
	e := &newExecutor{q: q, news: make(chan struct{})}
	cfg.Observe, cfg.Logger = e.record, silent
	if cfg.Name == "" {
		cfg.Name = "worker"
	}
	var err error
	if e.Executor, err = executor.New(s, cfg); err != nil {
		q.Fatal(err)
	}
	for task, h := range handlers {
		e.Register(task, h)
	}
	return e
}

// run starts an executor.
func (q *fixture) run(cfg executor.Config, handlers map[string]jobqueue.Handler) *newExecutor {
	q.Helper()
	return q.executor(cfg, handlers).start()
}

// hastened has it beat often: nobody else may live in the test.
func (e *newExecutor) hastened() *newExecutor {
	executor.Hasten(e.Executor)
	return e
}

func (e *newExecutor) start() *newExecutor {
	e.q.Helper()
	if err := e.Start(context.WithoutCancel(e.q.ctx)); err != nil {
		e.q.Fatal(err)
	}
	e.q.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := e.Stop(ctx); err != nil {
			e.q.Error(err)
		}
	})
	return e
}

func (e *newExecutor) record(event executor.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, event)
	if event.Err != nil {
		e.q.Logf("%s %s: %v", event.Kind, event.Job.JID, event.Err)
	}
	close(e.news)
	e.news = make(chan struct{})
}

// count counts the events that fit.
func (e *newExecutor) count(fits func(executor.Event) bool) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, event := range e.events {
		if fits(event) {
			n++
		}
	}
	return n
}

// await waits until n events fit.
func (e *newExecutor) await(n int, what string, fits func(executor.Event) bool) {
	e.q.Helper()
	deadline := time.After(patience)
	for {
		e.mu.Lock()
		news := e.news
		e.mu.Unlock()
		if e.count(fits) >= n {
			return
		}
		select {
		case <-news:
		case <-deadline:
			e.dump()
			e.q.Fatalf("waited too long for %d events %s", n, what)
		}
	}
}

// dump logs all events.
func (e *newExecutor) dump() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range e.events {
		e.q.Logf("%s %s %s %s %v", event.Kind, event.Job.JID, event.State, event.Worker, event.Err)
	}
}

// awaitEnd waits until a job has gone to a state.
func (e *newExecutor) awaitEnd(jid string, state jobqueue.State) {
	e.q.Helper()
	e.await(1, "of "+jid+" to "+string(state), func(event executor.Event) bool {
		return event.Kind == executor.EventEnded && event.Job.JID == jid && event.State == state
	})
}

func ended(state jobqueue.State) func(executor.Event) bool {
	return func(event executor.Event) bool { return event.Kind == executor.EventEnded && event.State == state }
}

func kind(k executor.EventKind) func(executor.Event) bool {
	return func(event executor.Event) bool { return event.Kind == k }
}

// receive waits for a value.
func receive[T any](q *fixture, ch <-chan T, what string) T {
	q.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		q.Fatalf("waited too long for %s", what)
		panic("unreachable")
	}
}

// silent is a logger for tests that do not look at the log.
var silent = slog.New(slog.DiscardHandler)

func nothing(context.Context, *jobqueue.JobContext) error { return nil }
