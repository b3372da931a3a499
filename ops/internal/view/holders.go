package view

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/text"
)

// Holder is a session, or a prepared transaction, that holds a lock.
type Holder struct {
	PID   int    // 0: a prepared transaction, which has no session
	App   string // application_name
	User  string
	State string        // such as "idle in transaction"; empty: this login may not see it
	For   time.Duration // how long it has been in that state
}

// Who names the holder.
func (h Holder) Who() string {
	if h.PID == 0 {
		return "a prepared transaction"
	}
	var about []string
	if h.App != "" {
		about = append(about, h.App)
	}
	if h.User != "" {
		about = append(about, "user "+h.User)
	}
	if len(about) == 0 {
		return fmt.Sprintf("pid %d", h.PID)
	}
	return fmt.Sprintf("pid %d (%s)", h.PID, strings.Join(about, ", "))
}

// Text names the holder, and says what it does.
func (h Holder) Text() string {
	switch {
	case h.PID == 0:
		return h.Who()
	case h.State == "":
		return h.Who() + ", whose state this login may not see"
	}
	return fmt.Sprintf("%s, %s for %s", h.Who(), h.State, text.Text(h.For))
}

// Remedy is how the holder's lock can be ended.
func (h Holder) Remedy() string {
	if h.PID == 0 {
		return "end it by ROLLBACK PREPARED or COMMIT PREPARED; it is listed in pg_prepared_xacts"
	}
	return fmt.Sprintf("end that transaction in its program, or run: SELECT pg_terminate_backend(%d);", h.PID)
}

// TableHolder is a session that keeps others from writing to a table.
type TableHolder struct {
	Table string
	Holder
}

const holderColumns = `coalesce(l.pid, 0) AS pid, a.application_name AS app, a.usename AS usr, a.state,
	greatest(extract(epoch FROM clock_timestamp() - a.state_change), 0)::double precision AS seconds`

type holderRow struct {
	Name     sqldb.RowText
	PID      int
	App, Usr sqldb.RowText
	State    sqldb.RowText
	Seconds  *float64
}

func (r holderRow) holder() Holder {
	h := Holder{PID: r.PID, App: string(r.App), User: string(r.Usr), State: string(r.State)}
	if r.Seconds != nil {
		h.For = time.Duration(*r.Seconds * float64(time.Second))
	}
	return h
}

// RowHolder finds the session that has locked the row of a table whose key column is id; nil: none has. Sessions that share
// a lock are not found. On SQLite, where a transaction locks the whole file, there is nobody.
func RowHolder(ctx context.Context, tx *sqldb.Tx, table, key, id string) (*Holder, error) {
	if tx.SQL().IsSQLite() {
		return nil, nil
	}
	var list []holderRow
	err := tx.Select(ctx, &list, `SELECT `+holderColumns+` FROM `+table+` AS r
		JOIN pg_locks AS l ON l.locktype = 'transactionid' AND l.transactionid = r.xmax AND l.granted AND l.mode = 'ExclusiveLock'
		LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid WHERE r.`+key+` = $1`, id)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	h := list[0].holder()
	return &h, nil
}

// TableHolders finds who keeps others from writing to tables of this database.
func TableHolders(ctx context.Context, tx *sqldb.Tx) (found []TableHolder, err error) {
	if tx.SQL().IsSQLite() {
		return nil, nil
	}
	var list []holderRow
	err = tx.Select(ctx, &list, `SELECT l.relation::regclass::text AS name, `+holderColumns+`
		FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
		WHERE l.locktype = 'relation' AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
		  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		  AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
		  AND c.relkind IN ('r', 'p') AND c.oid >= 16384 ORDER BY 1, 2 LIMIT 20`)
	for _, r := range list {
		found = append(found, TableHolder{string(r.Name), r.holder()})
	}
	return found, err
}
