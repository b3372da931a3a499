package queues

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// PGMQ is a queue of https://github.com/pgmq/pgmq, 1.5 or newer, as an extension or
// installed by its SQL file, in PostgreSQL. A task's args are the message. The headers
// of a message tell the task's task and id, its due, and the traceparent of who submitted
// it. PGMQ has no priorities.
//
// A job is final once its message is archived or deleted. While a worker has read it and
// its visibility timeout lasts, it is running.
type PGMQ struct {
	// Queue is PGMQ's queue for all tasks; empty: each task's group_. Letters count
	// as small ones.
	Queue string
	// Gone is how a job ended whose message was archived or deleted: success, failed or
	// unknown. Empty: success.
	Gone string
}

func (k PGMQ) kind() foreign.Kind { return pgmq(k) }

type pgmq PGMQ

// Validate implements [foreign.Kind].
func (k pgmq) Validate() error {
	p := &service.Check{Config: "queues.PGMQ"}
	foreign.CheckIdentifier(p, "Queue", k.Queue)
	foreign.CheckGone(p, k.Gone)
	return p.Err()
}

// Open implements [foreign.Kind].
func (k pgmq) Open(db *sqldb.DB) (foreign.Queue, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if db.SQL().IsSQLite() {
		return nil, errors.New("pgmq: the database is SQLite; PGMQ has its tables in PostgreSQL")
	}
	return foreign.New(db, foreign.Spec{Kind: "pgmq", Detect: k.detect, Cancels: true, Tells: true, Gone: foreign.GoneState(k.Gone, "success")}), nil
}

// pgmqHeaders are the headers of the message of a job.
func pgmqHeaders(j jobqueue.Job) string {
	headers := map[string]any{"task": j.Task, "nextrun": foreign.OriginOf(j)}
	if j.Traceparent != "" {
		headers["traceparent"] = j.Traceparent
	}
	b, err := json.Marshal(headers)
	if err != nil {
		return "{}" // it is made of texts only
	}
	return string(b)
}

func (k pgmq) part(j jobqueue.Job) string { return strings.ToLower(foreign.QueueOf(k.Queue, j)) }

// pgmqQueue is a queue of PGMQ and what this role may do with it.
type pgmqQueue struct {
	Name, Owner, Role string
	May               bool
}

func (q pgmqQueue) grants() []string {
	return []string{
		fmt.Sprintf(`GRANT USAGE ON SCHEMA pgmq TO %s;`, q.Role),
		fmt.Sprintf(`GRANT SELECT ON pgmq.meta TO %s;`, q.Role),
		fmt.Sprintf(`GRANT SELECT, INSERT, UPDATE, DELETE ON pgmq.%s TO %s;`, foreign.Quote("q_"+q.Name), q.Role),
		fmt.Sprintf(`GRANT SELECT, INSERT ON pgmq.%s TO %s;`, foreign.Quote("a_"+q.Name), q.Role),
	}
}

func (k pgmq) detect(ctx context.Context, tx *sqldb.Tx, r *foreign.Inspection) (*foreign.Shape, error) {
	meta := foreign.Relation{Schema: "pgmq", Name: "meta", Rights: []string{"SELECT"}}
	const remedy = "run: CREATE EXTENSION pgmq (https://github.com/pgmq/pgmq)"
	if ok, err := meta.Look(ctx, tx, r, remedy); err != nil || !ok {
		return nil, err
	}
	var current bool
	if err := tx.First(ctx, &current, `SELECT to_regprocedure('pgmq.send_batch(text, jsonb[], jsonb[])') IS NOT NULL`); err != nil {
		return nil, err
	}
	var version string
	err := tx.First(ctx, &version, `SELECT coalesce((SELECT 'extension ' || extversion FROM pg_extension WHERE extname = 'pgmq'), 'installed by SQL')`)
	if err != nil {
		return nil, err
	}
	r.Found = version
	if !current {
		r.Problem("run: ALTER EXTENSION pgmq UPDATE", "PGMQ is too old (%s): it has no function send_batch with headers; nextrun needs 1.5 or newer", version)
		return nil, nil
	}
	return k.queues(ctx, tx, r)
}

