//go:build linux

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Kinds are what happens to the file.
func (l *Database) Kinds() []fault.Kind {
	list := []fault.Kind{
		{Name: "file: locked against writers (IMMEDIATE)", Do: l.locked("BEGIN IMMEDIATE")},
		{Name: "file: locked (EXCLUSIVE)", Do: l.locked("BEGIN EXCLUSIVE")},
		{Name: "file: checkpointed by others", Do: l.checkpoint},
		{Name: "file: an old reader holds up checkpoints", Do: l.read},
		{Name: "file: replaced by a copy", Do: l.replace},
	}
	if l.disk.Mounted() {
		list = append(list, fault.Kind{Name: "file: disk full", Do: l.full})
	}
	return list
}

// conn is a connection of its own, as another program has one.
func (l *Database) conn(ctx context.Context) (c *sql.Conn, done func(), err error) {
	db, err := sql.Open("sqlite3", l.source())
	if err != nil {
		return nil, nil, err
	}
	if c, err = db.Conn(ctx); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return c, func() { _, _ = c.Close(), db.Close() }, nil
}

func (l *Database) locked(begin string) fault.Do {
	return func(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
		c, done, err := l.conn(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		defer done()
		if _, err := c.ExecContext(ctx, begin); err != nil {
			return err
		}
		f.Begin = time.Now()
		fault.Wait(ctx, fault.Between(500*time.Millisecond, 8*time.Second)(r))
		_, err = c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return err
	}
}

// checkpoint empties the log of the file again and again.
func (l *Database) checkpoint(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
	c, done, err := l.conn(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer done()
	for range 5 + r.IntN(20) {
		if _, err := c.ExecContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			return err
		}
		fault.Wait(ctx, 100*time.Millisecond)
	}
	return nil
}

// read keeps a transaction open that reads.
func (l *Database) read(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
	c, done, err := l.conn(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer done()
	for _, statement := range []string{"BEGIN", "SELECT count(*) FROM periodic_task"} {
		if _, err := c.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	fault.Wait(ctx, fault.Between(2*time.Second, 10*time.Second)(r))
	return nil
}

// replace puts a copy in the place of the file, as somebody does who restores a backup. Nobody can write to the old file
// from before the copy until all have noticed, which takes nextrun up to a second.
func (l *Database) replace(ctx context.Context, _ *rand.Rand, f *fault.Fault) error {
	ctx = context.WithoutCancel(ctx)
	lock, done, err := l.conn(ctx)
	if err != nil {
		return err
	}
	defer done()
	if _, err := lock.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	f.Begin = time.Now()
	reader, read, err := l.conn(ctx)
	if err != nil {
		return err
	}
	defer read()
	copied := filepath.Join(l.dir, fmt.Sprintf("copy-%d.db", time.Now().UnixNano()))
	if _, err := reader.ExecContext(ctx, "VACUUM INTO ?", copied); err != nil {
		return err
	}
	if err := os.Rename(copied, l.path()); err != nil {
		return err
	}
	fault.Wait(ctx, 2*time.Second)
	f.End = time.Now()
	return l.open()
}

// full leaves no room on the disk for a time.
func (l *Database) full(ctx context.Context, r *rand.Rand, _ *fault.Fault) error {
	if err := l.disk.Fill(); err != nil {
		return err
	}
	fault.Wait(ctx, fault.Between(2*time.Second, 8*time.Second)(r))
	return l.disk.Empty()
}
