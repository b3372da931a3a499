package hostile_test

import (
	"fmt"
	"strings"
)

// victim says how a row of a table is made whose columns become hostile, how it is found,
// and how to see that it works again.
type victim struct {
	make []string // statements; they write {id}, and {now} for the time
	// where finds the row in two ways, by the column that each depends on.
	where map[string]string
	// works counts what shows that the row works, which has to rise after the cure; empty:
	// the row is only read.
	works string
	waits string // counts what has to be there before the row exists; empty: make makes it
}

const (
	insertTask  = `INSERT INTO periodic_task (id, subject, task, timer, overlap, sink, args) VALUES ('{id}', '{id}', 'call', '*:*:*', '%s', '%s', '"{id}"')`
	insertJob   = `INSERT INTO job (jid, task, tracker, subject, group_, submitter) VALUES ('{id}', 'call', '{id}', '{id}', '{id}', '{id}')`
	insertEvent = `INSERT INTO event_aggregate (id, version) VALUES ('{id}', 1);
		INSERT INTO event_store (id, topic, type, aggregate_id, aggregate_version, payload) VALUES ('{id}', '{id}', '{id}', '{id}', 1, '"{id}"');
		INSERT INTO outbox_message (event_id, topic) VALUES ('{id}', '{id}')`
	ticks     = `SELECT count(*) FROM periodic_tick WHERE task_id = '{id}' AND decided >= {cured}`
	jobEnds   = `SELECT count(*) FROM job WHERE jid = '{id}' AND state IN ('success', 'failed', 'cancelled')`
	published = `SELECT count(*) FROM outbox_message WHERE event_id = '{id}' AND (published IS NOT NULL OR dead IS NOT NULL)`
)

func task(overlap, sink string) string { return fmt.Sprintf(insertTask, overlap, sink) }

