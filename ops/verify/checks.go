package verify

import (
	"slices"

	"github.com/nextrun/nextrun/jobqueue/exchange"
	"github.com/nextrun/nextrun/periodic/batch"
)

// checks are the checks of the tables, in the order in which a report has them. The
// relation p has the bounds: since, stale (older than a lease) and recent.
var checks = slices.Concat(ofTasks, ofJobs, ofEvents)

var ofTasks = []check{
	{
		Name: "ticks without their job", Guarantee: "G2", Doubtful: true,
		Violated: "a tick says submitted, but its job is gone, and has left no outcome as a job does that is deleted",
		Remedy:   "restore the jobs from a backup, or run the tasks again: nextrun task run ID",
		query: `SELECT k.task_id AS about, 'due ' || CAST(k.due AS text) || ', job ' || k.jid AS more
			FROM periodic_tick AS k JOIN periodic_task AS t ON t.id = k.task_id CROSS JOIN p
			WHERE k.decision = 'submitted' AND k.outcome IS NULL AND t.sink IN ('job', 'event') AND k.decided >= p.since AND k.decided < p.recent
				AND t.since < k.decided
				AND NOT EXISTS (SELECT 1 FROM job WHERE job.jid = k.jid)
				AND NOT EXISTS (SELECT 1 FROM event_store AS e WHERE e.id = k.jid)`,
	},
	{
		Name: "expired marks", Guarantee: "G4",
		Violated: "a mark has outlived its lease, and nobody has taken the task over",
		Remedy:   "start a scheduler; it removes such marks at once",
		query: `SELECT id AS about, worker || ' since ' || CAST(marked AS text) AS more FROM periodic_task CROSS JOIN p
			WHERE worker IS NOT NULL AND marked < p.stale ORDER BY marked`,
	},
	{
		Name: "tasks that nobody takes", Guarantee: "G2",
		Violated: "a task has been due for a while, waits for no job, and has no problem that says why",
		Remedy:   "start a scheduler; if one runs, ask: nextrun why ID",
		query: `SELECT t.id AS about, 'due ' || CAST(t.nextrun AS text) AS more FROM periodic_task AS t CROSS JOIN p
			WHERE t.enabled AND t.worker IS NULL AND t.nextrun < p.recent AND t.since < p.recent
				AND t.problem IS NULL AND NOT ` + batch.WaitsHere + `
				AND t.id NOT IN (SELECT j.tracker FROM job AS j JOIN p ON j.finished >= p.recent WHERE j.tracker IS NOT NULL)
				AND NOT EXISTS (SELECT 1 FROM periodic_open AS o WHERE o.task_id = t.id)`,
	},
	{
		Name: "ends of jobs in other queues", Doubtful: true,
		Violated: "nobody has asked another queue how a job ended, although it was time",
		Remedy:   "start a scheduler whose configuration has the queue; if one runs, ask: nextrun check --config FILE",
		query: `SELECT task_id AS about, 'due ' || CAST(due AS text) || ', job ' || jid || ' in the queue ' || sink || ', since ' || CAST(look AS text) AS more
			FROM periodic_open CROSS JOIN p WHERE look < p.stale ORDER BY look`,
	},
	{
		Name: "jobs whose end nobody awaits", Doubtful: true,
		Violated: "how a job in another queue ended is not recorded, and nobody will ask",
		Remedy:   "nothing, if the queue could not tell how jobs end at that time; else find out who deletes rows of periodic_open",
		query: `SELECT k.task_id AS about, 'due ' || CAST(k.due AS text) || ', job ' || k.jid AS more
			FROM periodic_tick AS k JOIN periodic_task AS t ON t.id = k.task_id CROSS JOIN p
			WHERE k.decision = 'submitted' AND k.outcome IS NULL AND t.sink NOT IN ('job', 'event') AND k.decided >= p.since AND k.decided < p.recent
				AND t.since < k.decided
				AND EXISTS (SELECT 1 FROM periodic_tick AS b WHERE b.task_id = k.task_id AND b.due < k.due AND b.outcome IS NOT NULL)
				AND NOT EXISTS (SELECT 1 FROM periodic_open AS a WHERE a.task_id = k.task_id AND a.due = k.due)`,
	},
}

