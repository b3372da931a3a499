package migrations_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// wrongTypes are values that SQLite's dynamic types would accept, by the columns that must refuse them, and statements
// that insert one.
var (
	wrongTypes = map[string][]string{
		"x'61'":                     {"job.jid", "job.task", "job.group_", "job.args", "job.tracker", "job.state", "job.worker", "joblog.jid", "joblog.message", "periodic_task.worker", "periodic_task.args", "event_store.topic", "outbox_message.topic"},
		"'a' || char(0)":            {"job.jid", "job.group_"},
		"1.5":                       {"job.priority", "job.retries", "periodic_task.priority", "event_store.aggregate_version"},
		"3000000000":                {"job.priority", "periodic_task.priority"},
		"'many'":                    {"job.priority", "job.retries", "job.single", "joblog.counter", "outbox_message.attempts"},
		"unixepoch()":               {"job.submitted", "job.due", "job.finished", "job.cancel", "job.retry", "joblog.created", "event_store.created", "outbox_message.published", "outbox_message.dead"},
		"'yesterday'":               {"job.submitted", "job.retry"},
		"'2026-02-30 00:00:00'":     {"job.submitted"},
		"'2026-02-03 04:05:06.'":    {"job.submitted"},
		"printf('%.255c', 'g')":     {"job.group_"},
		"unixepoch(), worker = 'w'": {"periodic_task.marked"},
		"'', worker = 'w'":          {"periodic_task.marked"},
	}
	wrongInserts = map[string]string{
		"job: jid":                 "INSERT INTO job (jid, task) VALUES ('', 'x')",
		"job: task":                "INSERT INTO job (task) VALUES (NULL)",
		"job: args":                "INSERT INTO job (task, args) VALUES ('x', x'7b7d')",
		"job: priority":            "INSERT INTO job (task, priority) VALUES ('x', 1.5)",
		"job: submitted":           "INSERT INTO job (task, submitted) VALUES ('x', unixepoch())",
		"job: due":                 "INSERT INTO job (task, due) VALUES ('x', 0)",
		"joblog: jid":              "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', x'61', 'info', datetime('now'), 'm')",
		"periodic_task: marked":    "INSERT INTO periodic_task (id, task, timer, worker, marked) VALUES ('t', 'x', 'daily', 'w', 5)",
		"event_store: id":          "INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES (randomblob(8), 't', 'y', 'a', 2)",
		"outbox_message: event_id": "INSERT INTO outbox_message (event_id, topic) VALUES (x'65', 't')",
	}
)

const typedRows = `INSERT INTO job (jid, task) VALUES ('j', 'x');
	INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', 'j', 'info', '2026-03-04 05:06:07', 'm');
	INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'x', 'daily');
	INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e', 't', 'y', 'a', 1);
	INSERT INTO outbox_message (event_id, topic) VALUES ('e', 't')`

func TestSQLiteRefusesValuesOfWrongTypes(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.SQLite)
	db.exec(typedRows)
	refuses := func(column, statement string) {
		t.Helper()
		if _, err := db.SQL.Exec(statement); err == nil || !strings.Contains(err.Error(), column+" must be ") {
			t.Errorf("%s: %v; it should be refused, naming %s", statement, err, column)
		}
	}
	for column, statement := range wrongInserts {
		refuses(column, statement)
	}
	for value, columns := range wrongTypes {
		for _, of := range columns {
			table, column, _ := strings.Cut(of, ".")
			refuses(table+": "+column, "UPDATE "+table+" SET "+column+" = "+value)
		}
	}
}

// What has the right type is accepted, on both databases alike.
func TestValuesOfRightTypes(t *testing.T) {
	bothMade(t, func(db *database) {
		db.exec(typedRows)
		db.exec(`INSERT INTO job (jid, task, group_, args, subject, submitter, submitted, priority, tracker, due, single)
			VALUES ('ü-1', 'x', 'g', 'not JSON', '', '', '2026-03-04 05:06:07', -2147483648, 't', '2026-03-04 05:06:07.000001', true);
			UPDATE job SET state = 'running', worker = '', started = '2026-03-04 05:06:07.1', startedmillis = 9007199254740993;
			UPDATE job SET state = 'failed', finished = '2026-03-04 05:06:07.123456', result = '', worker = NULL;
			UPDATE periodic_task SET worker = 'w', marked = '2026-03-04 05:06:07', args = 'not JSON';
			UPDATE periodic_task SET worker = 'w', marked = '2026-03-04 05:06:07.5', problem = '';
			UPDATE outbox_message SET published = '2026-03-04 05:06:07', attempts = 2, problem = 'refused'`)
	})
}

// Tables that were found belong to other programs, which may write what they
// always wrote.
func TestFoundTablesTakeWhatTheyTook(t *testing.T) {
	t.Parallel()
	db := open(storetest.New(t, storetest.SQLite))
	db.execFile("../testdata/docspell/adr0012.sql")
	db.up()
	db.exec(`INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress)
		VALUES (x'00ff', 'x', 'g', '{}', '', unixepoch(), 'me', 1.5, 'waiting', 0, 0);
		INSERT INTO joblog (id, jid, level, created, message) VALUES (x'01', x'00ff', 'info', 5, x'61');
		UPDATE periodic_task SET worker = 'someone', marked = unixepoch()`)
}

// A row that got a wrong value while the triggers were gone can still be worked on.
func TestOldWrongValuesHoldUpNoUpdate(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.SQLite)
	db.exec("DROP TRIGGER nextrun_job_refuse_added")
	db.exec("INSERT INTO job (jid, task, priority, retries) VALUES (x'00ff', 'x', 'high', 'many')")
	db.up() // makes the triggers again
	db.exec("UPDATE job SET state = 'failed', finished = '2026-03-04 05:06:07.000000', result = 'wrong' WHERE jid = x'00ff'")
	db.exec("UPDATE job SET priority = 0 WHERE jid = x'00ff'")
	db.want("0", "SELECT priority FROM job WHERE jid = x'00ff'")
}
