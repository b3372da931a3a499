//go:build linux

package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/database"
	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
	"github.com/nextrun/nextrun/bench/chaos/internal/network"
)

// failover makes a streaming replica of the server, lets it confirm commits for a while, kills the server and promotes the
// replica. Commits wait for the replica, so none is lost. The preparation is no fault.
func (p *Database) failover(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
	old := p.current
	p.servers++
	next, err := newServer(filepath.Join(p.dir, fmt.Sprintf("pg%d", p.servers)))
	if err != nil {
		return err
	}
	next.password = old.password
	if err := p.follow(ctx, old, next); err != nil {
		next.remove()
		_ = old.admin(context.WithoutCancel(ctx), "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")
		return err
	}
	fault.Wait(ctx, fault.Between(time.Second, 3*time.Second)(r))
	f.Begin = time.Now()
	ctx = context.WithoutCancel(ctx)
	if err := old.end(fault.Pick(r, syscall.SIGKILL, syscall.SIGQUIT)); err != nil {
		return err
	}
	if err := next.admin(ctx, "SELECT pg_promote(true, 30)"); err != nil {
		return err
	}
	p.current = next
	old.remove()
	for _, n := range []*network.Network{p.own, p.net} {
		if err := n.Lead(next.address()); err != nil {
			return err
		}
	}
	return nil
}

// follow makes a replica that follows a server synchronously.
func (p *Database) follow(ctx context.Context, old, next *server) error {
	if err := next.tool(ctx, "pg_basebackup", "-h", "127.0.0.1", "-p", fmt.Sprint(old.port), "-U", "postgres",
		"-D", next.data(), "-X", "stream", "-c", "fast", "-R", "--no-sync"); err != nil {
		return err
	}
	if err := next.start(ctx); err != nil {
		return err
	}
	if err := old.admin(ctx, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	return database.Until(ctx, p.db, 30*time.Second, "SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state = 'sync'")
}
