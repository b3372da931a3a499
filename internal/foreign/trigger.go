package foreign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// EndTrigger is SQL for a trigger on the tables of another system. When a job ends,
// the trigger deletes its row of periodic_open, so that a tick that waits for it is
// submitted at once, and has schedulers ask at once how it ended, instead of with their next look
// at the queue. Nothing else needs it. It is for people to read and to run, as the owner of both
// tables.
type EndTrigger struct {
	Create string // several statements
	Drop   string // undoes them
}

// ErrNoTrigger is wrapped by errors about a queue whose jobs end in a way that no
// trigger can see.
var ErrNoTrigger = errors.New("no trigger can tell when a job of this queue ends")

// Ended says on which table, and when, a job ends.
type Ended struct {
	Schema, Table string
	Ref           string // SQL: the reference, made of columns of OLD; a text
	Column        string // the one that says whether a job is final; empty: only its removal ends it
	Final         string // SQL behind the column: the condition that its value is final
	Seen          string // SQL over OLD: how a job ended whose row is removed; empty: that does not show
	Back          string // a query over OLD: the row of a job that was removed and added again, and has not ended; may be empty
}

// sinkName is what the table periodic_task lets a sink be.
var sinkName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// longSink is how long a part of the name of a trigger may be.
const longSink = 40

// EndTrigger returns the trigger for the jobs of a sink.
func (q *queue) EndTrigger(ctx context.Context, sink string) (EndTrigger, error) {
	var made EndTrigger
	if !sinkName.MatchString(sink) {
		return made, fmt.Errorf("sink: %q is not a name: use a lower-case letter, then letters, digits, _ and -, up to 64 characters", sink)
	}
	err := q.db.Update(ctx, func(tx *sqldb.Tx) error {
		found, err := q.shape(ctx, tx)
		if err != nil {
			return err
		}
		if len(found.Ended) == 0 {
			return q.wrap(ErrNoTrigger)
		}
		ours := Relation{Name: "periodic_open"}
		if ok, err := ours.Look(ctx, tx, &Inspection{}, ""); err != nil || !ok {
			return errors.Join(err, sqldb.ErrNoSchema)
		}
		for i, e := range found.Ended {
			one := e.postgres(ours.Found, sink, i)
			if q.db.SQL().IsSQLite() {
				one = e.sqlite(sink, i)
			}
			made.Create += one.Create
			made.Drop += one.Drop
		}
		awaited := Qualified(ours.Found, "periodic_awaited")
		made.Create = "CREATE INDEX IF NOT EXISTS " + endPrefix + "ref ON " + ours.As() + " (sink, ref);\n" +
			"CREATE INDEX IF NOT EXISTS " + endPrefix + "awaited ON " + awaited + " (sink, ref);\n" + made.Create
		made.Drop += "-- If no other queue has such a trigger: DROP INDEX IF EXISTS " + Qualified(ours.Found, endPrefix+"ref") +
			", " + Qualified(ours.Found, endPrefix+"awaited") + ";\n"
		return nil
	})
	return made, err
}

// endPrefix begins the names of all that an [EndTrigger] makes. Migrations know it, and
// leave such objects alone.
const endPrefix = "nextrun_ended_"

// triggerName is the name of the trigger, and of its function, for a sink.
func triggerName(sink string, i int) string {
	name := sink
	if len(name) > longSink {
		hash := sha256.Sum256([]byte(sink))
		name = name[:longSink-9] + "_" + hex.EncodeToString(hash[:4])
	}
	if i > 0 {
		name = fmt.Sprintf("%s_%d", name, i)
	}
	return endPrefix + name
}

// event is something that ends a job: its name, and SQL for what happens and on
// which condition.
type event struct{ name, what, when string }

