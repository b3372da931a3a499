//go:build linux

package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Kinds are what happens to the server, one after the other.
func (p *Database) Kinds() []fault.Kind {
	away := fault.Between(100*time.Millisecond, 6*time.Second)
	list := []fault.Kind{
		{Name: "server: killed (SIGKILL)", Do: p.down(syscall.SIGKILL, away)},
		{Name: "server: stopped at once (immediate)", Do: p.down(syscall.SIGQUIT, away)},
		{Name: "server: stopped and started (fast)", Do: p.down(syscall.SIGINT, away)},
		{Name: "server: failover to a replica", Do: p.failover},
		{Name: "server: a backend killed (SIGKILL)", Do: p.killBackend},
		{Name: "server: all backends terminated", Do: p.terminate("true")},
		{Name: "server: half of the backends terminated", Do: p.terminate("random() < 0.5")},
		{Name: "server: read only", Do: p.setting("default_transaction_read_only = on", away)},
		{Name: "server: out of connections", Do: p.outOfConnections},
		{Name: "server: a table locked", Do: p.lockTable},
		{Name: "server: row of a task locked", Do: p.lockRow},
	}
	if p.current.disk.Mounted() {
		list = append(list, fault.Kind{Name: "server: disk full", Do: p.diskFull})
	}
	return append(list, p.net.Kinds("network of all: ", true)...)
}

// Aside are what happens to single ways to the server, beside all else.
func (p *Database) Aside() []fault.Kind { return p.net.Kinds("network of one or two: ", false) }

func (p *Database) down(signal syscall.Signal, away func(*rand.Rand) time.Duration) fault.Do {
	return func(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
		if err := p.current.end(signal); err != nil {
			return err
		}
		fault.Wait(ctx, away(r))
		return p.current.start(context.WithoutCancel(ctx))
	}
}

// killBackend kills a process of the server, which then restarts all of them.
func (p *Database) killBackend(ctx context.Context, _ *rand.Rand, _ *fault.Fault) error {
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

func (p *Database) terminate(which string) fault.Do {
	return func(ctx context.Context, _ *rand.Rand, _ *fault.Fault) error {
		return p.current.admin(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'nextrun' AND "+which)
	}
}

// setting changes a setting of the server for a time.
func (p *Database) setting(text string, d func(*rand.Rand) time.Duration) fault.Do {
	return func(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
		if err := p.current.admin(ctx, "ALTER SYSTEM SET "+text, "SELECT pg_reload_conf()"); err != nil {
			return err
		}
		fault.Wait(ctx, d(r))
		return p.current.admin(context.WithoutCancel(ctx), "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")
	}
}

// outOfConnections takes all connections that there are, and then those of some backends that it terminates.
func (p *Database) outOfConnections(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
	db, err := sql.Open("postgres", strings.Replace(p.QuietURL(), p.own.Address(0), p.current.address(), 1))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it gives the connections back
	take := func() {
		for range 200 {
			c, err := db.Conn(ctx)
			if err != nil {
				return
			}
			if c.PingContext(ctx) != nil {
				return
			}
		}
	}
	take()
	err = p.terminate("application_name NOT LIKE '' AND random() < 0.5")(ctx, r, nil)
	end := time.Now().Add(fault.Between(time.Second, 6*time.Second)(r))
	for time.Now().Before(end) && ctx.Err() == nil {
		take()
		fault.Wait(ctx, 50*time.Millisecond)
	}
	return err
}

// lockTable locks the tasks or the jobs against everybody, as a migration of somebody else would.
func (p *Database) lockTable(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
	f.On = fault.Pick(r, "periodic_task", "periodic_tick", "job")
	return p.hold(ctx, "LOCK TABLE "+f.On+" IN ACCESS EXCLUSIVE MODE", fault.Between(time.Second, 6*time.Second)(r))
}

// lockRow locks tasks, as a transaction that somebody forgot.
func (p *Database) lockRow(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
	return p.hold(ctx, "SELECT id FROM periodic_task ORDER BY random() LIMIT 5 FOR UPDATE", fault.Between(time.Second, 12*time.Second)(r))
}

func (p *Database) hold(ctx context.Context, statement string, d time.Duration) error {
	tx, err := p.db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // that is its end
	if _, err := tx.ExecContext(ctx, statement); err != nil {
		return err
	}
	fault.Wait(ctx, d)
	return nil
}

func (p *Database) diskFull(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
	if err := p.current.disk.Fill(); err != nil {
		return err
	}
	fault.Wait(ctx, fault.Between(2*time.Second, 8*time.Second)(r))
	if err := p.current.disk.Empty(); err != nil {
		return err
	}
	return p.current.start(context.WithoutCancel(ctx)) // it may have given up
}
