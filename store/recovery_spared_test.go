package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/storetest"
	"github.com/nextrun/nextrun/store/storetest/migrated"
)

// spares has something happen to the worker of the job first, and then kills a worker of
// another job. When that is taken over, the heir has looked at the first often enough, and
// must have spared it.
func spares(t *testing.T, d *migrated.Database, happens func()) {
	t.Helper()
	worker := d.One("SELECT worker FROM job WHERE jid = 'first'")
	others := map[string]*holder{}
	for _, jid := range []string{"second", "third"} {
		d.Exec("INSERT INTO job (jid, task) VALUES (?, 'report')", jid)
		others[jid] = startHolder(d, d.URL, "executor", false)
	}
	until(d, "the others show that they live", func() bool { return livingWorkers(d, "holder") >= 2 })
	taken, _ := heirs["executor"](d)
	for _, jid := range []string{"second", "third"} { // with the second the heir proves that it can judge
		if jid == "third" {
			happens()
		}
		others[jid].kill()
		select {
		case <-taken:
		case <-after():
			t.Fatalf("nobody took over the %s", jid)
		}
		until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = ?", jid) == "success" })
	}
	d.Want("running "+worker+" 0", "SELECT state || ' ' || worker || ' ' || interrupts FROM job WHERE jid = 'first'")
}

// A process that stands still has not ended.
func TestStoppedHolderKeepsItsJob(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
		first := startHolder(d, d.URL, "executor", false)
		shown(d, 1)
		spares(t, d, func() { first.stop(t) })
	})
}

// A worker that never showed that it lives is judged by its lease, also if it is dead: it may
// be of an earlier release, or another program's.
func TestUnknownHolderKeepsItsJob(t *testing.T) {
	t.Parallel()
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
		d.Exec("UPDATE job SET state = 'running', worker = 'stranger', heartbeat = CURRENT_TIMESTAMP")
		if d.Kind == storetest.Postgres {
			d.Exec("UPDATE job SET heartbeat = clock_timestamp() AT TIME ZONE 'UTC'")
		}
		spares(t, d, func() {})
	})
}

// So is one that does not listen.
func TestHolderThatPollsKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	first := startHolder(d, d.URL, "executor", true)
	spares(t, d, first.kill)
}

// Behind a pooler the session that listens is not the process's own, and notifications do
// not arrive. Here they do not since it listens in another database.
func TestHolderBehindPoolerKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	db := opened(t, d.URL, store.Options{ListenURL: storetest.PostgresURL(t)})
	run := startJob(t, db)
	spares(t, d, func() {})
	run.finish()
	until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = 'first'") == "success" })
}

// A worker whose session the server ends makes a new one.
func TestHolderWithoutSessionKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	run := startJob(t, opened(t, d.URL, store.Options{}))
	shown(d, 1)
	spares(t, d, func() {
		d.Exec(`DO $$ BEGIN PERFORM pg_terminate_backend(pid) FROM pg_stat_activity, worker_session
			WHERE application_name = session AND worker = (SELECT worker FROM job WHERE jid = 'first'); END $$`)
	})
	run.finish()
	until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = 'first'") == "success" })
	d.Want(1, "SELECT count(*) FROM joblog WHERE jid = 'first' AND message LIKE 'attempt % begins%'")
}

// One that cannot make a new session, but reaches the database, says so: leases decide.
func TestHolderThatCannotListenKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	way := newWay(t, d.URL)
	run := startJob(t, opened(t, d.URL, store.Options{ListenURL: way.url}))
	shown(d, 1)
	spares(t, d, way.cut)
	run.finish()
	until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = 'first'") == "success" })
}

// A pooler that keeps a session for each client may add to its name: PgBouncer with
// application_name_add_host.
func TestHolderWithRenamedSessionKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	way := newWay(t, d.URL)
	way.renames = true
	run := startJob(t, opened(t, d.URL, store.Options{ListenURL: way.url}))
	until(t, "the session has another name", func() bool {
		return d.One("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '% FIRST@%'") == "1"
	})
	spares(t, d, func() {})
	run.finish()
	until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = 'first'") == "success" })
}

// Nobody waits long for the table of sessions, and nobody stops without it.
func TestLockedSessionsStopNobody(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	// Others hold something, so that the scheduler looks whether they live.
	const later = "clock_timestamp() AT TIME ZONE 'UTC' + interval '5 s'"
	d.Exec("INSERT INTO periodic_task (id, task, timer, worker, marked) VALUES ('held', 'held', 'yearly', 'stranger', " + later + ")")
	others := startScheduler(d, periodic.Config{Name: "warm", Logger: quiet()})
	shown(d, 1)
	tick := func() {
		d.Exec("UPDATE periodic_task SET nextrun = clock_timestamp() AT TIME ZONE 'UTC' WHERE id = 'report'")
	}
	d.Exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'report', 'yearly', 'allow')")
	time.Sleep(4 * time.Second) // it can judge others now
	other, err := sql.Open("postgres", d.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // nothing is lost with it
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE worker_session IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	slowest := time.Duration(0)
	for n := 1; n <= 10; n++ {
		begun := time.Now()
		tick()
		until(d, "the task is submitted", func() bool { return d.One("SELECT count(*) FROM job WHERE task = 'report'") == strconv.Itoa(n) })
		slowest = max(slowest, time.Since(begun))
		time.Sleep(300 * time.Millisecond)
	}
	t.Logf("slowest: %s", slowest)
	if slowest > 2*time.Second {
		t.Errorf("the slowest tick took %s", slowest)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	others()
}

// One that is cut off loses its job, and cannot change it any more when it is back.
func TestHolderCutOffLosesItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	way := newWay(t, d.URL)
	run := startJob(t, opened(t, way.url, store.Options{}))
	shown(d, 1)
	taken, _ := heirs["executor"](d)
	shown(d, 2)
	way.cut()
	select {
	case <-taken:
	case <-after():
		t.Fatal("nobody took over")
	}
	until(d, "the job is done", func() bool { return d.One("SELECT state FROM job WHERE jid = 'first'") == "success" })
	d.Want("true", "SELECT worker LIKE 'heir@%' FROM job WHERE jid = 'first'")
	run.err = errors.New("of no interest any more")
	run.finish()
	way.mend()
	until(d, "the first knows that it lost the job", run.isLost)
	d.Want("success 0", "SELECT state || ' ' || retries FROM job WHERE jid = 'first'")
	d.Want("true", "SELECT worker LIKE 'heir@%' FROM job WHERE jid = 'first'")
}

