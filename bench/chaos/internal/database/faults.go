//go:build linux

package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Lanes are the kinds of faults of the server, and beside them those of the network.
func (p *Cluster) Lanes() [][]fault.Kind {
	return [][]fault.Kind{{
		{Name: "server: killed (SIGKILL)", Do: p.down(syscall.SIGKILL)},
		{Name: "server: stopped at once (immediate)", Do: p.down(syscall.SIGQUIT)},
		{Name: "server: stopped and started (fast)", Do: p.down(syscall.SIGINT)},
		{Name: "server: failover to a replica", Do: p.failover},
		{Name: "server: a backend killed (SIGKILL)", Do: p.killBackend},
		{Name: "server: all backends terminated", Do: p.terminate("true")},
		{Name: "server: half of the backends terminated", Do: p.terminate("random() < 0.5")},
		{Name: "server: read only", Do: p.readOnly},
		{Name: "server: out of connections", Do: p.outOfConnections},
		{Name: "server: a table locked", Do: p.lockTable},
		{Name: "server: row of a task locked", Do: func(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
			return p.hold(ctx, r, "SELECT id FROM periodic_task ORDER BY random() LIMIT 5 FOR UPDATE", 12*time.Second)
		}},
		{Name: "server: disk full", Do: p.diskFull},
	}, p.net.Kinds()}
}

// away waits while the server is not as it should be.
func away(ctx context.Context, r *rand.Rand) {
	fault.Spell(ctx, r, 100*time.Millisecond, 6*time.Second)
}

func (p *Cluster) down(signal syscall.Signal) fault.Do {
	return func(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
		if err := p.current.end(signal); err != nil {
			return err
		}
		away(ctx, r)
		return p.current.start(context.WithoutCancel(ctx))
	}
}

// killBackend kills a process of the server, which then restarts all of them.
func (p *Cluster) killBackend(ctx context.Context, _ *rand.Rand, _ *fault.Fault) error {
	var pid int
	if err := p.db.QueryRowContext(ctx, "SELECT pid FROM pg_stat_activity WHERE usename = 'nextrun' ORDER BY random() LIMIT 1").Scan(&pid); err != nil {
		return err
	}
	parent := strconv.Itoa(p.current.process.Pid)
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || !strings.Contains(string(text), " "+parent+" ") {
		return fault.ErrNotNow // it has ended, and its number may be somebody else's
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	fault.Wait(ctx, 200*time.Millisecond)
	return p.current.start(context.WithoutCancel(ctx))
}

func (p *Cluster) terminate(which string) fault.Do {
	return func(ctx context.Context, _ *rand.Rand, _ *fault.Fault) error {
		return p.current.admin(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'nextrun' AND "+which)
	}
}

const reload = "SELECT pg_reload_conf()"

// resetSettings make the settings of a server what they were at its beginning.
var resetSettings = []string{"ALTER SYSTEM RESET ALL", reload}

func (p *Cluster) readOnly(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
	if err := p.current.admin(ctx, "ALTER SYSTEM SET default_transaction_read_only = on", reload); err != nil {
		return err
	}
	away(ctx, r)
	return p.current.admin(context.WithoutCancel(ctx), resetSettings...)
}

// outOfConnections takes all connections that there are, and those of backends that it terminates.
func (p *Cluster) outOfConnections(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
	db, err := sql.Open("postgres", pgURL("nextrun", p.password, p.current.address(), "chaos"))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it gives the connections back
	spell, cancel := context.WithTimeout(ctx, time.Second+time.Duration(r.Int64N(int64(5*time.Second))))
	defer cancel()
	for spell.Err() == nil {
		if _, err := db.BeginTx(spell, nil); err == nil { // it has the connection until the spell is over
			continue
		}
		if err := p.terminate("application_name <> '' AND random() < 0.1")(ctx, r, nil); err != nil {
			return err
		}
		fault.Wait(spell, 100*time.Millisecond)
	}
	return nil
}

// lockTable locks the tasks or the jobs against everybody, as a migration of somebody else would.
func (p *Cluster) lockTable(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
	f.On = fault.Pick(r, "periodic_task", "periodic_tick", "job")
	return p.hold(ctx, r, "LOCK TABLE "+f.On+" IN ACCESS EXCLUSIVE MODE", 6*time.Second)
}

// hold keeps a lock, as a transaction that somebody forgot.
func (p *Cluster) hold(ctx context.Context, r *rand.Rand, statement string, most time.Duration) error {
	tx, err := p.db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // that is its end
	if _, err := tx.ExecContext(ctx, statement); err != nil {
		return err
	}
	fault.Spell(ctx, r, time.Second, most)
	return nil
}

func (p *Cluster) diskFull(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
	if err := p.current.disk.full(ctx, r, f); err != nil {
		return err
	}
	return p.current.start(context.WithoutCancel(ctx)) // it may have given up
}

// failover makes a streaming replica of the server, lets it confirm commits for a while, kills the server and promotes the
// replica. Commits wait for the replica, so none is lost. The preparation is no fault.
func (p *Cluster) failover(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
	old := p.current
	next, err := p.newServer()
	if err != nil {
		return err
	}
	if err := p.follow(ctx, old, next); err != nil {
		next.remove()
		_ = old.admin(context.WithoutCancel(ctx), resetSettings...)
		return err
	}
	fault.Spell(ctx, r, time.Second, 3*time.Second)
	f.Begin = time.Now()
	if err := old.end(fault.Pick(r, syscall.SIGKILL, syscall.SIGQUIT)); err != nil {
		return err
	}
	if err := next.admin(context.WithoutCancel(ctx), "SELECT pg_promote(true, 30)"); err != nil {
		return err
	}
	p.current = next
	old.remove()
	p.net.Lead(next.address())
	return nil
}

// follow makes a replica that follows a server synchronously.
func (p *Cluster) follow(ctx context.Context, old, next *server) error {
	for tries := 1; ; tries++ { // it waits for ever where another fault has terminated one of its two backends
		limited, cancel := context.WithTimeout(ctx, 30*time.Second)
		err := next.tool(limited, "pg_basebackup", "-h", "127.0.0.1", "-p", fmt.Sprint(old.port), "-U", "postgres",
			"-D", next.data(), "-X", "stream", "-c", "fast", "-R", "--no-sync")
		cancel()
		if err == nil {
			break
		}
		if err := errors.Join(ctx.Err(), os.RemoveAll(next.data())); err != nil || tries == 3 {
			return errors.Join(err, fmt.Errorf("make a replica of %d", old.port))
		}
	}
	if err := next.start(ctx); err != nil {
		return err
	}
	if err := old.admin(ctx, "ALTER SYSTEM SET synchronous_standby_names = '*'", reload); err != nil {
		return err
	}
	return Await(ctx, p.Handle, 30*time.Second, "SELECT CASE count(*) WHEN 0 THEN 1 ELSE 0 END FROM pg_stat_replication WHERE sync_state = 'sync'")
}
