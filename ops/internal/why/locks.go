package why

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/store"
)

// holder is a session, or a prepared transaction, that holds a lock.
type holder struct {
	Table   string  // that others cannot write to, or of which it has locked a row
	PID     int     // 0: a prepared transaction, which has no session
	App     string  // application_name
	Usr     string  // its login
	State   string  // such as "idle in transaction"; empty: this login may not see it
	Seconds float64 // for so long it has been in that state
}

const holderColumns = `coalesce(l.pid, 0) AS pid, coalesce(a.application_name, '') AS app, coalesce(a.usename, '') AS usr, coalesce(a.state, '') AS state,
	coalesce(greatest(extract(epoch FROM clock_timestamp() - a.state_change), 0), 0)::double precision AS seconds`

// Who names the holder, and says what it does.
func (h *holder) Who() string {
	if h.PID == 0 {
		return "a prepared transaction"
	}
	var about []string
	if h.App != "" {
		about = append(about, h.App)
	}
	if h.Usr != "" {
		about = append(about, "user "+h.Usr)
	}
	who := fmt.Sprintf("pid %d", h.PID)
	if len(about) > 0 {
		who += " (" + strings.Join(about, ", ") + ")"
	}
	if h.State == "" {
		return who + ", whose state this login may not see"
	}
	return fmt.Sprintf("%s, %s for %s", who, h.State, text.Text(time.Duration(h.Seconds*float64(time.Second))))
}

// Remedy is how the holder's lock can be ended.
func (h *holder) Remedy() string {
	if h.PID == 0 {
		return "end it by ROLLBACK PREPARED or COMMIT PREPARED; it is listed in pg_prepared_xacts"
	}
	return fmt.Sprintf("end that transaction in its program, or run: SELECT pg_terminate_backend(%d);", h.PID)
}

// holders reads who holds locks. On SQLite, where a transaction locks the whole file, nobody is found.
func holders(ctx context.Context, db *store.DB, query string, args ...any) (list []holder, err error) {
	if sqldb.Of(db).SQL().IsSQLite() {
		return nil, nil
	}
	err = sqldb.Of(db).View(ctx, func(tx *sqldb.Tx) error { return tx.Select(ctx, &list, query, args...) })
	return list, err
}

// rowHolder finds the session that has locked the row of a table whose key column is id; nil: none has. Sessions that share
// a lock are not found.
func rowHolder(ctx context.Context, db *store.DB, table, key, id string) (*holder, error) {
	list, err := holders(ctx, db, `SELECT '`+table+`' AS "table", `+holderColumns+` FROM `+table+` AS r
		JOIN pg_locks AS l ON l.locktype = 'transactionid' AND l.transactionid = r.xmax AND l.granted AND l.mode = 'ExclusiveLock'
		LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid WHERE r.`+key+` = $1`, id)
	if len(list) == 0 {
		return nil, err
	}
	return &list[0], err
}

// mostTables is how many locked tables are named.
const mostTables = 3

// tableHolders finds who keeps others from writing to tables of this database. It reads no table of nextrun.
func tableHolders(ctx context.Context, db *store.DB) ([]holder, error) {
	return holders(ctx, db, `SELECT l.relation::regclass::text AS "table", `+holderColumns+`
		FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
		WHERE l.locktype = 'relation' AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
		  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		  AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
		  AND c.relkind IN ('r', 'p') AND c.oid >= 16384 ORDER BY 1, 2 LIMIT 20`)
}

// WithHolders adds to an error of a database that is busy who has locked its tables.
func WithHolders(ctx context.Context, db *store.DB, err error) error {
	if !errors.Is(err, store.ErrBusy) {
		return err
	}
	tables, _ := tableHolders(ctx, db)
	for _, t := range tables[:min(len(tables), mostTables)] {
		err = fmt.Errorf("%w; the table %s is locked by %s", err, t.Table, t.Who())
	}
	return err
}

// lockWait is how long a SQLite file must be locked to be called so, and a row by nextrun itself.
const lockWait = time.Second

// fileLocked reports whether somebody has locked a SQLite file for a while. SQLite
// waits for its lock as long as the connection says, so it is not waited for here.
func fileLocked(ctx context.Context, db *store.DB) bool {
	done := make(chan error, 1)
	go func() { done <- db.Update(ctx, func(*store.Tx) error { return nil }) }()
	select {
	case err := <-done:
		return errors.Is(err, sqldb.ErrBusy)
	case <-time.After(lockWait):
		return true
	}
}