// victims are the victims of each table. Several take turns.
func (d database) victims() map[string][]victim {
	byID := map[string]string{"id": "id = '{id}'", "subject": "subject = '{id}'"}
	ofTask := func(statements ...string) []string { return append([]string{task("allow", "job")}, statements...) }
	event := func(where map[string]string) []victim {
		return []victim{{make: []string{insertEvent}, where: where, works: published}}
	}
	all := map[string][]victim{
		"periodic_task": {
			{make: []string{task("skip", "job")}, where: byID, works: ticks},
			{make: []string{task("queue", "job")}, where: byID, works: ticks},
			{make: []string{task("allow", "event")}, where: byID, works: ticks},
			{make: []string{task("allow", "mail")}, where: byID, works: ticks},
			{make: []string{task("skip", "mail")}, where: byID, works: ticks},
			{make: []string{task("replace", "river")}, where: byID, works: ticks},
			{make: []string{task("allow", "river")}, where: byID, works: ticks},
		},
		"periodic_tick": {
			{make: ofTask(`INSERT INTO periodic_tick (task_id, due, decision, reason, decided) VALUES ('{id}', '2026-01-01 00:00:00', 'late', '{id}', {now})`),
				where: map[string]string{"task_id": "task_id = '{id}'", "reason": "reason = '{id}'"}, works: ticks},
			{make: ofTask(`INSERT INTO periodic_tick (task_id, due, decision, reason, missed, decided) VALUES ('{id}', {now}, 'missed', '{id}', 1, {now})`),
				where: map[string]string{"task_id": "task_id = '{id}'", "reason": "reason = '{id}'"}, works: ticks},
			{make: ofTask(), waits: `SELECT count(*) FROM periodic_tick WHERE task_id = '{id}'`,
				where: map[string]string{"task_id": "task_id = '{id}' AND due = (SELECT min(due) FROM periodic_tick WHERE task_id = '{id}')",
					"jid": "jid = (SELECT min(jid) FROM job WHERE tracker = '{id}')"}, works: ticks},
		},
		"periodic_open": {{make: []string{task("skip", "mail"), `INSERT INTO mail_queue (id, kind, payload) VALUES ('{id}', 'x', 'x')`,
			`INSERT INTO periodic_open (task_id, sink, ref, jid, due, submitted, look) VALUES ('{id}', 'mail', '{id}', '{id}', {now}, {now}, {now})`},
			where: map[string]string{"task_id": "task_id = '{id}'", "jid": "jid = '{id}'"}, works: ticks}},
		"periodic_calendar": {
			{make: ofTask(`INSERT INTO periodic_calendar (name, first_day, last_day, reason) VALUES ('{id}', '2000-01-01', '2000-01-02', '{id}')`,
				`UPDATE periodic_task SET exclude_calendars = '{id}' WHERE id = '{id}'`),
				where: map[string]string{"name": "name = '{id}'", "reason": "reason = '{id}'"}, works: ticks},
		},
		"job": {
			{make: []string{insertJob}, where: map[string]string{"jid": "jid = '{id}'", "subject": "subject = '{id}'"}, works: jobEnds},
			{make: ofTask(insertJob, `INSERT INTO periodic_tick (task_id, due, decision, jid, decided) VALUES ('{id}', {now}, 'submitted', '{id}', {now})`),
				waits: jobEnds, where: map[string]string{"jid": "jid = '{id}'", "submitter": "submitter = '{id}'"}},
		},
		"joblog": {{make: []string{insertJob, `INSERT INTO joblog (id, jid, level, created, message) VALUES ('{id}', '{id}', 'info', {now}, '{id}')`},
			where: map[string]string{"id": "id = '{id}'", "message": "message = '{id}'"}, works: jobEnds}},
		"jobgroupuse": {{make: []string{`INSERT INTO jobgroupuse (groupid, workerid) VALUES ('{id}', '{id}')`},
			where: map[string]string{"groupid": "groupid = '{id}'", "workerid": "workerid = '{id}'"}}},
		"job_limit": {{make: []string{insertJob, `INSERT INTO job_limit (kind, name, max) VALUES ('group', '{id}', 1)`},
			where: map[string]string{"name": "name = '{id}'"}, works: jobEnds}},
		"scheduler_lock": {{make: []string{`INSERT INTO scheduler_lock (name, holder, hostname, pid, token, acquired, heartbeat, expires)
				VALUES ('{id}', '{id}', '{id}', 1, 1, {now}, {now}, {now})`},
			where: map[string]string{"name": "name = '{id}'", "holder": "holder = '{id}'"}}},
		"worker": {{make: []string{`INSERT INTO worker (id, kind, version, started, seen, places, handlers)
				VALUES ('{id}', 'executor', '{id}', {now}, {now}, 1, '[]')`},
			where: map[string]string{"id": "id = '{id}'", "version": "version = '{id}'"}}},
		"event_store":     event(map[string]string{"id": "id = '{id}'", "type": "type = '{id}'"}),
		"event_aggregate": {{make: []string{task("allow", "event")}, waits: `SELECT count(*) FROM event_aggregate WHERE id = '{id}'`, where: map[string]string{"id": "id = '{id}'"}, works: ticks}},
		"outbox_message":  event(map[string]string{"event_id": "event_id = '{id}'", "topic": "topic = '{id}'"}),
		"mail_queue": {{make: []string{task("skip", "mail")}, waits: `SELECT count(*) FROM mail_queue WHERE payload = '"{id}"'`,
			where: map[string]string{"payload": `payload = '"{id}"'`, "id": "id = (SELECT min(jid) FROM periodic_tick WHERE task_id = '{id}')"}, works: ticks}},
		"river_job": {{make: []string{task("skip", "river")}, waits: `SELECT count(*) FROM river_job WHERE CAST(args AS text) = '"{id}"'`,
			where: map[string]string{"args": `CAST(args AS text) = '"{id}"'`, "metadata": `CAST(metadata AS text) LIKE '%"{id}"%'`}, works: ticks}},
		"pgboss.job": {{make: []string{task("skip", "boss")}, waits: `SELECT count(*) FROM pgboss.job WHERE CAST(data AS text) = '"{id}"'`,
			where: map[string]string{"data": `CAST(data AS text) = '"{id}"'`, "id": "CAST(id AS text) = (SELECT min(jid) FROM periodic_tick WHERE task_id = '{id}')"}, works: ticks}},
		"graphile_worker._private_jobs": {{make: []string{task("skip", "workers")}, waits: `SELECT count(*) FROM graphile_worker._private_jobs WHERE CAST(payload AS text) = '"{id}"'`,
			where: map[string]string{"payload": `CAST(payload AS text) = '"{id}"'`, "key": `key LIKE 'nextrun:{id}:%'`}, works: ticks}},
	}
	return all
}

// spared are the tables that no victim is in, with the reason.
var spared = map[string]string{
	"pgboss.job_common":                   "of pg-boss: what it makes the partition of a queue like, without rows",
	"nextrun_found":                       "it says which tables nextrun did not make; migrations read it, with one row for the whole database",
	"nextrun_migration":                   "it says which migrations have run: one row for the whole database",
	"river_notification":                  "of River: rows that wake its workers, which nextrun only adds",
	"river_queue":                         "of River: a row for each of its queues, which nextrun does not read",
	"river_migration":                     "of River, one row for the whole database",
	"pgboss.version":                      "of pg-boss, one row for the whole database",
	"pgboss.queue":                        "of pg-boss: a row for each of its queues, which many tasks share",
	"graphile_worker.migrations":          "of Graphile Worker, one row for the whole database",
	"graphile_worker._private_tasks":      "of Graphile Worker: a row that many tasks share",
	"graphile_worker._private_job_queues": "of Graphile Worker: a row that many tasks share",
}

// fill writes an id into a text.
func (d database) fill(statement, id string) string {
	now := "(now() AT TIME ZONE 'UTC')"
	if d.isSQLite() {
		now = "strftime('%Y-%m-%d %H:%M:%f000', 'now')"
	}
	return strings.NewReplacer("{id}", id, "{now}", now).Replace(statement)
}
