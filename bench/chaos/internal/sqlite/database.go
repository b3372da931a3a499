//go:build linux

// Package sqlite has a SQLite database of the chaos, and the faults that happen to its file.
package sqlite

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"sync"

	_ "github.com/mattn/go-sqlite3" // the driver sqlite3

	"github.com/nextrun/nextrun/bench/chaos/internal/disk"
	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Database is a SQLite database, in a file that is replaced now and then.
type Database struct {
	dir  string
	disk *disk.Disk

	mu sync.Mutex
	db *sql.DB // of the file that there is now
}

// New returns a database whose file does not exist yet.
func New(dir string) (*Database, error) {
	l := &Database{dir: filepath.Join(dir, "disk")}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	l.disk = disk.New(l.dir)
	if err := l.open(); err != nil {
		l.disk.Remove()
		return nil, err
	}
	return l, nil
}

func (l *Database) path() string { return filepath.Join(l.dir, "chaos.db") }

func (l *Database) source() string { return "file:" + l.path() + "?_busy_timeout=5000" }

// open opens the file that there is.
func (l *Database) open() error {
	db, err := sql.Open("sqlite3", l.source()+"&_txlock=immediate&_journal_mode=WAL")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(3)
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.db
	l.db = db
	if old != nil {
		return old.Close()
	}
	return nil
}

// Handle is a connection to the file that there is now.
func (l *Database) Handle() *sql.DB {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.db
}

// URL is the same for all instances.
func (l *Database) URL(int) string { return "sqlite:" + l.path() }

// QuietURL is that of the instances, too.
func (l *Database) QuietURL() string { return l.URL(0) }

// Aside are no faults: there is no network.
func (l *Database) Aside() []fault.Kind { return nil }

// Unmade are the faults that cannot be made here, and why.
func (l *Database) Unmade() []string {
	list := []string{"clock: an instance an hour off, and jumping: all processes on a file have the clock of one machine"}
	if !l.disk.Mounted() {
		list = append(list, "file: disk full: "+l.disk.Why())
	}
	return list
}

// Describe names the version.
func (l *Database) Describe(ctx context.Context) string {
	var version string
	_ = l.Handle().QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version)
	return "SQLite " + version
}

// Heal makes room on the disk.
func (l *Database) Heal(context.Context) error {
	if l.disk.Mounted() {
		return l.disk.Empty()
	}
	return nil
}

// Close gives up the file.
func (l *Database) Close() {
	_ = l.db.Close()
	l.disk.Remove()
}
