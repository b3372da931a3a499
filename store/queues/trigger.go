package queues

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// EndTrigger is SQL for a trigger on the tables of another system. When a job ends,
// the trigger deletes its row of periodic_open, so that a tick that waits for it is
// submitted at once instead of after the next look at the queue. Nothing else needs it. It is for
// people to read and to run, as the owner of both tables.
type EndTrigger struct {
	Create string // several statements
	Drop   string // undoes them
}

// ErrNoTrigger is wrapped by errors about a queue whose jobs end in a way that no
// trigger can see.
var ErrNoTrigger = errors.New("no trigger can tell when a job of this queue ends")

// endedTrigger says on which table, and when, a job ends.
type endedTrigger struct {
	schema, table string
	ref           string // SQL: the reference, made of columns of OLD; a text
	column        string // the one that says whether a job is final; empty: only its removal ends it
	final         string // SQL behind the column: the condition that its value is final
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
		if len(found.ended) == 0 {
			return q.wrap(ErrNoTrigger)
		}
		ours := relation{name: "periodic_open"}
		if ok, err := ours.look(ctx, tx, &Report{}, ""); err != nil || !ok {
			return errors.Join(err, sqldb.ErrNoSchema)
		}
		for i, e := range found.ended {
			one := e.postgres(ours.found, sink, i)
			if q.db.SQL().IsSQLite() {
				one = e.sqlite(sink, i)
			}
			made.Create += one.Create
			made.Drop += one.Drop
		}
		made.Create = "CREATE INDEX IF NOT EXISTS " + endPrefix + "ref ON " + ours.as() + " (sink, ref);\n" + made.Create
		made.Drop += "-- If no other queue has such a trigger: DROP INDEX IF EXISTS " + qualified(ours.found, endPrefix+"ref") + ";\n"
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

func (e endedTrigger) events() []event {
	if e.column == "" {
		return []event{{"gone", "DELETE", ""}}
	}
	column := quote(e.column)
	final := func(row string) string { return row + "." + column + " " + e.final }
	return []event{
		{"done", "UPDATE OF " + column, " WHEN (" + final("NEW") + " AND NOT (" + final("OLD") + "))"},
		{"gone", "DELETE", " WHEN (NOT (" + final("OLD") + "))"},
	}
}

// postgres is the trigger for PostgreSQL. It passes over a row that a scheduler has
// locked, so that it never keeps a worker waiting, and does nothing while there is no
// table periodic_open.
func (e endedTrigger) postgres(schema, sink string, i int) EndTrigger {
	name := triggerName(sink, i)
	function, open, table := qualified(schema, name), qualified(schema, "periodic_open"), qualified(e.schema, e.table)
	var create, drop strings.Builder
	fmt.Fprintf(&create, `CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $nextrun$
BEGIN
    IF to_regclass(%s) IS NOT NULL THEN
        DELETE FROM %s WHERE task_id IN (
            SELECT task_id FROM %s WHERE sink = %s AND ref = %s FOR UPDATE SKIP LOCKED);
    END IF;
    RETURN NULL;
END
$nextrun$;
`, function, literal(open), open, open, literal(sink), e.ref)
	for _, event := range e.events() {
		trigger := quote(name + "_" + event.name)
		fmt.Fprintf(&create, "DROP TRIGGER IF EXISTS %s ON %s;\nCREATE TRIGGER %s AFTER %s ON %s FOR EACH ROW%s\n    EXECUTE FUNCTION %s();\n",
			trigger, table, trigger, event.what, table, event.when, function)
		fmt.Fprintf(&drop, "DROP TRIGGER IF EXISTS %s ON %s;\n", trigger, table)
	}
	fmt.Fprintf(&drop, "DROP FUNCTION IF EXISTS %s();\n", function)
	return EndTrigger{create.String(), drop.String()}
}

// sqlite is the trigger for SQLite.
func (e endedTrigger) sqlite(sink string, i int) EndTrigger {
	var create, drop strings.Builder
	for _, event := range e.events() {
		trigger := quote(triggerName(sink, i) + "_" + event.name)
		fmt.Fprintf(&create, "DROP TRIGGER IF EXISTS %s;\nCREATE TRIGGER %s AFTER %s ON %s FOR EACH ROW%s\nBEGIN\n"+
			"    DELETE FROM periodic_open WHERE sink = %s AND ref = %s;\nEND;\n",
			trigger, trigger, event.what, quote(e.table), event.when, literal(sink), e.ref)
		fmt.Fprintf(&drop, "DROP TRIGGER IF EXISTS %s;\n", trigger)
	}
	return EndTrigger{create.String(), drop.String()}
}
