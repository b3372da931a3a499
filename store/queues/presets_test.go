package queues_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

// preset is a kind of queue with its tables, and what it makes of jobs.
type preset struct {
	fixture      func(*testing.T) *fixture
	kind         queues.Kind
	table, where string // of a job with a reference
	shown, want  string // an expression about a job; {n} is its number, {jid} its id
	states       []state
	gone         sink.EndState // of a job that is not there any more
	skipsLocked  bool
	forget       string // removes all jobs, and adds one of somebody else that has the reference of the first
	bad          []bad
	broken       map[string]broken
}

// state is what was done to a job, and how it is then: its state while it is pending, whether it can be cancelled, and
// "STATE ATTEMPTS ERROR" of its end; "-" is a job that is not there any more.
type state struct {
	set, pending string
	cancels      bool
	end          string
}

// removed is what is set of a job that is deleted.
const removed = "removed"

// bad is a job that the queue refuses for good, and a part of the reason.
type bad struct {
	args string
	edit func(*jobqueue.Job)
	want string
}

// broken is what somebody did to the tables of a queue, and what the queue says then; with want "" it can be used
// nevertheless.
type broken struct{ setup, want string }

func noEdit(*jobqueue.Job)      {}
func noTask(j *jobqueue.Job)    { j.Task = "" }
func longTask(j *jobqueue.Job)  { j.Task = strings.Repeat("é", 129) }
func longGroup(j *jobqueue.Job) { j.Group = strings.Repeat("q", 128) }

// onPostgres is a fixture with the tables of files of testdata.
func onPostgres(files ...string) func(t *testing.T) *fixture {
	return func(t *testing.T) *fixture {
		t.Helper()
		t.Parallel()
		return newFixture(t, migrated.New(t, storetest.Postgres).Database, files...)
	}
}

var graphileFixture = onPostgres("graphile.sql")

func pgBossFixture(t *testing.T) *fixture {
	t.Helper()
	f := onPostgres("pgboss.sql")(t)
	f.Exec(`INSERT INTO pgboss.queue (name, policy) VALUES ('report', 'standard'), ('short', 'short'), ('exclusive', 'exclusive'),
		('fifo', 'key_strict_fifo')`)
	return f
}

// riverOn has the newest tables of River.
func riverOn(kind string) func(t *testing.T) *fixture {
	return func(t *testing.T) *fixture {
		t.Helper()
		t.Parallel()
		return newFixture(t, migrated.New(t, kind).Database, "river_"+kind+"_6.sql", "river_"+kind+"_7.sql")
	}
}