var ofJobs = []check{
	{
		Name: "jobs of one tick", Guarantee: "G1",
		Violated: "a tick has more than one job",
		Remedy:   "find out who adds jobs with a due of their own: schedulers add one for each tick; delete the jobs that nobody wants",
		query: `SELECT tracker AS about, 'due ' || CAST(due AS text) || ': ' || count(*) || ' jobs' AS more FROM job CROSS JOIN p
			WHERE due IS NOT NULL AND tracker IS NOT NULL AND submitted >= p.since GROUP BY tracker, due HAVING count(*) > 1`,
	},
	{
		Name: "jobs without a tick", Guarantee: "G2",
		Violated: "a scheduler submitted a job, but no tick says so",
		Remedy:   "find out who deletes rows of periodic_tick before their time, or adds jobs with a tracker and a due of their own",
		query: `SELECT j.tracker AS about, 'due ' || CAST(j.due AS text) || ', job ' || j.jid AS more
			FROM job AS j JOIN (SELECT task_id, min(decided) AS kept FROM periodic_tick GROUP BY task_id) AS t
				ON t.task_id = j.tracker AND t.kept <= j.submitted
			JOIN periodic_task ON id = j.tracker CROSS JOIN p
			WHERE j.due IS NOT NULL AND j.submitted >= p.since
				AND NOT EXISTS (SELECT 1 FROM periodic_tick AS k WHERE k.task_id = j.tracker AND k.due = j.due)`,
	},
	{
		Name: "unfinished jobs of one task", Guarantee: "G3",
		Violated: "a task that must not overlap has more than one unfinished job",
		Remedy:   "the index nextrun_job_pending is missing or damaged: cancel the jobs but one, then run the statement that nextrun migrate status prints; if the index is there: REINDEX",
		query: `SELECT tracker AS about, count(*) || ' jobs' AS more FROM job CROSS JOIN p
			WHERE single AND state IN ` + exchange.PendingStates + ` GROUP BY tracker HAVING count(*) > 1`,
	},
	{
		Name:     "abandoned jobs",
		Violated: "a job runs, but its worker has been silent for long",
		Remedy:   "start an executor; it takes such jobs over",
		query: `SELECT j.jid AS about, j.worker || ', last heard of ' || CAST(w.seen AS text) AS more FROM job AS j JOIN worker AS w ON w.id = j.worker CROSS JOIN p
			WHERE j.state IN ('scheduled', 'running') AND w.seen < p.stale ORDER BY w.seen`,
	},
}

var ofEvents = []check{
	{
		Name: "events of one tick", Guarantee: "G1",
		Violated: "a tick has more than one event",
		Remedy:   "the index nextrun_event_due is missing or damaged: run the statement that nextrun migrate status prints; if the index is there: REINDEX",
		query: `SELECT aggregate_id AS about, 'due ' || CAST(due AS text) || ': ' || count(*) || ' events' AS more FROM event_store CROSS JOIN p
			WHERE due IS NOT NULL AND created >= p.since GROUP BY aggregate_id, due HAVING count(*) > 1`,
	},
	{
		Name: "versions of events", young: true,
		Violated: "the versions of the events of an aggregate have a gap, or its counter is behind",
		Remedy:   "find out who deletes or adds events by hand; readers that count on versions have to be reset",
		query: `SELECT e.aggregate_id AS about, count(*) || ' events with versions ' || min(e.aggregate_version) || ' to ' || max(e.aggregate_version)
				|| ', counter ' || coalesce(CAST(max(a.version) AS text), 'missing') AS more
			FROM event_store AS e LEFT JOIN event_aggregate AS a ON a.id = e.aggregate_id CROSS JOIN p WHERE e.created >= p.since
			GROUP BY e.aggregate_id
			HAVING count(*) <> max(e.aggregate_version) - min(e.aggregate_version) + 1 OR max(a.version) IS NULL
				OR max(e.aggregate_version) > max(a.version)`,
	},
	{
		Name:     "order of events",
		Violated: "an event comes before an earlier version of its aggregate",
		Remedy:   "find out who changes seq or aggregate_version by hand",
		query: `SELECT e.aggregate_id AS about, 'version ' || e.aggregate_version || ' comes before ' || (e.aggregate_version - 1) AS more
			FROM event_store AS e JOIN event_store AS b ON b.aggregate_id = e.aggregate_id AND b.aggregate_version = e.aggregate_version - 1 CROSS JOIN p
			WHERE e.created >= p.since AND e.seq < b.seq`,
	},
	{
		Name:     "messages without an event",
		Violated: "a message to be published has no event",
		Remedy:   "foreign keys were off when the event was deleted; delete the message",
		query: `SELECT m.topic AS about, 'message ' || m.id || ' of event ' || m.event_id AS more FROM outbox_message AS m CROSS JOIN p
			WHERE m.created >= p.since AND NOT EXISTS (SELECT 1 FROM event_store AS e WHERE e.id = m.event_id)`,
	},
}
