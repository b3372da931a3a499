package queues

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
)

// SQL is any queue in tables of the same database, by statements of yours. They
// run in the scheduler's transaction, each once for a whole batch.
//
// Each reads a relation that stands in front of it as a common table expression:
//
//	nextrun_batch (jid, task_id, due, handler, group_, args, subject, submitter, submitted, priority, single, traceparent)
//	nextrun_open (ref, jid, task_id, due, submitted), in Cancel also now
//	nextrun_queues (queue): the distinct group_ of the jobs added
//
// Times are UTC without zone, args are a text, priority is 0 to 10, 10 first, and single says that
// the job must not overlap with another of its task. traceparent is that of who submitted
// the job, or NULL. If Enqueue names retry_limit, retry_delay or timeout, nextrun_batch has
// them, too: what the task says, in seconds, or NULL.
type SQL struct {
	// Enqueue adds the jobs of nextrun_batch. It returns, in any order, the jid of each
	// job added, and its ref, by which Pending and Cancel find it; without a column
	// ref that is the jid. For jobs that it does not add it can return the columns
	// refused, the reason, and passing, whether to try again later. A statement that
	// returns no columns adds all jobs.
	Enqueue string `yaml:"enqueue"`
	// Pending returns the ref, or the jid, of those jobs of nextrun_open that are not
	// final. It takes no locks. On SQLite write nextrun_open CROSS JOIN your table, so
	// that it finds the rows of these jobs only. It can also return state (waiting, running or stuck) and
	// started, a time in UTC.
	Pending string `yaml:"pending"`
	// Cancel cancels those jobs of nextrun_open that no worker has begun, and returns
	// their ref or jid. Pass over locked rows. Empty: jobs are not cancelled, so that
	// the policy replace waits like queue.
	Cancel string `yaml:"cancel"`
	// Outcome returns, for those jobs of nextrun_open that are in the table, the ref or the jid,
	// and outcome: success, failed, cancelled, or NULL for a job that has not ended. It can
	// also return finished, a time in UTC, attempts and error. It only reads, and has ten
	// seconds. Empty: nobody can tell how jobs end.
	Outcome string `yaml:"outcome"`
	// Gone is how a job ended that Outcome does not return: success, failed or unknown.
	// Empty: unknown.
	Gone string `yaml:"gone"`
	// Notify wakes the workers, such as SELECT pg_notify('jobs', queue) FROM
	// nextrun_queues. Empty: they find the jobs by themselves.
	Notify string `yaml:"notify"`
}

// Validate returns an error that names each setting that is bad.
func (k SQL) Validate() error {
	c := &service.Check{Config: "queues.SQL"}
	c.Field(reads(k.Enqueue, "nextrun_batch"), "Enqueue", fmt.Sprintf("%q", k.Enqueue), "a statement that adds the jobs of nextrun_batch")
	c.Field(reads(k.Pending, "nextrun_open"), "Pending", fmt.Sprintf("%q", k.Pending), "a statement that looks for the jobs of nextrun_open")
	c.Field(k.Cancel == "" || reads(k.Cancel, "nextrun_open"), "Cancel", fmt.Sprintf("%q", k.Cancel),
		"a statement that cancels jobs of nextrun_open, or nothing")
	c.Field(k.Outcome == "" || reads(k.Outcome, "nextrun_open"), "Outcome", fmt.Sprintf("%q", k.Outcome),
		"a statement that tells how the jobs of nextrun_open ended, or nothing")
	checkGone(c, k.Gone)
	c.Field(k.Gone == "" || k.Outcome != "", "Gone", fmt.Sprintf("%q", k.Gone), "nothing without Outcome, which tells what is gone")
	return c.Err()
}

func reads(statement, relation string) bool {
	return strings.Contains(strings.ToLower(statement), relation)
}

// heeds are the columns of a task's priority and limits that Enqueue names.
func (k SQL) heeds() (names []string) {
	for _, name := range []string{"priority", "retry_limit", "retry_delay", "timeout"} {
		if reads(k.Enqueue, name) {
			names = append(names, name)
		}
	}
	return names
}

const (
	sqlBatch = `nextrun_batch AS {kept}(SELECT v.jid, v.tracker AS task_id, v.due, v.task AS handler, v.group_, t.args, v.subject, v.submitter,
		v.submitted, v.priority, v.single, v.traceparent{limits} FROM {batch} AS v` + joinTask + `)`
	sqlOpen   = `nextrun_open AS {kept}(SELECT v.ref, v.jid, v.task_id, v.due, v.submitted FROM {batch} AS v)`
	sqlCancel = `nextrun_open AS {kept}(SELECT v.ref, v.jid, v.task_id, v.due, v.submitted, {now} AS now FROM {batch} AS v)`
	sqlQueues = `nextrun_queues AS {kept}(SELECT v.queue FROM {batch} AS v)`
)

// preset makes the statements. MATERIALIZED keeps SQLite from unpacking the rows again for each
// row that a user joins with them.
func (k SQL) preset(sqlite bool) (preset, error) { //nolint:unparam // as the other kinds
	now, kept, limits := "$2::timestamp", "", ""
	if sqlite {
		now, kept = "$2", "MATERIALIZED "
	}
	for _, name := range k.heeds() {
		if name != "priority" { // a statement that names no limit may read all columns by *
			limits += ", t." + name
		}
	}
	words := strings.NewReplacer("{now}", now, "{kept}", kept, "{limits}", limits)
	return preset{
		kind: "sql", heeds: k.heeds(), gone: goneState(k.Gone, "unknown"),
		columns: []column{
			columnJID, columnTracker, columnDue, columnTask, columnGroup, columnSubject, columnSubmitter, columnSubmitted, columnPriority, columnSingle,
			columnTrace,
		},
		absent:  "the statement enqueue returned no row for this job; it can return jid and refused, the reason",
		queueOf: func(j jobqueue.Job) string { return j.Group },
		insert:  behind(words.Replace(sqlBatch), k.Enqueue), pending: behind(words.Replace(sqlOpen), k.Pending),
		cancel: behind(words.Replace(sqlCancel), k.Cancel), ends: behind(words.Replace(sqlOpen), k.Outcome),
		notify: behind(words.Replace(sqlQueues), k.Notify),
	}, nil
}

// withClause is the beginning of a statement that has common table expressions of its
// own, behind space and comments.
var withClause = regexp.MustCompile(`(?is)^(?:\s+|--[^\n]*\n|/\*.*?\*/)*(with\s+)(recursive\s+)?`)

// behind is a statement of a user's behind a relation for it to read. An empty one stays
// empty.
func behind(relation, text string) statement {
	if strings.TrimSpace(text) == "" {
		return statement{}
	}
	text = strings.TrimRight(text, "; \t\r\n")
	with := withClause.FindStringSubmatchIndex(text)
	if with == nil {
		return statement{"WITH " + relation + "\n", text}
	}
	recursive := ""
	if with[4] >= 0 {
		recursive = "RECURSIVE "
	}
	return statement{"WITH " + recursive + relation + ",\n", text[with[1]:]}
}