func opened(t *testing.T, url string, o store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// run is a job that runs in this process until it is to finish.
type run struct {
	once sync.Once
	end  chan struct{}
	err  error
	lost chan struct{}
}

func startJob(t *testing.T, db *store.DB) *run {
	t.Helper()
	r := &run{end: make(chan struct{}), lost: make(chan struct{}, 8)}
	begun := make(chan struct{}, 8)
	cfg := executing("first")
	cfg.Heartbeat = never / 2
	cfg.Observe = func(e jobqueue.Event) {
		if e.Kind == jobqueue.EventLost {
			r.lost <- struct{}{}
		}
	}
	e, err := jobqueue.NewExecutor(db.Jobs(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	e.Register("report", func(context.Context, *jobqueue.JobContext) error {
		begun <- struct{}{}
		<-r.end
		return r.err
	}, jobqueue.WithLimits(jobqueue.Limits{Concurrency: 1}))
	if err := e.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.finish(); _ = e.Stop(context.Background()) })
	<-begun
	return r
}

func (r *run) finish() { r.once.Do(func() { close(r.end) }) }

func (r *run) isLost() bool { return len(r.lost) > 0 }

// way is a way to the database's server that can be cut.
type way struct {
	t        testing.TB
	url      string
	server   string
	network  string
	listener net.Listener
	mu       sync.Mutex
	open     []net.Conn
	isCut    bool
	renames  bool // sessions, as some poolers do
}

// renamed is a connection whose server reads another name of the worker first.
type renamed struct{ net.Conn }

func (r renamed) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	copy(p, bytes.ReplaceAll(p[:n], []byte(" first@"), []byte(" FIRST@")))
	return n, err
}

func newWay(t testing.TB, to string) *way {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	w := &way{t: t, network: "tcp", server: u.Host}
	if host := u.Query().Get("host"); host != "" {
		port := u.Query().Get("port")
		if port == "" {
			port = "5432"
		}
		w.network, w.server = "unix", host+"/.s.PGSQL."+port
	}
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	u.Host, u.RawQuery = w.listener.Addr().String(), query.Encode()
	w.url = u.String()
	go w.serve()
	t.Cleanup(func() { _ = w.listener.Close(); w.cut() })
	return w
}

func (w *way) serve() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(w.network, w.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		w.mu.Lock()
		w.open = append(w.open, client, server)
		if w.isCut {
			_, _ = client.Close(), server.Close()
		}
		w.mu.Unlock()
		pass := func(to, from net.Conn) {
			_, _ = io.Copy(to, from)
			_, _ = to.Close(), from.Close()
		}
		go pass(client, server)
		if w.renames {
			client = renamed{client}
		}
		go pass(server, client)
	}
}

// cut ends all connections, and those to come.
func (w *way) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = true
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

func (w *way) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = false
}

// An executor that stops still runs its jobs to their end. Nobody takes them meanwhile, even
// if somebody has its row locked, so that it cannot say that it stops: its session stays.
func TestHolderThatStopsKeepsItsJob(t *testing.T) {
	t.Parallel()
	d := migrated.New(t, storetest.Postgres)
	d.Exec("INSERT INTO job (jid, task) VALUES ('first', 'report')")
	cfg := executing("first")
	cfg.ShutdownGrace = never
	e, err := jobqueue.NewExecutor(opened(t, d.URL, store.Options{}).Jobs(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	end, begun := make(chan struct{}), make(chan struct{})
	e.Register("report", func(context.Context, *jobqueue.JobContext) error {
		close(begun)
		<-end
		return nil
	})
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-begun
	shown(d, 1)
	taken, _ := heirs["executor"](d)
	shown(d, 2)
	other, err := sql.Open("postgres", d.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	lock, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec("SELECT 1 FROM worker_session WHERE worker LIKE 'first@%' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- e.Stop(context.Background()) }()
	// It tries to remove the row, gives up, and tries again.
	attempts := map[string]bool{}
	until(d, "the executor tries a second time to remove its row", func() bool {
		attempts[d.One(`SELECT coalesce((SELECT min(query_start) FROM pg_stat_activity
			WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM worker_session%' AND datname = current_database())::text, '')`)] = true
		delete(attempts, "")
		return len(attempts) > 1
	})
	if n := d.One(`SELECT count(*) FROM worker_session AS s WHERE worker LIKE 'first@%'
			AND EXISTS (SELECT 1 FROM pg_stat_activity AS a WHERE a.application_name = s.session)`); n != "1" {
		t.Error("its session has ended before its row is gone")
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	until(d, "its row is gone", func() bool { return livingWorkers(d, "first") == 0 })
	close(end)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	select {
	case <-taken:
		t.Error("another executor has taken the job while the first one was stopping")
	default:
	}
}
