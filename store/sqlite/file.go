//go:build cgo && !nosqlite

package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/store/internal/sqlite"
)

// file is the file of a database. It notices when its path names another
// file than the one that was opened, or none: a backup was moved there, or the
// file was deleted. SQLite would go on to write to the old file, which nobody
// can find any more.
//
// The connections of the old file are given up then, and new ones are opened.
// Before that the old file's -wal and -shm must go: SQLite finds them by name
// and would apply them to the new file.
type file struct {
	given     string // as in the URL
	path      string // absolute, so that a change of directory does not matter
	create    bool
	closeIdle func() // closes the idle connections

	mu   sync.Mutex
	open *openFiles // nil before the first connection
}

// openFiles are the files that belong to the open database.
type openFiles struct {
	name   string // of the database, links resolved: SQLite adds -wal and -shm to it
	main   os.FileInfo
	side   map[string]os.FileInfo // by the suffix
	anchor *sqlite3.SQLiteConn    // keeps them open, so that no other files can be taken for them
	// retired: no connection may use them any more, although a file that was
	// moved away may come back.
	retired atomic.Bool
}

// sideFiles are the suffixes of the files that SQLite keeps beside a database.
var sideFiles = []string{"-wal", "-shm"}

func newFile(given string, create bool) *file {
	path, err := filepath.Abs(given)
	if err != nil { // there is no current directory
		path = given
	}
	return &file{given: given, path: path, create: create}
}

// source is the file for the driver, which never makes it.
func (f *file) source() string {
	return "file:" + strings.ReplaceAll(url.PathEscape(f.path), "%2F", "/") + "?mode=rw"
}

// find makes the file if that was asked for, or explains why it cannot be
// opened. Only its owner may read a new file: args may hold secrets.
func (f *file) find() error {
	_, err := os.Stat(f.path)
	if !errors.Is(err, fs.ErrNotExist) {
		return nil // SQLite knows what is wrong
	}
	dir := filepath.Dir(f.path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%w, and no directory %s; make the directory first", sqldb.ErrNoDatabase, dir)
	}
	if !f.create {
		return fmt.Errorf("%w; run: nextrun migrate up --db sqlite:%s", sqldb.ErrNoDatabase, f.given)
	}
	f.awaitRelease()
	made, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil // somebody else has just made it
	case err != nil:
		return err
	}
	return made.Close()
}

// awaitRelease waits, not for long, until a process that has the deleted file
// open has noticed: its -shm must not be taken for that of the new file. What a
// crash has left does no harm.
func (f *file) awaitRelease() {
	tick := time.NewTicker(sqlite.DataVersionInterval / 10)
	defer tick.Stop()
	for range 40 { // four times as long as it takes to notice
		_, err := os.Stat(f.path)
		_, used := os.Stat(f.path + "-shm")
		if err == nil || errors.Is(used, fs.ErrNotExist) {
			return
		}
		<-tick.C
	}
}

// check returns an error, a [driver.ErrBadConn], if the path does not name the
// file any more that a connection has open.
func (f *file) check(connected *openFiles) error {
	now, err := os.Stat(f.path)
	missing := errors.Is(err, fs.ErrNotExist)
	same := err != nil && !missing || err == nil && os.SameFile(now, connected.main)
	if same && !connected.retired.Load() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == connected {
		_ = f.retire(missing) // connect tries again
	}
	if missing {
		return &goneError{f.missing()}
	}
	return &goneError{fmt.Sprintf("the database file %s was replaced while it was in use; going on with the new file", f.given)}
}

func (f *file) missing() string {
	return fmt.Sprintf("the database file %s is missing: it was deleted or moved while it was in use; "+
		"put it back, or make a new one: nextrun migrate up --db sqlite:%s", f.given, f.given)
}

// retire gives up the old file and removes what is left of it beside the new
// one. A file that somebody else has put there stays. If the old file was moved
// away it gets what was committed: somebody may put it back.
func (f *file) retire(moved bool) error {
	old := f.open
	if old.retired.Load() {
		return nil
	}
	if moved && !checkpoint(old.anchor) {
		return fmt.Errorf("%w: a reader has the old file open", sqldb.ErrBusy)
	}
	name, err := filepath.EvalSymlinks(f.path)
	for _, suffix := range sideFiles {
		if err == nil && name != old.name {
			break // the new file is elsewhere, and these are not beside it
		}
		now, err := os.Stat(old.name + suffix)
		if err != nil || old.side[suffix] == nil || !os.SameFile(now, old.side[suffix]) {
			continue
		}
		if err := os.Remove(old.name + suffix); err != nil {
			return fmt.Errorf("remove what is left of the old database: %w", err)
		}
	}
	old.retired.Store(true)
	go f.closeIdle()
	return old.anchor.Close()
}

// connect opens a connection, by open, to the file that the path names now.
func (f *file) connect(open func() (*sqlite3.SQLiteConn, error)) (*guardedConn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range 3 { // the file may be replaced meanwhile
		main, err := os.Stat(f.path)
		missing := errors.Is(err, fs.ErrNotExist)
		if f.open != nil && (missing || err == nil && !os.SameFile(main, f.open.main) || f.open.retired.Load()) {
			if err := f.retire(missing); err != nil && !missing {
				return nil, err
			}
			if missing {
				return nil, sqldb.Special(f.missing(), sqldb.ErrUnavailable)
			}
			f.open = nil
		}
		conn, err := open()
		if err != nil {
			return nil, err
		}
		if now, err := os.Stat(f.path); err == nil && main != nil && os.SameFile(main, now) {
			if err := f.remember(main); err != nil {
				return nil, errors.Join(err, conn.Close())
			}
			return &guardedConn{SQLiteConn: conn, file: f, files: f.open}, nil
		}
		if err := conn.Close(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: the file %s is being replaced again and again", sqldb.ErrUnavailable, f.given)
}

// remember notes which files belong to the database, and keeps them open.
func (f *file) remember(main os.FileInfo) error {
	if f.open == nil {
		anchor, err := openDriver(f.source())
		if err != nil {
			return err
		}
		f.open = &openFiles{name: f.path, main: main, side: map[string]os.FileInfo{}, anchor: anchor}
		if name, err := filepath.EvalSymlinks(f.path); err == nil {
			f.open.name = name
		}
	}
	if len(f.open.side) == len(sideFiles) {
		return nil
	}
	if _, err := f.open.anchor.Exec("SELECT count(*) FROM sqlite_schema", nil); err != nil {
		return err
	}
	for _, suffix := range sideFiles {
		if info, err := os.Stat(f.open.name + suffix); err == nil {
			f.open.side[suffix] = info
		}
	}
	return nil
}

// close ends what keeps the files open.
func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil || f.open.retired.Swap(true) {
		return nil
	}
	return f.open.anchor.Close()
}

// goneError says that the file of a connection is not the database's any more.
type goneError struct{ text string }

func (e *goneError) Error() string { return e.text }

// Unwrap makes database/sql throw the connection away.
func (*goneError) Unwrap() []error { return []error{driver.ErrBadConn, sqldb.ErrUnavailable} }