// presets are all kinds, on each database.
var presets = map[string]preset{
	"River on PostgreSQL": riverPreset(storetest.Postgres, "", "2026-03-04 05:06:09.5+00", `ARRAY['{"attempt": 1, "error": "first"}', '{"attempt": 2, "error": "no space left"}']::jsonb[]`,
		"TRUNCATE river_job RESTART IDENTITY", `relation "river_job" does not exist; run: river migrate-up`, `column "tags" of relation "river_job" does not exist`),
	"River on SQLite": riverPreset(storetest.SQLite, "CAST", "2026-03-04 05:06:09.5", `'[{"attempt": 1, "error": "first"}, {"attempt": 2, "error": "no space left"}]'`,
		"DELETE FROM river_job", "no such table: river_job; run: river migrate-up", "no column named tags"),
	"Graphile Worker": {
		fixture: graphileFixture, kind: queues.GraphileWorker{}, table: "graphile_worker._private_jobs", where: "id = CAST(? AS bigint)", skipsLocked: true,
		shown: "concat_ws(' ', payload->>'n', priority, key, run_at = '2026-03-04 05:06:07.089Z', job_queue_id)", want: "{n} 0 nextrun:t{n}:2026-03-04T05:06:07.089000Z:{jid} t",
		states: []state{
			{"", "waiting", true, " 0 "},
			{"locked_at = '2026-03-04 06:06:10+01', locked_by = 'w', attempts = max_attempts", "running", false, " 25 "}, // runs for the last time
			// A worker may hold a job for longer than the four hours after which Graphile Worker's functions take it for abandoned.
			{"locked_at = now() - interval '5 hours', locked_by = 'w'", "running", false, " 0 "},
			{"attempts = 3, last_error = 'a blip'", "stuck", true, " 3 a blip"},
			{"attempts = max_attempts, last_error = 'no space left'", "", false, "failed 25 no space left"},
			{removed, "", false, "-"},
		},
		gone:   sink.EndGone,
		forget: "TRUNCATE graphile_worker._private_jobs RESTART IDENTITY; INSERT INTO graphile_worker._private_jobs (task_id, key) VALUES (1, NULL), (1, 'a key of its own')",
		bad:    []bad{{"not JSON", noEdit, "invalid input syntax for type json"}, {"{}", longTask, "128 characters"}, {"{}", noTask, "task is empty"}, {`{"zero": "\u0000"}`, noEdit, `\u0000 cannot be converted`}},
		broken: map[string]broken{
			"missing":    {"DROP SCHEMA graphile_worker CASCADE", "does not exist; nextrun needs Graphile Worker 0.16"},
			"no table":   {"ALTER TABLE graphile_worker._private_jobs RENAME TO older", `_private_jobs" does not exist`},
			"other spec": {"ALTER TYPE graphile_worker.job_spec ADD ATTRIBUTE more text CASCADE", ""},
		},
	},
	"pg-boss": {
		fixture: pgBossFixture, kind: queues.PgBoss{}, table: "pgboss.job", where: "concat(name, '/', id) = ?", skipsLocked: true,
		shown: "concat_ws(' ', data->>'n', priority, singleton_key, group_id, id, state, start_after = '2026-03-04 05:06:07.089Z')", want: "{n} 0 t{n} mail {jid} created t",
		states: []state{
			{"", "waiting", true, " 0 "},
			{`state = 'retry', started_on = '2026-03-04 06:06:08+01', retry_count = 1, output = '{"value": "a blip"}'`, "stuck", true, " 2 a blip"},
			{"state = 'active', started_on = '2026-03-04 06:06:10+01'", "running", false, " 1 "},
			{`state = 'completed', started_on = now(), retry_count = 1, completed_on = '2026-03-04 05:06:09.5+00', output = '{"rows": 7}'`, "", false, "success 2 "},
			{`state = 'failed', started_on = now(), retry_count = 1, completed_on = '2026-03-04 05:06:09.5+00', output = '{"name": "Error", "message": "no space left", "stack": "..."}'`, "", false, "failed 2 no space left"},
			{`state = 'failed', started_on = now(), output = '{"value": {"message": "job timed out"}}'`, "", false, "failed 1 job timed out"},
			{"state = 'cancelled'", "", false, "cancelled 0 "},
			{removed, "", false, "-"},
		},
		gone: sink.EndUnknown,
		bad: []bad{
			{"not JSON", noEdit, "invalid input syntax for type json"}, {`{"zero": "\u0000"}`, noEdit, "u0000"}, {"{}", noTask, "task is empty"},
			{"{}", func(j *jobqueue.Job) { j.Task = "it's new" }, `pg-boss has no queue "it's new"; create it in your program: await boss.createQueue("it's new")`},
			{"{}", func(j *jobqueue.Job) { j.JID = "no-uuid" }, "is not a UUID"},
		},
		broken: map[string]broken{
			"missing": {"DROP SCHEMA pgboss CASCADE", `relation "pgboss.job" does not exist; nextrun needs pg-boss 12.26`},
			"default": {"ALTER TABLE pgboss.job ADD COLUMN tenant text NOT NULL DEFAULT ''", ""},
			"no key":  {"ALTER TABLE pgboss.queue DROP COLUMN retention_seconds", "column q.retention_seconds does not exist"},
		},
	},
	"PGMQ": {
		fixture: pgmqFixture, kind: queues.PGMQ{Queue: "MAIL"}, table: "pgmq.q_mail", where: "concat('mail/', msg_id) = ?",
		shown: "concat_ws(' ', message->>'n', headers->>'handler', headers->'nextrun'->>'task', headers->'nextrun'->>'due', headers->'nextrun'->>'jid')",
		want:  "{n} report t{n} 2026-03-04T05:06:07.089Z {jid}",
		states: []state{
			{"", "waiting", true, " 0 "},
			{"vt = now() + interval '1 hour', read_ct = 1", "running", false, " 1 "},
			{"read_ct = 1", "stuck", false, " 1 "},
			{removed, "", false, "-"},
		},
		gone:   sink.EndGone,
		forget: `TRUNCATE pgmq.q_mail RESTART IDENTITY; SELECT pgmq.send_batch('mail', ARRAY['{"somebody": "else"}'::jsonb, '{}'], ARRAY['{}'::jsonb, NULL])`,
		bad:    []bad{{"not JSON", noEdit, "invalid input syntax for type json"}},
		broken: map[string]broken{
			"missing":  {"DROP SCHEMA pgmq CASCADE", `schema "pgmq" does not exist; nextrun needs PGMQ 1.5 or newer, CREATE EXTENSION pgmq`},
			"old":      {"DROP FUNCTION pgmq.send_batch(text, jsonb[], jsonb[])", "function pgmq.send_batch(unknown, jsonb[], jsonb[]) does not exist; nextrun needs PGMQ 1.5"},
			"no queue": {"DROP TABLE pgmq.q_mail", `relation "pgmq.q_mail" does not exist; nextrun needs PGMQ 1.5 or newer`},
		},
	},
	"statements on PostgreSQL": legacyPreset(storetest.Postgres, "value too long for type character varying(10)"),
	"statements on SQLite":     legacyPreset(storetest.SQLite, "CHECK constraint failed"),
}