func (e Ended) events() []event {
	if e.Column == "" {
		return []event{{"gone", "DELETE", ""}}
	}
	column := Quote(e.Column)
	final := func(row string) string { return row + "." + column + " " + e.Final }
	return []event{
		{"done", "UPDATE OF " + column, " WHEN (" + final("NEW") + " AND NOT (" + final("OLD") + "))"},
		{"gone", "DELETE", " WHEN (NOT (" + final("OLD") + "))"},
	}
}

// postgres is the trigger for PostgreSQL. It passes over rows that a scheduler has
// locked, so that it never keeps a worker waiting, and does nothing while the tables are not
// there.
func (e Ended) postgres(schema, sink string, i int) EndTrigger {
	name := triggerName(sink, i)
	function, open, table := Qualified(schema, name), Qualified(schema, "periodic_open"), Qualified(e.Schema, e.Table)
	awaited, ended, seen := Qualified(schema, "periodic_awaited"), "true", ""
	if e.Back != "" {
		ended = "NOT EXISTS (" + e.Back + ")"
	}
	if e.Seen != "" {
		seen = ", ended = clock_timestamp() AT TIME ZONE 'UTC', seen = " + e.Seen
	}
	var create, drop strings.Builder
	fmt.Fprintf(&create, `CREATE OR REPLACE FUNCTION %[1]s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $nextrun$
BEGIN
    IF to_regclass(%[2]s) IS NOT NULL AND to_regclass(%[9]s) IS NOT NULL AND %[3]s THEN
        DELETE FROM %[4]s WHERE task_id IN (
            SELECT task_id FROM %[4]s WHERE sink = %[5]s AND ref = %[6]s FOR UPDATE SKIP LOCKED);
        UPDATE %[7]s SET look = clock_timestamp() AT TIME ZONE 'UTC'%[8]s WHERE (task_id, due) IN (
            SELECT task_id, due FROM %[7]s WHERE sink = %[5]s AND ref = %[6]s FOR UPDATE SKIP LOCKED);
        IF FOUND THEN
            PERFORM pg_notify('nextrun_task', '');
        END IF;
    END IF;
    RETURN NULL;
END
$nextrun$;
`, function, Literal(awaited), ended, open, Literal(sink), e.Ref, awaited, seen, Literal(open))
	for _, event := range e.events() {
		trigger := Quote(name + "_" + event.name)
		fmt.Fprintf(&create, "DROP TRIGGER IF EXISTS %s ON %s;\nCREATE TRIGGER %s AFTER %s ON %s FOR EACH ROW%s\n    EXECUTE FUNCTION %s();\n",
			trigger, table, trigger, event.what, table, event.when, function)
		fmt.Fprintf(&drop, "DROP TRIGGER IF EXISTS %s ON %s;\n", trigger, table)
	}
	fmt.Fprintf(&drop, "DROP FUNCTION IF EXISTS %s();\n", function)
	return EndTrigger{create.String(), drop.String()}
}

// sqlite is the trigger for SQLite.
func (e Ended) sqlite(sink string, i int) EndTrigger {
	var create, drop strings.Builder
	for _, event := range e.events() {
		trigger := Quote(triggerName(sink, i) + "_" + event.name)
		fmt.Fprintf(&create, "DROP TRIGGER IF EXISTS %[1]s;\nCREATE TRIGGER %[1]s AFTER %[2]s ON %[3]s FOR EACH ROW%[4]s\nBEGIN\n"+
			"    DELETE FROM periodic_open WHERE sink = %[5]s AND ref = %[6]s;\n"+
			"    UPDATE periodic_awaited SET look = strftime('%%Y-%%m-%%d %%H:%%M:%%f000', 'now') WHERE sink = %[5]s AND ref = %[6]s;\nEND;\n",
			trigger, event.what, Quote(e.Table), event.when, Literal(sink), e.Ref)
		fmt.Fprintf(&drop, "DROP TRIGGER IF EXISTS %s;\n", trigger)
	}
	return EndTrigger{create.String(), drop.String()}
}