// queues looks at all queues: also at those that get no jobs since the configuration
// was changed, which may hold unfinished ones.
func (k pgmq) queues(ctx context.Context, tx *sqldb.Tx, r *foreign.Inspection) (*foreign.Shape, error) {
	var list []pgmqQueue
	err := tx.Select(ctx, &list, `SELECT lower(m.queue_name) AS name, pg_get_userbyid(q.relowner) AS owner, quote_ident(current_user) AS role,
			has_table_privilege(q.oid, 'SELECT') AND has_table_privilege(q.oid, 'INSERT') AND has_table_privilege(q.oid, 'UPDATE')
				AND has_table_privilege(q.oid, 'DELETE') AND has_table_privilege(a.oid, 'SELECT') AND has_table_privilege(a.oid, 'INSERT') AS may
		FROM pgmq.meta AS m JOIN pg_namespace AS n ON n.nspname = 'pgmq'
		JOIN pg_class AS q ON q.relnamespace = n.oid AND q.relname = lower('q_' || m.queue_name)
		JOIN pg_class AS a ON a.relnamespace = n.oid AND a.relname = lower('a_' || m.queue_name)
		ORDER BY name`)
	if err != nil {
		return nil, err
	}
	parts, forbidden := map[string]bool{}, map[string]string{}
	s := k.shape(parts, forbidden)
	for _, q := range list {
		if !foreign.IsIdentifier(q.Name) {
			continue
		}
		if !q.May {
			forbidden[q.Name] = fmt.Sprintf("role %s lacks rights on the queue %s of PGMQ: as %s run: %s", q.Role, q.Name, q.Owner, strings.Join(q.grants(), " "))
			if k.Queue == "" || q.Name == strings.ToLower(k.Queue) {
				r.Warn("", "%s", forbidden[q.Name])
			}
			continue
		}
		parts[q.Name] = true
	}
	if k.Queue != "" && !parts[strings.ToLower(k.Queue)] {
		r.Problems = nil
		reason, _ := s.NoPart(strings.ToLower(k.Queue))
		r.Problem("", "%s", reason)
		return nil, nil
	}
	return s, nil
}

// shape makes the statements. Only the headers tell which message is for which job:
// PGMQ does not promise the order of the numbers that it returns.
func (k pgmq) shape(parts map[string]bool, forbidden map[string]string) *foreign.Shape {
	const table = `pgmq."q_{part}"`
	// A queue that was dropped and created again gives the same numbers to others.
	const ours = `q.msg_id = v.ref::bigint AND q.headers->'nextrun'->>'jid' = v.jid`
	return &foreign.Shape{
		Columns: []foreign.Column{foreign.ColumnJID, foreign.ColumnTracker, foreign.TextColumn("headers", pgmqHeaders)},
		Part:    k.part, Parts: parts,
		NoPart: func(part string) (string, bool) {
			if reason, ok := forbidden[part]; ok {
				return reason, true
			}
			return fmt.Sprintf("PGMQ has no queue %q: run SELECT pgmq.create(...), or set group_ to the name of a queue", part), false
		},
		RefPart: func(ref string) (string, string) { part, id, _ := strings.Cut(ref, "/"); return part, id },
		IsRef:   func(ref string) bool { _, id, ok := strings.Cut(ref, "/"); return ok && foreign.IsNumber(id) },
		Insert: foreign.Own(`SELECT s AS ref FROM (SELECT array_agg(t.args::jsonb ORDER BY v.jid) AS args, array_agg(v.headers::jsonb ORDER BY v.jid) AS headers
				FROM {batch} AS v` + foreign.JoinTask + `) AS b, pgmq.send_batch('{part}', b.args, b.headers) AS s`),
		Mapped: foreign.Own(`SELECT q.headers->'nextrun'->>'jid' AS jid, '{part}/' || q.msg_id AS ref
			FROM {batch} AS v JOIN ` + table + ` AS q ON q.msg_id = v.ref::bigint`),
		Absent: "PGMQ did not take the message; check whether a trigger that you added to its table forbids it",
		Pending: foreign.Own(`SELECT v.ref, CASE WHEN q.read_ct = 0 THEN 'waiting' WHEN q.vt > clock_timestamp() THEN 'running' ELSE 'stuck' END AS state
			FROM {batch} AS v JOIN ` + table + ` AS q ON ` + ours),
		Ends: foreign.Own(`SELECT v.ref, NULL AS outcome, q.read_ct AS attempts FROM {batch} AS v JOIN ` + table + ` AS q ON ` + ours),
		Cancel: foreign.Own(`SELECT a AS ref FROM pgmq.archive('{part}', ARRAY(SELECT q.msg_id
			FROM {batch} AS v JOIN ` + table + ` AS q ON ` + ours + `
			WHERE q.read_ct = 0 AND $2::timestamp IS NOT NULL FOR UPDATE OF q SKIP LOCKED)) AS a`),
	}
}
