//go:build linux

// Package postgres has a PostgreSQL database of the chaos: a server with a disk of its own, replicas that take its place, and the
// faults that happen to them.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"

	"github.com/nextrun/nextrun/bench/chaos/internal/network"
)

// Database is a PostgreSQL database, in a server that changes with each failover.
type Database struct {
	dir     string
	servers int
	current *server
	net     *network.Network
	own     *network.Network // without faults
	db      *sql.DB
	pw      string // of the role nextrun
}

// New makes a server with a database that belongs to a role without other rights.
func New(ctx context.Context, dir string, instances int) (*Database, error) {
	p := &Database{dir: dir}
	if err := p.create(ctx, instances); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Database) create(ctx context.Context, instances int) (err error) {
	if p.current, err = newServer(filepath.Join(p.dir, "pg0")); err != nil {
		return err
	}
	p.pw = p.current.password
	if err := p.current.create(ctx); err != nil {
		return err
	}
	if err := p.current.start(ctx); err != nil {
		return err
	}
	if err := p.current.admin(ctx, "CREATE ROLE nextrun LOGIN PASSWORD '"+p.pw+"'", "CREATE DATABASE chaos OWNER nextrun"); err != nil {
		return err
	}
	if p.net, err = network.New(p.current.address(), instances); err != nil {
		return err
	}
	if p.own, err = network.New(p.current.address(), 1); err != nil {
		return err
	}
	p.db, err = sql.Open("postgres", p.ownURL()+"&connect_timeout=5")
	if err != nil {
		return err
	}
	p.db.SetMaxOpenConns(6)
	return nil
}

func (p *Database) ownURL() string {
	return pgURL("postgres", p.current.password, p.own.Address(0), "chaos")
}

// URL is for the i-th instance, on a way that faults happen to.
func (p *Database) URL(i int) string { return pgURL("nextrun", p.pw, p.net.Address(i), "chaos") }

// QuietURL is for who checks: no faults of the network happen to it.
func (p *Database) QuietURL() string { return pgURL("nextrun", p.pw, p.own.Address(0), "chaos") }

// Handle is a connection of the superuser.
func (p *Database) Handle() *sql.DB { return p.db }

// Unmade are the faults that cannot be made here, and why.
func (p *Database) Unmade() (list []string) {
	if !p.current.disk.Mounted() {
		list = append(list, "server: disk full: "+p.current.disk.Why())
	}
	return list
}

// Describe names the server and its version.
func (p *Database) Describe(ctx context.Context) string {
	var version string
	if err := p.db.QueryRowContext(ctx, "SHOW server_version").Scan(&version); err != nil {
		return "PostgreSQL"
	}
	version, _, _ = strings.Cut(version, " ")
	return "PostgreSQL " + version
}

// Heal brings the server back, whatever was done to it.
func (p *Database) Heal(ctx context.Context) error {
	var list []error
	if p.current.disk.Mounted() {
		list = append(list, p.current.disk.Empty())
	}
	list = append(list, p.current.start(ctx), p.current.admin(ctx, "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()"))
	return errors.Join(list...)
}

// Close ends the server and removes its files.
func (p *Database) Close() {
	if p.db != nil {
		_ = p.db.Close()
	}
	for _, n := range []*network.Network{p.net, p.own} {
		if n != nil {
			n.Close()
		}
	}
	if p.current != nil {
		p.current.remove()
	}
}
