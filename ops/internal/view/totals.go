package view

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// MostJobs is how many unfinished jobs are counted. A longer queue shows as this
// number, so that a long one costs no more than this.
const MostJobs = 100_000

// Totals are figures of the whole database.
type Totals struct {
	Now      time.Time     // of the database
	Skew     time.Duration // how far the database's clock is ahead of the host's
	Enabled  int           // tasks that are enabled, and neither paused nor blocked
	Paused   int           // enabled tasks that are paused and not blocked
	Disabled int
	Blocked  int           // enabled tasks whose problem keeps them from being scheduled
	Overdue  int           // enabled tasks that no scheduler has taken in time
	Late     time.Duration // of the most overdue one
	Working  int           // schedulers that run, as far as the database shows
	Fresh    bool          // some are overdue, and no scheduler has planned or decided anything on this database yet
	Queue    []QueueDepth
	Jobs     map[jobqueue.State]int // unfinished jobs in nextrun's own queue, without those of hooks
	Oldest   time.Time              // when the oldest of those that wait was submitted; zero: none waits
	Others   []OtherQueue
}

// QueueDepth counts the unfinished jobs of a group in a state, in nextrun's own queue.
type QueueDepth struct {
	Group  string
	State  jobqueue.State
	Jobs   int
	Oldest time.Time // when the oldest of them was submitted
}

// OtherQueue is a queue of another project that tasks submit to.
type OtherQueue struct {
	Sink   periodic.Sink
	Tasks  int       // that submit to it
	Open   int       // jobs whose end is awaited and not known yet; of a queue that does not tell how jobs end: 0
	Oldest time.Time // when the oldest of them was submitted
}

// Totals reads the figures of the whole database.
func (r Reader) Totals(ctx context.Context) (Totals, error) {
	t := Totals{Jobs: map[jobqueue.State]int{}}
	now := func(_ context.Context, tx *sqldb.Tx) error { t.Now = tx.Now(); return nil }
	if err := r.read(ctx, "read the figures of the database", now, t.readTasks, t.readQueue, t.readOthers); err != nil {
		return Totals{}, err
	}
	t.Skew = r.db.ClockSkew()
	services, err := r.Services(ctx)
	for _, s := range services {
		if s.Kind == Scheduler && s.Lives {
			t.Working++
		}
	}
	return t, err
}

// Tasks is how many tasks there are.
func (t *Totals) Tasks() int { return t.Enabled + t.Paused + t.Disabled + t.Blocked }

// NoScheduler reports whether tasks are overdue and no scheduler runs, as far as the database shows.
func (t *Totals) NoScheduler() bool { return t.Overdue > 0 && t.Working == 0 }

// Running is how many jobs executors have, without those of hooks.
func (t *Totals) Running() int { return t.Jobs[jobqueue.Running] + t.Jobs[jobqueue.Scheduled] }

func (t *Totals) readTasks(ctx context.Context, tx *sqldb.Tx) error {
	count := func(s periodic.TaskState) string {
		return `coalesce(sum(CASE WHEN ` + batch.InState(s, "$1", "$2") + ` THEN 1 ELSE 0 END), 0) AS ` + string(s)
	}
	var tasks struct {
		Enabled, Paused, Disabled, Blocked, Overdue int
		Since                                       sqldb.RowTime
	}
	// A row that is to be planned has the time 1970.
	since := tx.SQL().Greatest + "(nextrun, since)"
	err := tx.First(ctx, &tasks, `SELECT `+count(periodic.TaskEnabled)+`, `+count(periodic.TaskPaused)+`, `+count(periodic.TaskDisabled)+`,
			`+count(periodic.TaskBlocked)+`, `+count(periodic.TaskOverdue)+`, min(CASE WHEN `+batch.InState(periodic.TaskOverdue, "$1", "$2")+` THEN `+since+` END) AS since
		FROM periodic_task AS t`, sqldb.Timestamp(tx.Now()), sqldb.Timestamp(tx.Now().Add(-periodic.OverdueAfter)))
	t.Enabled, t.Paused, t.Disabled, t.Blocked, t.Overdue = tasks.Enabled, tasks.Paused, tasks.Disabled, tasks.Blocked, tasks.Overdue
	if err != nil || t.Overdue == 0 {
		return err
	}
	t.Late = tx.Now().Sub(tasks.Since.Time())
	return tx.First(ctx, &t.Fresh, `SELECT NOT EXISTS (SELECT 1 FROM periodic_tick) AND NOT EXISTS (SELECT 1 FROM periodic_task WHERE due IS NOT NULL)`)
}

// readQueue counts the unfinished jobs. It asks by the conditions of the indexes of job, so that jobs of final states are not read.
func (t *Totals) readQueue(ctx context.Context, tx *sqldb.Tx) error {
	var rows []struct {
		Group  sqldb.RowText `db:"group_"`
		State  jobqueue.State
		Jobs   int
		Oldest sqldb.RowTime
	}
	err := tx.Select(ctx, &rows, `SELECT group_, state, count(*) AS jobs, min(submitted) AS oldest
		FROM (SELECT * FROM (SELECT group_, state, submitted FROM job WHERE state = 'waiting' AND retry IS NULL
			UNION ALL SELECT group_, state, submitted FROM job WHERE (state = 'stuck' OR state = 'waiting' AND retry IS NOT NULL)
			UNION ALL SELECT group_, state, submitted FROM job WHERE state IN ('scheduled', 'running')) AS pending LIMIT $1) AS j
		GROUP BY group_, state ORDER BY group_, state`, MostJobs)
	for _, r := range rows {
		q := QueueDepth{string(r.Group), r.State, r.Jobs, r.Oldest.Time()}
		if t.Queue = append(t.Queue, q); q.Group == jobqueue.HookGroup {
			continue
		}
		if t.Jobs[q.State] += q.Jobs; q.State == jobqueue.Waiting && (t.Oldest.IsZero() || q.Oldest.Before(t.Oldest)) {
			t.Oldest = q.Oldest
		}
	}
	return err
}

// readOthers reads what is known of the queues of other projects.
func (t *Totals) readOthers(ctx context.Context, tx *sqldb.Tx) error {
	var rows []struct {
		Sink        periodic.Sink
		Tasks, Open int
		Oldest      sqldb.RowTime
	}
	err := tx.Select(ctx, &rows, `SELECT sink, sum(task) AS tasks, sum(job) AS open, min(submitted) AS oldest
		FROM (SELECT sink, 0 AS task, 1 AS job, submitted FROM (SELECT sink, submitted FROM periodic_open LIMIT $1) AS a
			UNION ALL SELECT sink, 1, 0, NULL FROM periodic_task WHERE sink NOT IN ('job', 'event')) AS q
		GROUP BY sink ORDER BY sink`, MostJobs)
	for _, row := range rows {
		t.Others = append(t.Others, OtherQueue{row.Sink, row.Tasks, row.Open, row.Oldest.Time()})
	}
	return err
}
