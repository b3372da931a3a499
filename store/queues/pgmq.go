package queues

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nextrun/nextrun/internal/service"
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
	// Queue is the name of PGMQ's queue. Letters count as small ones.
	Queue string `yaml:"queue"`
	// Gone is how a job ended whose message was archived or deleted: success, failed or
	// unknown. Empty: success.
	Gone string `yaml:"gone"`
}

// Validate returns an error that names each setting that is bad.
func (k PGMQ) Validate() error {
	c := &service.Check{Config: "queues.PGMQ"}
	c.Field(k.Queue != "", "Queue", `""`, "the name of a queue that pgmq.create has made")
	checkIdentifier(c, "Queue", k.Queue)
	checkGone(c, k.Gone)
	return c.Err()
}

// preset has references of a queue and the number of a message. Only the headers tell which message is for
// which job: PGMQ does not promise the order of the numbers that it returns, and a queue
// that was dropped and created again gives the same numbers to others.
func (k PGMQ) preset(sqlite bool) (preset, error) {
	if sqlite {
		return preset{}, errors.New("pgmq: the database is SQLite; PGMQ has its tables in PostgreSQL")
	}
	queue := strings.ToLower(k.Queue)
	words := strings.NewReplacer("{task}", joinTask, "{queue}", literal(queue), "{table}", qualified("pgmq", "q_"+queue),
		"{ref}", literal(queue+"/"), "{number}", `split_part(v.ref, '/', 2)::bigint`, "{jid}", `q.headers->'nextrun'->>'jid'`)
	sql := func(text string) statement {
		return own(words.Replace(strings.ReplaceAll(text, "{ours}", `{batch} AS v JOIN {table} AS q ON q.msg_id = {number} AND {jid} = v.jid`)))
	}
	headers := func(j jobqueue.Job) string { return origin(j, map[string]any{"handler": j.Task}) }
	return preset{
		kind: "pgmq", gone: goneState(k.Gone, "success"),
		remedy: fmt.Sprintf("nextrun needs PGMQ 1.5 or newer, CREATE EXTENSION pgmq, or ALTER EXTENSION pgmq UPDATE (https://github.com/pgmq/pgmq), "+
			"and the queue: SELECT pgmq.create(%s)", literal(queue)),
		ref:     regexp.MustCompile(`^` + regexp.QuoteMeta(queue) + `/[0-9]{1,18}$`),
		columns: []column{columnJID, columnTracker, textColumn("headers", headers)},
		insert: sql(`SELECT {ref} || s AS ref FROM (SELECT array_agg(t.args::jsonb ORDER BY v.jid) AS args, array_agg(v.headers::jsonb ORDER BY v.jid) AS headers
				FROM {batch} AS v {task}) AS b, pgmq.send_batch({queue}, b.args, b.headers) AS s`),
		mapped: sql(`SELECT {jid} AS jid, v.ref FROM {batch} AS v JOIN {table} AS q ON q.msg_id = {number}`),
		absent: "PGMQ did not take the message; check whether a trigger that you added to its table forbids it",
		pending: sql(`SELECT v.ref, CASE WHEN q.read_ct = 0 THEN 'waiting' WHEN q.vt > clock_timestamp() THEN 'running' ELSE 'stuck' END AS state
			FROM {ours}`),
		ends: sql(`SELECT v.ref, NULL AS outcome, q.read_ct AS attempts FROM {ours}`),
		cancel: sql(`SELECT {ref} || a AS ref FROM pgmq.archive({queue}, ARRAY(SELECT q.msg_id
			FROM {ours} WHERE q.read_ct = 0 AND $2::timestamp IS NOT NULL FOR UPDATE OF q SKIP LOCKED)) AS a`),
	}, nil
}
