//go:build linux

package main

import (
	"context"
	cryptorand "crypto/rand"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/audit"
	"github.com/nextrun/nextrun/bench/internal/must"
)

// cluster is a PostgreSQL database, in a server that changes with each failover. It belongs to a role without other rights.
type cluster struct {
	dir      string
	password string // of the roles nextrun and postgres
	servers  int
	current  *server
	net      *network
	ledger   *ledger
	db       *sql.DB
}

func newCluster(ctx context.Context, dir string, instances int, l *ledger) *cluster {
	p := &cluster{dir: dir, password: cryptorand.Text(), ledger: l}
	p.current = p.newServer()
	if err := must.Try(func() {
		p.current.create(ctx)
		p.current.start(ctx)
		p.current.admin(ctx, "CREATE ROLE nextrun LOGIN PASSWORD '"+p.password+"'", "CREATE DATABASE chaos OWNER nextrun")
	}); err != nil {
		p.current.remove()
		panic(err)
	}
	p.net = newNetwork(p.current.address(), instances)
	p.db = must.Get(sql.Open("postgres", pgURL("postgres", p.password, p.net.ways[instances].address, "chaos")+"&connect_timeout=5"))
	p.db.SetMaxOpenConns(6)
	return p
}

// newServer prepares the next server.
func (p *cluster) newServer() *server {
	p.servers++
	return newServer(filepath.Join(p.dir, fmt.Sprintf("pg%d", p.servers)), p.password)
}

func pgURL(account, password, address, database string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", account, password, address, database)
}

func (p *cluster) url(i int) string {
	return pgURL("nextrun", p.password, p.net.ways[i].address, "chaos")
}
func (p *cluster) handle() *sql.DB { return p.db }

// heal brings the server back, whatever was done to it.
func (p *cluster) heal(ctx context.Context) {
	p.current.start(ctx)
	p.current.admin(ctx, resetSettings...)
}

func (p *cluster) close() {
	_ = p.db.Close()
	p.net.close()
	p.current.remove()
}

// lanes are the kinds of faults of the server, and beside them those of the network.
func (p *cluster) lanes() [][]kind {
	return [][]kind{{
		{"server: killed (SIGKILL)", p.down(syscall.SIGKILL)},
		{"server: stopped at once (immediate)", p.down(syscall.SIGQUIT)},
		{"server: stopped and started (fast)", p.down(syscall.SIGINT)},
		{"server: failover to a replica", p.failover(true)},
		{"server: failover that loses commits", p.failover(false)},
		{"server: all backends terminated", p.terminate("true")},
		{"server: half of the backends terminated", p.terminate("random() < 0.5")},
		{"server: read only", p.readOnly},
		{"server: out of connections", p.outOfConnections},
		{"server: periodic_task locked", p.hold(6*time.Second, "LOCK TABLE periodic_task IN ACCESS EXCLUSIVE MODE")},
		{"server: periodic_tick locked", p.hold(6*time.Second, "LOCK TABLE periodic_tick IN ACCESS EXCLUSIVE MODE")},
		{"server: job locked", p.hold(6*time.Second, "LOCK TABLE job IN ACCESS EXCLUSIVE MODE")},
		{"server: rows of tasks locked", p.hold(12*time.Second, "SELECT id FROM periodic_task ORDER BY random() LIMIT 5 FOR UPDATE")},
		{"server: disk full", p.diskFull},
	}, p.net.kinds()}
}

// away waits while the server is not as it should be.
func away(ctx context.Context, r *rand.Rand) {
	spell(ctx, r, 100*time.Millisecond, 6*time.Second)
}

func (p *cluster) down(signal syscall.Signal) do {
	return func(ctx context.Context, r *rand.Rand, _ *fault) {
		p.current.end(signal)
		away(ctx, r)
		p.current.start(context.WithoutCancel(ctx))
	}
}

