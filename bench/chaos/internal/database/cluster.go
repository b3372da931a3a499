//go:build linux

package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"path/filepath"

	"github.com/nextrun/nextrun/bench/chaos/internal/network"
)

// Cluster is a PostgreSQL database, in a server that changes with each failover. It belongs to a role without other rights.
type Cluster struct {
	dir      string
	password string // of the roles nextrun and postgres
	servers  int
	current  *server
	net      *network.Network
	db       *sql.DB
}

// NewCluster makes a server with an empty database.
func NewCluster(ctx context.Context, dir string, instances int) (*Cluster, error) {
	p := &Cluster{dir: dir, password: rand.Text()}
	if err := p.create(ctx, instances); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Cluster) create(ctx context.Context, instances int) (err error) {
	if p.current, err = p.newServer(); err != nil {
		return err
	}
	if err := p.current.create(ctx); err != nil {
		return err
	}
	if err := p.current.start(ctx); err != nil {
		return err
	}
	if err := p.current.admin(ctx, "CREATE ROLE nextrun LOGIN PASSWORD '"+p.password+"'", "CREATE DATABASE chaos OWNER nextrun"); err != nil {
		return err
	}
	if p.net, err = network.New(p.current.address(), instances); err != nil {
		return err
	}
	p.db, err = sql.Open("postgres", pgURL("postgres", p.password, p.net.Address(instances), "chaos")+"&connect_timeout=5")
	if err != nil {
		return err
	}
	p.db.SetMaxOpenConns(6)
	return nil
}

// newServer prepares the next server.
func (p *Cluster) newServer() (*server, error) {
	p.servers++
	return newServer(filepath.Join(p.dir, fmt.Sprintf("pg%d", p.servers)), p.password)
}

// URL is for the i-th instance, on a way that faults happen to; beyond the last one, on a way without.
func (p *Cluster) URL(i int) string { return pgURL("nextrun", p.password, p.net.Address(i), "chaos") }

// Handle is a connection of the superuser.
func (p *Cluster) Handle() *sql.DB { return p.db }

// Heal brings the server back, whatever was done to it.
func (p *Cluster) Heal(ctx context.Context) error {
	if err := p.current.start(ctx); err != nil {
		return err
	}
	return p.current.admin(ctx, resetSettings...)
}

// Close ends the server and removes its files.
func (p *Cluster) Close() {
	if p.db != nil {
		_ = p.db.Close()
	}
	if p.net != nil {
		p.net.Close()
	}
	if p.current != nil {
		p.current.remove()
	}
}
