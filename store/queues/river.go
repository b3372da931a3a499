package queues

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// River is the queue of https://riverqueue.com: its table river_job, at schema level 6 or
// newer, in PostgreSQL or SQLite. A task's task is the kind of its jobs, args their
// arguments.
type River struct {
	// Schema is where River's tables are; empty: in the search path. It must be
	// empty on SQLite.
	Schema string `yaml:"schema"`
	// Queue is the name of River's queue for all tasks; empty: each task's group_.
	Queue string `yaml:"queue"`
	// MaxAttempts is how often River tries a job of a task without retry_limit;
	// 0: 25, its own default.
	MaxAttempts int `yaml:"max_attempts"`
	// Priority is River's priority for all tasks, 1 (first) to 4; 0: that of the
	// task: 9 and 10 become 1, 6 to 8 become 2, 3 to 5 become 3, 0 to 2 become 4.
	Priority int `yaml:"priority"`
	// Gone is how a job ended that is not in the table any more: success, failed or unknown.
	// River deletes jobs a day after their end, and those that failed after a week.
	// Empty: unknown.
	Gone string `yaml:"gone"`
}

// RiverTick returns the tick that a job of River is for, from its Metadata; ok is false for a job that no task has
// submitted. In its first attempt the job's ScheduledAt is Due, too; for a retry River moves that.
func RiverTick(metadata []byte) (tick periodic.TickKey, ok bool) {
	var m struct {
		Nextrun struct {
			Task string
			Due  time.Time
		}
	}
	if json.Unmarshal(metadata, &m) != nil || m.Nextrun.Task == "" {
		return tick, false
	}
	return periodic.TickKey{TaskID: m.Nextrun.Task, Due: m.Nextrun.Due}, true
}

// Validate returns an error that names each setting that is bad.
func (k River) Validate() error {
	c := &service.Check{Config: "queues.River"}
	checkIdentifier(c, "Schema", k.Schema)
	checkName(c, "Queue", k.Queue, riverNameLength)
	checkAttempts(c, k.MaxAttempts)
	c.Field(0 <= k.Priority && k.Priority <= 4, "Priority", k.Priority, "1 to 4")
	checkGone(c, k.Gone)
	return c.Err()
}

// riverNameLength is the greatest length of kinds and queues.
const riverNameLength = 127

func (k River) check(j jobqueue.Job) string {
	queue := queueOf(k.Queue)(j)
	switch {
	case j.Task == "":
		return "task is empty; River needs the kind of a job there"
	case utf8.RuneCountInString(j.Task) > riverNameLength:
		return fmt.Sprintf("task is longer than the %d characters that River's kinds can have", riverNameLength)
	case queue == "":
		return "group_ is empty; River needs the name of a queue there"
	case utf8.RuneCountInString(queue) > riverNameLength:
		return fmt.Sprintf("group_ is longer than the %d characters that River's queues can have", riverNameLength)
	}
	return badPriority(j)
}

func (k River) priority(j jobqueue.Job) int {
	switch {
	case k.Priority > 0:
		return k.Priority
	case j.Priority >= 9:
		return 1
	case j.Priority >= 6:
		return 2
	case j.Priority >= 3:
		return 3
	}
	return 4
}

// riverKey makes River refuse a second unfinished single job of a task. It never
// equals a key that River makes, which is the hash of a text that begins otherwise.
func riverKey(j jobqueue.Job) string {
	if !j.Single {
		return ""
	}
	hash := sha256.Sum256([]byte("nextrun:" + j.Tracker))
	return hex.EncodeToString(hash[:])
}

func (k River) preset(sqlite bool) (preset, error) {
	if k.MaxAttempts == 0 {
		k.MaxAttempts = 25 // its own default
	}
	p := preset{
		kind: "river", heeds: []string{"retry_limit", "priority"}, check: k.check, gone: goneState(k.Gone, "unknown"),
		remedy: "run: river migrate-up --database-url ... (https://riverqueue.com/docs/migrations)",
		columns: []column{
			columnJID, columnTracker, columnTask, textColumn("queue", queueOf(k.Queue)), intColumn("priority", k.priority), columnDue, columnMeta,
			textColumn("unique_key", riverKey),
		},
		absent: "River has an unfinished job of this task that nextrun does not know of", passing: true,
		queueOf: queueOf(k.Queue), ref: number,
	}
	if k.Priority != 0 {
		p.heeds = p.heeds[:1]
	}
	switch {
	case sqlite && k.Schema != "":
		return p, fmt.Errorf("river: the schema is %q, but SQLite has no schemas; leave it empty", k.Schema)
	case sqlite:
		k.sqlite(&p)
	default:
		k.postgres(&p)
	}
	return p, nil
}

// What is alike on both databases: how a job j ended, whether it waits, and whether it is ours. The id alone does not
// tell: the table may have been emptied, and its numbers start again.
var riverWords = []string{
	"{outcome}", `CASE j.state WHEN 'completed' THEN 'success' WHEN 'discarded' THEN 'failed' WHEN 'cancelled' THEN 'cancelled' END AS outcome`,
	"{state}", `CASE j.state WHEN 'running' THEN 'running' WHEN 'retryable' THEN 'stuck' ELSE 'waiting' END AS state`,
	"{open}", `j.state NOT IN ('cancelled', 'completed', 'discarded')`,
	"{waits}", `j.state IN ('available', 'pending', 'retryable', 'scheduled')`,
	"{ended}", `j.state IN ('cancelled', 'discarded')`,
	"{jid}", `metadata->'nextrun'->>'jid'`,
	"{ours}", `j.id = CAST(v.ref AS bigint) AND j.metadata->'nextrun'->>'jid' = v.jid`,
	// Those that are not final: available, pending, retryable, running and scheduled.
	"{unfinished}", "241",
}

