package main_test

import (
	"database/sql"
	"fmt"
)

// misfortune is something that goes wrong with one row while it lasts. Its begin
// makes the row, a task that is due every second, and the trouble; what it
// returns ends the trouble.
type misfortune struct {
	name     string
	sink     string // of the task
	overlap  string
	task     string // what the task runs; nobody: a job that no executor takes
	trouble  string // what the triggers of troubleTriggers refuse for the row
	locks    string // PostgreSQL: what an open transaction does, $1 is the task's id
	postgres bool   // only there
}

var misfortunes = []misfortune{
	{name: "the task cannot be marked", trouble: "mark"},
	{name: "the job cannot be added", trouble: "submit"},
	{name: "the job cannot be added, ticks queue", trouble: "submit", overlap: "queue"},
	{name: "the job cannot begin", trouble: "begin"},
	{name: "the job cannot end", trouble: "end"},
	{name: "the event cannot be added", trouble: "event", sink: "event"},
	{name: "the message cannot be marked as published", trouble: "publish", sink: "event"},
	{
		name: "the task is locked", postgres: true,
		locks: "SELECT id FROM periodic_task WHERE id = $1 FOR UPDATE",
	},
	{
		name: "somebody adds a job and does not commit", postgres: true,
		locks: "INSERT INTO job (jid, task, tracker, single) VALUES (gen_random_uuid(), 'nobody', $1, true)",
	},
	{
		name: "a consumer has the job to replace in an open transaction", overlap: "replace", task: "nobody", postgres: true,
		locks: "UPDATE job SET state = 'running' WHERE tracker = $1 AND state = 'waiting'",
	},
	{
		name: "the waiting job is locked", overlap: "queue", postgres: true,
		locks: "SELECT jid FROM job WHERE tracker = $1 AND state = 'waiting' FOR UPDATE",
	},
	{
		name: "somebody appends an event and does not commit", sink: "event", postgres: true,
		locks: "SELECT id FROM event_aggregate WHERE id = $1 FOR UPDATE",
	},
	{
		name: "the message is locked", sink: "event", postgres: true,
		locks: "SELECT id FROM outbox_message WHERE topic = $1 AND published IS NULL FOR UPDATE",
	},
	{
		name: "the topic is locked", sink: "event", postgres: true,
		locks: "SELECT topic FROM outbox_topic WHERE topic = $1 FOR UPDATE",
	},
}

// troubleTriggers has a user's own triggers refuse what the table trouble says.
func (s *soak) troubleTriggers() {
	s.Helper()
	s.exec("CREATE TABLE trouble (kind varchar(20), id varchar(254))")
	for _, t := range []struct{ kind, event, table, id, when string }{
		{"mark", "UPDATE", "periodic_task", "id", "true"},
		{"submit", "INSERT", "job", "tracker", "true"},
		{"begin", "UPDATE", "job", "tracker", "NEW.state IN ('scheduled', 'running')"},
		{"end", "UPDATE", "job", "tracker", "NEW.state IN ('success', 'failed', 'stuck')"},
		{"event", "INSERT", "event_store", "aggregate_id", "true"},
		{"publish", "UPDATE", "outbox_message", "topic", "true"},
	} {
		refused := fmt.Sprintf("EXISTS (SELECT 1 FROM trouble AS t WHERE t.kind = '%s' AND t.id = NEW.%s)", t.kind, t.id)
		if s.kind == "sqlite" {
			s.exec(fmt.Sprintf(`CREATE TRIGGER trouble_%s BEFORE %s ON %s WHEN %s AND %s
				BEGIN SELECT RAISE(ABORT, 'a trigger of the user refuses this row'); END`, t.kind, t.event, t.table, t.when, refused))
			continue
		}
		s.exec(fmt.Sprintf(`CREATE FUNCTION trouble_%s() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN IF %s THEN RAISE 'a trigger of the user refuses this row'; END IF; RETURN NEW; END $$`, t.kind, refused))
		s.exec(fmt.Sprintf("CREATE TRIGGER trouble_%s BEFORE %s ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION trouble_%s()",
			t.kind, t.event, t.table, t.when, t.kind))
	}
}

// befall makes a row and its trouble. What it returns ends the trouble; the row
// stays.
func (s *soak) befall(m misfortune, id string) (end func()) {
	s.Helper()
	value := func(text, otherwise string) string {
		if text == "" {
			return otherwise
		}
		return text
	}
	s.exec(fmt.Sprintf("INSERT INTO periodic_task (id, task, group_, timer, overlap, sink) VALUES ('%s', '%s', '%s', '*:*:*', '%s', '%s')",
		id, value(m.task, "call"), id, value(m.overlap, "skip"), value(m.sink, "job")))
	if m.trouble != "" {
		s.exec(fmt.Sprintf("INSERT INTO trouble (kind, id) VALUES ('%s', '%s')", m.trouble, id))
		return func() { s.exec(fmt.Sprintf("DELETE FROM trouble WHERE id = '%s'", id)) }
	}
	rows := map[string]string{"": "job WHERE tracker = '%s'", "event": "outbox_message WHERE topic = '%s'"}[m.sink]
	s.until("the first tick of "+id, func() bool { return s.count(fmt.Sprintf("SELECT count(*) FROM "+rows, id)) > 0 })
	tx, err := s.sql.Begin()
	if err != nil {
		s.Fatal(err)
	}
	// It may have to wait for nextrun in turn, or find nothing: so it is with users.
	_, _ = tx.Exec("SET LOCAL lock_timeout = '2s'")
	if _, err := tx.Exec(m.locks, id); err != nil {
		s.Logf("%s: %v", m.name, err)
	}
	return func() { rollback(tx) }
}

func rollback(tx *sql.Tx) { _ = tx.Rollback() } // what it did is not to stay
