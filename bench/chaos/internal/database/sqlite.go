//go:build linux

package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver sqlite3

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// File is a SQLite database, in a file that is replaced now and then.
type File struct {
	dir  string
	disk *disk

	mu sync.Mutex
	db *sql.DB // of the file that there is now
}

// NewFile returns a database whose file does not exist yet.
func NewFile(dir string) (*File, error) {
	l := &File{dir: filepath.Join(dir, "disk")}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	l.disk = newDisk(l.dir)
	if err := l.open(); err != nil {
		l.disk.remove()
		return nil, err
	}
	return l, nil
}

func (l *File) path() string { return filepath.Join(l.dir, "chaos.db") }

func (l *File) source() string { return "file:" + l.path() + "?_busy_timeout=" }

// open opens the file that there is. What waits for a lock gives up before [File.replace] releases its own: else it would go on
// in the old file.
func (l *File) open() error {
	db, err := sql.Open("sqlite3", l.source()+"1000&_txlock=immediate&_journal_mode=WAL")
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
func (l *File) Handle() *sql.DB {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.db
}

// URL is the same for all.
func (l *File) URL(int) string { return "sqlite:" + l.path() }

// Lanes are the kinds of faults of the file.
func (l *File) Lanes() [][]fault.Kind {
	return [][]fault.Kind{{
		{Name: "file: locked against writers (IMMEDIATE)", Do: l.held(500*time.Millisecond, 8*time.Second, "BEGIN IMMEDIATE")},
		{Name: "file: locked (EXCLUSIVE)", Do: l.held(500*time.Millisecond, 8*time.Second, "BEGIN EXCLUSIVE")},
		{Name: "file: checkpointed by others", Do: l.checkpoint},
		{Name: "file: an old reader holds up checkpoints", Do: l.held(2*time.Second, 10*time.Second, "BEGIN", "SELECT count(*) FROM periodic_task")},
		{Name: "file: replaced by a copy", Do: l.replace},
		{Name: "file: disk full", Do: l.disk.full},
	}}
}

// as another program runs statements on a connection of its own, which its caller closes.
func (l *File) as(ctx context.Context, statements ...string) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", l.source()+"5000")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := Exec(context.WithoutCancel(ctx), db, statements...); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// held keeps a transaction open.
func (l *File) held(least, most time.Duration, statements ...string) fault.Do {
	return func(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
		db, err := l.as(ctx, statements...)
		if err != nil {
			return err
		}
		defer db.Close() //nolint:errcheck // that is its end
		f.Begin = time.Now()
		fault.Spell(ctx, r, least, most)
		return nil
	}
}

// checkpoint empties the log of the file again and again.
func (l *File) checkpoint(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
	db, err := l.as(ctx)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // that is its end
	for range 5 + r.IntN(20) {
		if _, err := db.ExecContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			return err
		}
		fault.Wait(ctx, 100*time.Millisecond)
	}
	return nil
}

// replace puts a copy in the place of the file, as somebody does who restores a backup. Nobody can write to the old file
// from before the copy until all have noticed, which takes nextrun up to a second.
func (l *File) replace(ctx context.Context, _ *rand.Rand, f *fault.Fault) error {
	lock, err := l.as(ctx, "BEGIN IMMEDIATE")
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // that is its end
	f.Begin = time.Now()
	copied := filepath.Join(l.dir, fmt.Sprintf("copy-%d.db", time.Now().UnixNano()))
	reader, err := l.as(ctx, "VACUUM INTO '"+copied+"'")
	if err != nil {
		return err
	}
	defer reader.Close() //nolint:errcheck // it has read
	if err := os.Rename(copied, l.path()); err != nil {
		return err
	}
	err = l.open()
	fault.Wait(ctx, 2*time.Second)
	f.End = time.Now()
	return err
}

// Heal has nothing to do: each fault of a file has ended.
func (l *File) Heal(context.Context) error { return nil }

// Close gives up the file.
func (l *File) Close() {
	_ = l.db.Close()
	l.disk.remove()
}
