package sqlite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// DataVersionInterval is how often SQLite is asked whether another connection
// has committed, and whether the file is still the same.
const DataVersionInterval = 250 * time.Millisecond

// After a change, those who watch for jobs look every busyInterval until busyTime has passed: more
// changes may follow.
const (
	busyInterval = 10 * time.Millisecond
	busyTime     = 2 * time.Second
)

// MaxWatchers is how many calls of Watch may go on at a time: a scheduler's, its
// lock's, an executor's, a relay's, and some to spare. Each keeps a connection,
// which must not be missing elsewhere.
const MaxWatchers = 8

// Watch compares PRAGMA data_version, which changes when another connection,
// of this process or another, commits. The connection is pinned, since the
// number means nothing on another one, and never writes. When the connection
// fails, or its file is not the database's any more, Watch wakes, so that
// whoever waits for changes notices too, and goes on with a new connection. It
// reports the same failure once, until a connection works again.
func (d *dialect) Watch(ctx context.Context, w sqldb.Watch) {
	reported := ""
	for ctx.Err() == nil {
		err := d.watchConn(ctx, slices.Contains(w.Topics, sqldb.TopicJobs), func() { reported = ""; w.Wake() })
		if err == nil || ctx.Err() != nil {
			continue
		}
		if text := err.Error(); text != reported {
			reported = text
			w.Report(fmt.Errorf("watch for changes: %w", err))
			w.Wake()
		}
		select { // a new connection, not at once
		case <-ctx.Done():
		case <-time.After(DataVersionInterval):
		}
	}
}

// watchConn watches on one connection. jobs says that changes are expected to follow each other.
func (d *dialect) watchConn(ctx context.Context, jobs bool, wake func()) error {
	conn, err := d.read.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // back to the pool
	last, changed := int64(-1), time.Time{}
	for {
		if err := conn.PingContext(ctx); err != nil {
			return err
		}
		var version int64
		if err := conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
			return err
		}
		if version != last {
			if last >= 0 {
				changed = time.Now()
			}
			wake()
		}
		last = version
		wait := DataVersionInterval
		if jobs && time.Since(changed) < busyTime {
			wait = busyInterval
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}
