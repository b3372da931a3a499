//go:build cgo && !nosqlite

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/store/internal/dburl"
	"github.com/nextrun/nextrun/store/internal/sqlite"
)

// open opens the database in a file and makes a first connection.
func open(ctx context.Context, u dburl.URL, o sqldb.Options) (*sqldb.DB, error) {
	path := u.SQLite
	if err := sqlite.Refuse(o); err != nil {
		return nil, err
	}
	o = o.WithDefaults()
	file := newFile(path, o.Create)
	if err := file.find(); err != nil {
		return nil, err
	}
	source := file.source() + "&_foreign_keys=on&_busy_timeout=" + strconv.FormatInt(o.LockTimeout.Milliseconds(), 10)
	// The writer keeps its statements prepared: preparing some takes longer than
	// running them.
	write := sql.OpenDB(&connector{file: file,
		source: source + "&_journal_mode=WAL&_synchronous=FULL&_txlock=immediate&_stmt_cache_size=64"})
	write.SetMaxOpenConns(1)
	read := sql.OpenDB(&connector{file: file, source: source + "&_query_only=on"})
	read.SetMaxOpenConns(o.MaxConns + sqlite.MaxWatchers)
	read.SetMaxIdleConns(o.MaxConns)
	file.closeIdle = func() {
		write.SetMaxIdleConns(0)
		write.SetMaxIdleConns(1)
		read.SetMaxIdleConns(0)
		read.SetMaxIdleConns(o.MaxConns)
	}
	db := sqlite.New(file.path, file.refused, sqldb.Pools{
		URL: "sqlite:" + path, Write: write, Read: read, Migrate: write, Closers: []func() error{write.Close, read.Close, file.close},
	}, o)
	if err := firstConnect(ctx, db, o.LockTimeout); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// firstConnect makes a first connection. Who makes a new file a WAL database, or is the last to close one, locks out all others for a
// moment, and SQLite does not wait for that as it does for a writer.
func firstConnect(ctx context.Context, db *sqldb.DB, within time.Duration) error {
	for end := time.Now().Add(within); ; {
		err := db.Ping(ctx)
		if !errors.Is(err, sqldb.ErrBusy) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// refused is the class of an error that says that the file system does not let
// this user do something with the database.
func (f *file) refused(what string) error {
	who := "this user"
	if u, err := user.Current(); err == nil {
		who = fmt.Sprintf("user %s (%s)", u.Username, u.Uid)
	}
	mode := func(path string) string {
		info, err := os.Stat(path)
		if err != nil {
			return "unknown"
		}
		return info.Mode().String()
	}
	return sqldb.Special(fmt.Sprintf("%s cannot %s the database file %s (mode %s) or its directory (mode %s)",
		who, what, f.given, mode(f.path), mode(filepath.Dir(f.path))), sqldb.ErrUnavailable)
}
