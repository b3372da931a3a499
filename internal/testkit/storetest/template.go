package storetest

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Template is the content that many databases of tests start with. It is made once
// in a process for each kind and then copied, which takes a fraction of the time. Its
// methods may be called from parallel tests.
type Template struct {
	fill     func(url string) error
	postgres func() (name string, err error)
	sqlite   func() (content []byte, err error)
	drop     func() error
}

// NewTemplate returns the template that fill makes of an empty database. fill must
// close its connections. Call Drop after the tests.
func NewTemplate(fill func(url string) error) *Template {
	p := &Template{fill: fill, drop: func() error { return nil }}
	p.postgres = sync.OnceValues(p.makePostgres)
	p.sqlite = sync.OnceValues(p.makeSQLite)
	return p
}

// New returns a copy of a kind, which is removed with the test.
func (p *Template) New(t testing.TB, kind string) *Database {
	t.Helper()
	if kind == Postgres {
		Need(t, Postgres)
		name, err := p.postgres()
		if err != nil {
			t.Fatalf("PostgreSQL for the test: %v", err)
		}
		return At(t, postgresCopy(t, name))
	}
	content, err := p.sqlite()
	if err != nil {
		t.Fatalf("SQLite for the test: %v", err)
	}
	address := SQLiteURL(t)
	if err := os.WriteFile(strings.TrimPrefix(address, "sqlite:"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return At(t, address)
}

// Drop removes what the template has left on the server.
func (p *Template) Drop() error { return p.drop() }

func (p *Template) makePostgres() (string, error) {
	server, err := sharedServer()
	if err != nil {
		return "", err
	}
	name, address, err := createDatabase(server, emptyDatabase)
	if err != nil {
		return "", err
	}
	p.drop = func() error { return dropDatabase(server, name) }
	return name, p.fill(address)
}

func (p *Template) makeSQLite() ([]byte, error) {
	dir, err := os.MkdirTemp("", "nextrun-template-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "nextrun.db")
	if err := p.fill("sqlite:" + file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}