func (p *cluster) terminate(which string) do {
	return func(ctx context.Context, _ *rand.Rand, _ *fault) {
		p.current.admin(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'nextrun' AND "+which)
	}
}

const reload = "SELECT pg_reload_conf()"

// resetSettings make the settings of a server what they were at its beginning.
var resetSettings = []string{"ALTER SYSTEM RESET ALL", reload}

func (p *cluster) readOnly(ctx context.Context, r *rand.Rand, _ *fault) {
	p.current.admin(ctx, "ALTER SYSTEM SET default_transaction_read_only = on", reload)
	away(ctx, r)
	p.current.admin(context.WithoutCancel(ctx), resetSettings...)
}

// outOfConnections takes all connections that there are, and those of backends that it terminates.
func (p *cluster) outOfConnections(ctx context.Context, r *rand.Rand, _ *fault) {
	db := must.Get(sql.Open("postgres", pgURL("nextrun", p.password, p.current.address(), "chaos")))
	defer db.Close() //nolint:errcheck // it gives the connections back
	during, cancel := context.WithTimeout(ctx, time.Second+time.Duration(r.Int64N(int64(5*time.Second))))
	defer cancel()
	for during.Err() == nil {
		if _, err := db.BeginTx(during, nil); err == nil { // it has the connection until the fault is over
			continue
		}
		p.terminate("application_name <> '' AND random() < 0.1")(ctx, r, nil)
		wait(during, 100*time.Millisecond)
	}
}

// hold keeps a lock, as a transaction that somebody forgot, or as a migration of somebody else.
func (p *cluster) hold(most time.Duration, statement string) do {
	return func(ctx context.Context, r *rand.Rand, _ *fault) {
		tx := must.Get(p.db.BeginTx(context.WithoutCancel(ctx), nil))
		defer tx.Rollback() //nolint:errcheck // that is its end
		must.Get(tx.ExecContext(ctx, statement))
		spell(ctx, r, time.Second, most)
	}
}

func (p *cluster) diskFull(ctx context.Context, r *rand.Rand, f *fault) {
	p.current.disk.full(ctx, r, f)
	p.current.start(context.WithoutCancel(ctx)) // it may have given up
}

// failover makes a streaming replica of the server, lets it confirm commits for a while, kills the server and promotes the
// replica. The preparation is no fault. Commits wait for a synchronous replica, so none is lost. Another one is cut off before:
// what it lacks is lost, and read from the server that was killed.
func (p *cluster) failover(synchronous bool) do {
	return func(ctx context.Context, r *rand.Rand, f *fault) {
		old, next := p.current, p.newServer()
		if err := must.Try(func() { p.follow(ctx, old, next, synchronous) }); err != nil {
			next.remove()
			old.admin(context.WithoutCancel(ctx), resetSettings...)
			panic(err)
		}
		cut := time.Now()
		spell(ctx, r, time.Second, 3*time.Second)
		f.begin = time.Now()
		old.end(pick(r, syscall.SIGKILL, syscall.SIGQUIT))
		ctx = context.WithoutCancel(ctx)
		next.admin(ctx, "SELECT pg_promote(true, 30)")
		has := p.known(ctx, next)
		p.current = next
		p.net.upstream.Store(next.address())
		f.end = time.Now()
		if !synchronous {
			old.start(ctx)
			lost := p.known(ctx, old)
			maps.DeleteFunc(lost, func(id string, _ bool) bool { return has[id] })
			p.ledger.lose(lost, cut, f.end)
		}
		old.remove()
	}
}

// known are the jobs, letters and events that a server has.
func (p *cluster) known(ctx context.Context, s *server) map[string]bool {
	db := must.Get(sql.Open("postgres", pgURL("postgres", p.password, s.address(), "chaos")))
	defer db.Close() //nolint:errcheck // it only reads
	ids := map[string]bool{}
	audit.Each(ctx, db, audit.Known, func(scan func(...any)) {
		var id string
		scan(&id)
		ids[id] = true
	})
	return ids
}

// follow makes a replica that follows a server synchronously, or one that has stopped to follow it.
func (p *cluster) follow(ctx context.Context, old, next *server, synchronous bool) {
	must.Nil(surely(ctx, 90*time.Second, func(ctx context.Context) error {
		limited, cancel := context.WithTimeout(ctx, 30*time.Second) // it waits for ever where another fault has terminated one of its two backends
		defer cancel()
		must.Nil(os.RemoveAll(next.data()))
		return must.Try(func() {
			next.tool(limited, "pg_basebackup", "-h", "127.0.0.1", "-p", fmt.Sprint(old.port), "-U", "postgres",
				"-D", next.data(), "-X", "stream", "-c", "fast", "-R", "--no-sync")
		})
	}))
	next.start(ctx)
	if !synchronous {
		next.admin(ctx, "ALTER SYSTEM SET primary_conninfo = ''", reload)
		return
	}
	old.admin(ctx, "ALTER SYSTEM SET synchronous_standby_names = '*'", reload)
	must.Nil(await(ctx, p.handle, 30*time.Second, "SELECT CASE count(*) WHEN 0 THEN 1 ELSE 0 END FROM pg_stat_replication WHERE sync_state = 'sync'"))
}