func (k River) postgres(p *preset) {
	schema := literal(k.Schema)
	if k.Schema == "" {
		schema = `(SELECT n.nspname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = 'river_job'::regclass)`
	}
	words := strings.NewReplacer(append(riverWords, "{job}", qualified(k.Schema, "river_job"), "{schema}", schema,
		"{attempts}", attempts(k.MaxAttempts, "least"), "{task}", joinTask)...)
	sql := func(text string) statement { return own(words.Replace(text)) }
	p.insert = sql(`INSERT INTO {job} (args, kind, max_attempts, metadata, priority, queue, scheduled_at, state, tags, unique_key, unique_states)
		SELECT t.args::jsonb, v.task, {attempts}, v.meta::jsonb, v.priority, v.queue, v.due AT TIME ZONE 'UTC',
			'available', '{}', decode(v.unique_key, 'hex'), CASE WHEN v.unique_key IS NOT NULL THEN {unfinished}::bit(8) END
		FROM {batch} AS v {task}
		ON CONFLICT DO NOTHING
		RETURNING {jid} AS jid, id AS ref`)
	p.pending = sql(`SELECT v.ref, {state}, j.attempted_at AT TIME ZONE 'UTC' AS started FROM {batch} AS v JOIN {job} AS j ON {ours} WHERE {open}`)
	p.ends = sql(`SELECT v.ref, {outcome}, j.finalized_at AT TIME ZONE 'UTC' AS finished, j.attempt AS attempts,
			CASE WHEN j.state <> 'completed' THEN j.errors[array_upper(j.errors, 1)] ->> 'error' END AS error
		FROM {batch} AS v JOIN {job} AS j ON {ours}`)
	p.cancel = sql(`UPDATE {job} AS u SET state = 'cancelled', finalized_at = $2::timestamp AT TIME ZONE 'UTC',
			metadata = jsonb_set(u.metadata, '{cancel_attempted_at}', to_jsonb($2::timestamp AT TIME ZONE 'UTC'))
		WHERE u.id IN (SELECT j.id FROM {batch} AS v JOIN {job} AS j ON {ours} WHERE {waits} FOR UPDATE OF j SKIP LOCKED)
		RETURNING u.id AS ref`)
	p.retry = sql(`UPDATE {job} AS u SET state = 'available', scheduled_at = now(), finalized_at = NULL,
			max_attempts = greatest(u.max_attempts, u.attempt + 1)
		WHERE u.id IN (SELECT j.id FROM {batch} AS v JOIN {job} AS j ON j.{jid} = v.jid
			WHERE {ended} AND j.finalized_at BETWEEN timezone('UTC', $2::timestamp - interval '1 second')
				AND timezone('UTC', $2::timestamp + interval '1 second') FOR UPDATE OF j)
		RETURNING u.id AS ref`)
	p.notify = sql(`SELECT pg_notify({schema} || '.river_insert', json_build_object('queue', v.queue)::text) FROM {batch} AS v`)
}

// sqlite makes the statements for SQLite. Times of River are texts with milliseconds. CROSS JOIN keeps SQLite from
// reading all jobs of a state. A statement must hold no $, so that paths into JSON are written with ->. From level 7 on,
// which has a table river_notification, JSON is in binary form. River's client polls there.
func (k River) sqlite(p *preset) {
	words := strings.NewReplacer(append(riverWords, "{attempts}", attempts(k.MaxAttempts, "min"), "{task}", joinTask,
		"{jobs}", "{batch} AS v CROSS JOIN river_job AS j", "{format}", "'%Y-%m-%d %H:%M:%f'",
		"{args}", riverJSON("t.args"), "{meta}", riverJSON("v.meta"), "{tags}", riverJSON("'[]'"))...)
	sql := func(text string) statement { return own(words.Replace(text)) }
	p.insert = sql(`INSERT INTO river_job (args, kind, max_attempts, metadata, priority, queue, scheduled_at, created_at, state, tags,
			unique_key, unique_states)
		SELECT {args}, v.task, {attempts}, {meta}, v.priority, v.queue, strftime({format}, v.due), strftime({format}, 'now'),
			'available', {tags}, unhex(v.unique_key), CASE WHEN v.unique_key IS NOT NULL THEN {unfinished} END
		FROM {batch} AS v {task} WHERE true
		ON CONFLICT DO NOTHING
		RETURNING {jid} AS jid, id AS ref`)
	p.pending = sql(`SELECT v.ref, {state}, strftime({format}, j.attempted_at) AS started FROM {jobs} ON {ours} WHERE {open}`)
	p.ends = sql(`SELECT v.ref, {outcome}, strftime({format}, j.finalized_at) AS finished, j.attempt AS attempts,
			CASE WHEN j.state <> 'completed' THEN j.errors -> (json_array_length(j.errors) - 1) ->> 'error' END AS error
		FROM {jobs} ON {ours}`)
	p.cancel = sql(`UPDATE river_job SET state = 'cancelled', finalized_at = strftime({format}, $2)
		WHERE id IN (SELECT j.id FROM {jobs} ON {ours} WHERE {waits}) RETURNING id AS ref`)
	p.retry = sql(`UPDATE river_job SET state = 'available', scheduled_at = strftime({format}, 'now'), finalized_at = NULL,
			max_attempts = max(max_attempts, attempt + 1)
		WHERE id IN (SELECT j.id FROM {jobs} ON j.{jid} = v.jid
			WHERE {ended} AND abs(julianday(j.finalized_at) - julianday($2)) < 2 / 86400.0)
		RETURNING id AS ref`)
}

func riverJSON(text string) string {
	return `CASE WHEN EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'river_notification') THEN jsonb(` + text + `) ELSE json(` + text + `) END`
}
