//go:build linux

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver sqlite3

	"github.com/nextrun/nextrun/bench/internal/must"
)

// file is a SQLite database, in a file that is replaced now and then.
type file struct {
	path string
	disk disk
	db   atomic.Pointer[sql.DB] // of the file that there is now
}

func newFile(dir string) *file {
	dir = filepath.Join(dir, "disk")
	must.Nil(os.Mkdir(dir, 0o700))
	l := &file{path: filepath.Join(dir, "chaos.db"), disk: newDisk(dir)}
	l.open()
	return l
}

// open opens the file that there is. What waits for a lock gives up before [file.replace] releases its own: else it would go on
// in the old file.
func (l *file) open() {
	db := must.Get(sql.Open("sqlite3", "file:"+l.path+"?_busy_timeout=1000&_txlock=immediate&_journal_mode=WAL"))
	db.SetMaxOpenConns(3)
	if old := l.db.Swap(db); old != nil {
		must.Nil(old.Close())
	}
}

func (l *file) url(int) string       { return "sqlite:" + l.path }
func (l *file) handle() *sql.DB      { return l.db.Load() }
func (l *file) heal(context.Context) {} // each fault of a file has ended

func (l *file) close() {
	_ = l.db.Load().Close()
	l.disk.remove()
}

func (l *file) lanes() [][]kind {
	return [][]kind{{
		{"file: locked against writers (IMMEDIATE)", l.held(500*time.Millisecond, 8*time.Second, "BEGIN IMMEDIATE")},
		{"file: locked (EXCLUSIVE)", l.held(500*time.Millisecond, 8*time.Second, "BEGIN EXCLUSIVE")},
		{"file: checkpointed by others", l.held(0, time.Second, slices.Repeat([]string{"PRAGMA wal_checkpoint(TRUNCATE)"}, 50)...)},
		{"file: an old reader holds up checkpoints", l.held(2*time.Second, 10*time.Second, "BEGIN", "SELECT count(*) FROM periodic_task")},
		{"file: replaced by a copy", l.replace},
		{"file: disk full", l.disk.full},
	}}
}

// as another program runs statements on a connection of its own, which its caller closes.
func (l *file) as(ctx context.Context, statements ...string) *sql.DB {
	db := must.Get(sql.Open("sqlite3", "file:"+l.path+"?_busy_timeout=5000"))
	db.SetMaxOpenConns(1)
	if err := execute(context.WithoutCancel(ctx), db, statements...); err != nil {
		_ = db.Close()
		panic(err)
	}
	return db
}

// held keeps open what statements have begun.
func (l *file) held(least, most time.Duration, statements ...string) do {
	return func(ctx context.Context, r *rand.Rand, f *fault) {
		db := l.as(ctx, statements...)
		defer db.Close() //nolint:errcheck // that is its end
		f.begin = time.Now()
		spell(ctx, r, least, most)
	}
}

// replace puts a copy in the place of the file, as somebody does who restores a backup. Nobody can write to the old file
// from before the copy until all have noticed, which takes nextrun up to a second.
func (l *file) replace(ctx context.Context, _ *rand.Rand, f *fault) {
	lock := l.as(ctx, "BEGIN IMMEDIATE")
	defer lock.Close() //nolint:errcheck // that is its end
	f.begin = time.Now()
	copied := fmt.Sprintf("%s-%d", l.path, f.begin.UnixNano())
	reader := l.as(ctx, "VACUUM INTO '"+copied+"'")
	defer reader.Close() //nolint:errcheck // it has read
	must.Nil(os.Rename(copied, l.path))
	for _, left := range []string{"-wal", "-shm"} { // who starts before others have noticed would take them for those of the copy
		if err := os.Remove(l.path + left); !errors.Is(err, fs.ErrNotExist) {
			must.Nil(err)
		}
	}
	l.open()
	wait(ctx, 2*time.Second)
	f.end = time.Now()
}