func riverPreset(database, cast, final, failures, forget, missing, renamed string) preset {
	number := "args->>'n'"
	if cast != "" {
		number = "CAST(args->>'n' AS text)"
	}
	ended := ", attempt = 2, finalized_at = '" + final + "', errors = " + failures
	p := preset{
		fixture: riverOn(database), kind: queues.River{}, table: "river_job", where: "id = CAST(? AS integer)", skipsLocked: true,
		shown: number + " || ' ' || state || ' ' || attempt || ' ' || max_attempts", want: "{n} available 0 25",
		states: []state{
			{"", "waiting", true, " 0 "}, {"state = 'pending'", "waiting", true, " 0 "}, {"state = 'scheduled'", "waiting", true, " 0 "},
			{"state = 'retryable', attempt = 2, errors = " + failures, "stuck", true, " 2 no space left"},
			{"state = 'running', attempt = 1, attempted_at = '2026-03-04 05:06:10+00:00'", "running", false, " 1 "},
			{"state = 'completed'" + ended, "", false, "success 2 "},
			{"state = 'discarded'" + ended, "", false, "failed 2 no space left"},
			{"state = 'cancelled', attempt = 2, finalized_at = '" + final + "'", "", false, "cancelled 2 "},
			{removed, "", false, "-"},
		},
		gone:   sink.EndUnknown,
		forget: forget + "; INSERT INTO river_job (args, kind, max_attempts) VALUES ('{}', 'x', 1)",
		bad: []bad{
			{"{}", longTask, "127 characters"}, {"{}", longGroup, "127 characters"}, {"{}", noTask, "task is empty"},
			{"{}", func(j *jobqueue.Job) { j.Priority = 11 }, "priority is 11"}, {`{"broken": `, noEdit, "JSON"},
		},
		broken: map[string]broken{
			"missing": {"ALTER TABLE river_job RENAME TO hidden", missing},
			"renamed": {"ALTER TABLE river_job RENAME COLUMN tags TO labels", renamed},
		},
	}
	if database == storetest.Postgres {
		p.bad = append(p.bad[:4], bad{`{"broken": `, noEdit, "invalid input syntax for type json"}, bad{`{"nul": "\u0000"}`, noEdit, `\u0000 cannot be converted`})
	}
	return p
}

func legacyPreset(database, tooLong string) preset {
	kind := legacyKind(database)
	kind.Outcome = `SELECT o.ref, CASE WHEN l.done IS NOT NULL THEN 'failed' END AS outcome, l.done AS finished, 3 AS attempts, 'no space left' AS error
		FROM nextrun_open AS o JOIN legacy AS l ON l.id = CAST(o.ref AS integer)`
	return preset{
		fixture: legacyOn(database), kind: kind, table: "legacy", where: "id = CAST(? AS integer)",
		shown: "args || ' ' || name || ' ' || rank || ' ' || jid", want: `{"n": {n}} report 10 {jid}`,
		states: []state{
			{"", "waiting", true, " 3 no space left"},
			{"taken = '2026-03-04 05:06:10.000000'", "running", false, " 3 no space left"},
			{"done = '2026-03-04 05:06:09.500000'", "", false, "failed 3 no space left"},
			{removed, "", false, "-"},
		},
		gone: sink.EndUnknown,
		bad: []bad{
			{"{}", func(j *jobqueue.Job) { j.Task = "far too long" }, tooLong},
			{"{}", func(j *jobqueue.Job) { j.Group = "away" }, "returned no row"},
		},
		broken: map[string]broken{"renamed": {"ALTER TABLE legacy RENAME COLUMN rank TO place", "rank"}},
	}
}

// each runs a test for all presets.
func each(t *testing.T, test func(t *testing.T, p preset)) {
	t.Helper()
	for name, p := range presets {
		t.Run(name, func(t *testing.T) { test(t, p) })
	}
}

// set changes a job, or removes it.
func (p preset) set(f *fixture, o sink.Open, what string) {
	f.Helper()
	statement := fmt.Sprintf("UPDATE %s SET %s WHERE %s", p.table, what, p.where)
	if what == removed {
		statement = fmt.Sprintf("DELETE FROM %s WHERE %s", p.table, p.where)
	}
	if what != "" {
		f.Exec(statement, o.Ref)
	}
}
