//go:build cgo && !nosqlite

package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store/internal/connect"
)

func openTest(t *testing.T, url string) *sqldb.DB {
	t.Helper()
	db, err := connect.Open(t.Context(), url, sqldb.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// fileOf opens a new database that holds the text, part of it in its -wal.
func fileOf(t *testing.T, text string) (db *sqldb.DB, path string) {
	t.Helper()
	url := storetest.SQLiteURL(t)
	db = openTest(t, url)
	put(t, db, "CREATE TABLE say (what text)")
	put(t, db, "CREATE TABLE filler (what text)")
	put(t, db, "INSERT INTO say VALUES ('"+text+"')")
	return db, strings.TrimPrefix(url, "sqlite:")
}

func put(t *testing.T, db *sqldb.DB, statement string) {
	t.Helper()
	if err := db.Update(t.Context(), func(tx *sqldb.Tx) error { _, err := tx.Exec(t.Context(), statement); return err }); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func said(t *testing.T, db *sqldb.DB) (texts []string) {
	t.Helper()
	if err := db.View(t.Context(), func(tx *sqldb.Tx) error { return tx.Select(t.Context(), &texts, "SELECT what FROM say ORDER BY what") }); err != nil {
		t.Fatal(err)
	}
	return texts
}

// watched collects what a watch reports; wait returns when it has woken since.
type watched struct {
	mu      sync.Mutex
	reports []string
	woken   chan struct{}
}

func watchOf(t *testing.T, db *sqldb.DB) *watched {
	t.Helper()
	w := &watched{woken: make(chan struct{}, 1)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		db.Watch(ctx, func() {
			select {
			case w.woken <- struct{}{}:
			default:
			}
		}, func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.reports = append(w.reports, err.Error())
		})
	}()
	t.Cleanup(func() { stop(); <-ended })
	<-w.woken
	return w
}

// waitFor waits for the report with a text, and fails if it comes twice.
func (w *watched) waitFor(t *testing.T, text string) {
	t.Helper()
	for {
		w.mu.Lock()
		found := strings.Count(strings.Join(w.reports, "\n"), text)
		w.mu.Unlock()
		switch {
		case found == 1:
			return
		case found > 1:
			t.Fatalf("%q was reported %d times", text, found)
		}
		select {
		case <-w.woken:
		case <-t.Context().Done():
			t.Fatalf("nothing with %q was reported", text)
		}
	}
}

// A backup that is moved into place is the database from then on: the old file
// gets no more commits, and its -wal is not taken for that of the new one.
func TestSQLiteFileReplaced(t *testing.T) {
	t.Parallel()
	backup, from := fileOf(t, "backup")
	if err := backup.Close(); err != nil {
		t.Fatal(err)
	}
	db, path := fileOf(t, "old")
	w := watchOf(t, db)
	err := db.Update(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(t.Context(), "INSERT INTO say VALUES ('between')"); err != nil {
			t.Error(err)
		}
		return os.Rename(from, path)
	})
	if !errors.Is(err, sqldb.ErrUnavailable) || !strings.Contains(err.Error(), path) {
		t.Errorf("a commit to the old file: %v, want sqldb.ErrUnavailable and the path", err)
	}
	put(t, db, "INSERT INTO say VALUES ('new')")
	if got := strings.Join(said(t, db), " "); got != "backup new" {
		t.Errorf("the database says %q, want the backup's text and what came after", got)
	}
	w.waitFor(t, "was replaced while it was in use")
	put(t, db, "INSERT INTO say VALUES ('newer')")
	<-w.woken // of the new file
	other := openTest(t, "sqlite:"+path)
	if got := strings.Join(said(t, other), " "); got != "backup new newer" {
		t.Errorf("another program reads %q", got)
	}
	var intact string
	err = other.View(t.Context(), func(tx *sqldb.Tx) error { return tx.First(t.Context(), &intact, "PRAGMA integrity_check") })
	if err != nil || intact != "ok" {
		t.Errorf("integrity_check = %q, %v", intact, err)
	}
}

// A database that was deleted gets no more commits. Another program can make a
// new one, with which this one goes on.
func TestSQLiteFileDeleted(t *testing.T) {
	t.Parallel()
	db, path := fileOf(t, "old")
	w := watchOf(t, db)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.waitFor(t, "is missing: it was deleted or moved")
	for name, err := range map[string]error{
		"Update": db.Update(t.Context(), func(*sqldb.Tx) error { return nil }),
		"View":   db.View(t.Context(), func(*sqldb.Tx) error { return nil }),
		"Ping":   db.Ping(t.Context()),
	} {
		if !errors.Is(err, sqldb.ErrUnavailable) || !strings.Contains(err.Error(), "nextrun migrate up --db sqlite:"+path) {
			t.Errorf("%s without a file: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
	other := openTest(t, "sqlite:"+path)
	put(t, other, "CREATE TABLE say (what text)")
	put(t, db, "INSERT INTO say VALUES ('again')")
	put(t, other, "INSERT INTO say VALUES ('other')")
	if got := strings.Join(said(t, db), " "); got != "again other" {
		t.Errorf("the new database says %q", got)
	}
}

// A database that was moved away takes all commits along, and can be put back.
func TestSQLiteFileMovedAndPutBack(t *testing.T) {
	t.Parallel()
	db, path := fileOf(t, "kept")
	w := watchOf(t, db)
	if err := os.Rename(path, path+".aside"); err != nil {
		t.Fatal(err)
	}
	w.waitFor(t, "is missing")
	aside := openTest(t, "sqlite:"+path+".aside")
	if got := strings.Join(said(t, aside), " "); got != "kept" {
		t.Errorf("the moved database says %q", got)
	}
	if err := aside.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".aside", path); err != nil {
		t.Fatal(err)
	}
	put(t, db, "INSERT INTO say VALUES ('more')")
	if got := strings.Join(said(t, db), " "); got != "kept more" {
		t.Errorf("the database that was put back says %q", got)
	}
}

// A link that is set to another file counts as well. The files of the old
// database stay: somebody else may use it.
func TestSQLiteLinkSetElsewhere(t *testing.T) {
	t.Parallel()
	second, to := fileOf(t, "second")
	first, from := fileOf(t, "first")
	link := filepath.Join(t.TempDir(), "current.db")
	if err := os.Symlink(from, link); err != nil {
		t.Fatal(err)
	}
	db := openTest(t, "sqlite:"+link)
	if got := strings.Join(said(t, db), " "); got != "first" {
		t.Errorf("by the link: %q", got)
	}
	if err := errors.Join(os.Remove(link), os.Symlink(to, link)); err != nil {
		t.Fatal(err)
	}
	put(t, db, "INSERT INTO say VALUES ('more')")
	if got := strings.Join(said(t, second), " "); got != "more second" {
		t.Errorf("the second database says %q", got)
	}
	put(t, first, "INSERT INTO say VALUES ('alive')")
	again := openTest(t, "sqlite:"+from)
	if got := strings.Join(said(t, again), " "); got != "alive first" {
		t.Errorf("the first database says %q", got)
	}
}

// A relative path stays the same file when the program changes its directory.
func TestSQLiteRelativePath(t *testing.T) {
	_, path := fileOf(t, "here")
	t.Chdir(filepath.Dir(path))
	db := openTest(t, "sqlite:"+filepath.Base(path))
	t.Chdir(t.TempDir())
	put(t, db, "INSERT INTO say VALUES ('there')")
	if got := strings.Join(said(t, db), " "); got != "here there" {
		t.Errorf("the database says %q", got)
	}
}

// Only its owner may read a new database: args may hold secrets. What cannot be
// opened or written is explained.
func TestSQLiteFileModes(t *testing.T) {
	t.Parallel()
	db, path := fileOf(t, "secret")
	err := db.View(t.Context(), func(tx *sqldb.Tx) error { _, err := tx.Exec(t.Context(), "DELETE FROM say"); return err })
	if want := "cannot write the database file " + path + " (mode -rw-------)"; !errors.Is(err, sqldb.ErrUnavailable) ||
		!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "user ") {
		t.Errorf("a write to a read-only database: %v, want %q and the user", err, want)
	}
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("the new file has mode %v (%v), want none for others", info.Mode(), err)
		}
	}
	missing := filepath.Join(t.TempDir(), "no", "dir")
	for _, create := range []bool{true, false} {
		_, err := connect.Open(t.Context(), "sqlite:"+filepath.Join(missing, "x.db"), sqldb.Options{Create: create})
		if !errors.Is(err, sqldb.ErrNoDatabase) || !strings.Contains(err.Error(), "no directory "+missing) {
			t.Errorf("without a directory: %v", err)
		}
	}
}
