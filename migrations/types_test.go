package migrations_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// wrongTypes are statements that SQLite's dynamic types would accept, with the
// column that the refusal has to name.
var wrongTypes = []struct{ column, statement string }{
	{"job: jid", "INSERT INTO job (jid, task) VALUES (randomblob(16), 'x')"},
	{"job: jid", "INSERT INTO job (jid, task) VALUES ('', 'x')"},
	{"job: jid", "INSERT INTO job (jid, task) VALUES ('a' || char(0) || 'b', 'x')"},
	{"job: jid", "UPDATE job SET jid = x'00'"},
	{"job: task", "INSERT INTO job (task) VALUES (x'6261636b7570')"},
	{"job: task", "INSERT INTO job (task) VALUES (NULL)"},
	{"job: group_", "INSERT INTO job (task, group_) VALUES ('x', 'g' || char(0))"},
	{"job: group_", "UPDATE job SET group_ = x'61'"},
	{"job: group_", "INSERT INTO job (task, group_) VALUES ('x', printf('%.255c', 'g'))"},
	{"job: args", "INSERT INTO job (task, args) VALUES ('x', x'7b7d')"},
	{"job: priority", "INSERT INTO job (task, priority) VALUES ('x', 1.5)"},
	{"job: priority", "INSERT INTO job (task, priority) VALUES ('x', 'high')"},
	{"job: priority", "UPDATE job SET priority = 3000000000"},
	{"job: submitted", "INSERT INTO job (task, submitted) VALUES ('x', unixepoch())"},
	{"job: submitted", "INSERT INTO job (task, submitted) VALUES ('x', 'yesterday')"},
	{"job: submitted", "INSERT INTO job (task, submitted) VALUES ('x', '2026-02-30 00:00:00')"},
	{"job: submitted", "UPDATE job SET submitted = '2026-02-03 04:05:06.'"},
	{"job: tracker", "INSERT INTO job (task, tracker) VALUES ('x', x'61')"},
	{"job: due", "INSERT INTO job (task, due) VALUES ('x', 0)"},
	{"job: single", "INSERT INTO job (task, single) VALUES ('x', 'yes')"},
	{"job: retries", "UPDATE job SET retries = 'many'"},
	{"job: retries", "UPDATE job SET retries = 0.5"},
	{"job: state", "UPDATE job SET state = x'00'"},
	{"job: worker", "UPDATE job SET worker = x'61'"},
	{"job: finished", "UPDATE job SET finished = unixepoch()"},
	{"job: cancel", "UPDATE job SET cancel = 1"},
	{"job: retry", "UPDATE job SET retry = 'soon'"},
	{"joblog: jid", "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', x'61', 'info', datetime('now'), 'm')"},
	{"joblog: message", "INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', 'j', 'info', datetime('now'), x'61')"},
	{"joblog: created", "UPDATE joblog SET created = unixepoch()"},
	{"joblog: counter", "UPDATE joblog SET counter = 'first'"},
	{"periodic_task: marked", "UPDATE periodic_task SET worker = 'someone', marked = unixepoch()"},
	{"periodic_task: marked", "UPDATE periodic_task SET worker = 'someone', marked = ''"},
	{"periodic_task: marked", "INSERT INTO periodic_task (id, task, timer, worker, marked) VALUES ('t', 'x', 'daily', 'w', 5)"},
	{"periodic_task: worker", "UPDATE periodic_task SET worker = x'61'"},
	{"periodic_task: priority", "UPDATE periodic_task SET priority = 3000000000"},
	{"periodic_task: priority", "UPDATE periodic_task SET priority = 1.5"},
	{"periodic_task: args", "UPDATE periodic_task SET args = x'7b7d'"},
	{"event_store: id", "INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES (randomblob(8), 't', 'y', 'a', 2)"},
	{"event_store: topic", "UPDATE event_store SET topic = x'61'"},
	{"event_store: aggregate_version", "UPDATE event_store SET aggregate_version = 1.5"},
	{"event_store: created", "UPDATE event_store SET created = unixepoch()"},
	{"outbox_message: event_id", "INSERT INTO outbox_message (event_id, topic) VALUES (x'65', 't')"},
	{"outbox_message: topic", "UPDATE outbox_message SET topic = x'74'"},
	{"outbox_message: attempts", "UPDATE outbox_message SET attempts = 'many'"},
	{"outbox_message: published", "UPDATE outbox_message SET published = unixepoch()"},
	{"outbox_message: dead", "UPDATE outbox_message SET dead = 1"},
}

const typedRows = `INSERT INTO job (jid, task) VALUES ('j', 'x');
	INSERT INTO joblog (id, jid, level, created, message) VALUES ('l', 'j', 'info', '2026-03-04 05:06:07', 'm');
	INSERT INTO periodic_task (id, task, timer) VALUES ('t', 'x', 'daily');
	INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version) VALUES ('e', 't', 'y', 'a', 1);
	INSERT INTO outbox_message (event_id, topic) VALUES ('e', 't')`

func TestSQLiteRefusesValuesOfWrongTypes(t *testing.T) {
	t.Parallel()
	db := made(t, storetest.SQLite)
	db.exec(typedRows)
	for _, test := range wrongTypes {
		_, err := db.SQL.Exec(test.statement)
		if err == nil || !strings.Contains(err.Error(), test.column+" must be ") {
			t.Errorf("%s: %v; it should be refused, naming %s", test.statement, err, test.column)
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
