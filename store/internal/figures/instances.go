package figures

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// Instance is a scheduler, an executor or a relay that rows name.
type Instance struct {
	Name string // as WorkerName writes it
	Boot string // the random id of its start; empty: it has none, as Docspell's
	Does Work
	Busy int       // due tasks it has marked, jobs it runs, topics it holds: now
	Lock string    // the scheduler lock that it holds; empty: none
	Seen time.Time // when it last wrote what was found
}

// Work is what an instance does.
type Work string

// The kinds of work.
const (
	Schedules Work = "schedules"
	Executes  Work = "executes"
	Publishes Work = "publishes"
)

// recently is how far back instances are looked for.
const recently = time.Hour

// mostTraces is how many of the newest rows of each kind are looked through.
const mostTraces = 200

// Instances reads which instances rows name that were written in the last hour, the one
// heard of last first. It looks at a bounded number of rows, found by indexes: those in
// work, the newest jobs that ended, and the last tick of each of the tasks that are due
// next. Hence it may miss one that has only worked on others, and does not see an
// instance that waits for work.
func (r Reader) Instances(ctx context.Context) ([]Instance, error) {
	var rows []traceRow
	err := r.db.View(ctx, func(tx *sqldb.Tx) (err error) {
		rows, err = readTraces(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read who is at work: %w", err)
	}
	return instancesOf(rows), nil
}

// traceRow is what rows of one kind say of an instance.
type traceRow struct {
	Does   string
	Worker string
	Busy   int
	Lock   sqldb.RowText
	Seen   sqldb.RowTime
}

func readTraces(ctx context.Context, tx *sqldb.Tx) (rows []traceRow, err error) {
	columns, err := tx.Columns(ctx, "job")
	if err != nil {
		return nil, err
	}
	since, now := sqldb.Timestamp(tx.Now().Add(-recently)), sqldb.Timestamp(tx.Now())
	query := tracesOfTasks + " UNION ALL " + strings.ReplaceAll(tracesOfTopics, "least", tx.SQL().Least)
	if len(columns) > 0 {
		query += " UNION ALL " + tracesOfJobs
	}
	err = tx.Select(ctx, &rows, `SELECT does, worker, busy, lock, seen FROM (`+query+`) AS t WHERE seen >= $1 ORDER BY seen DESC`, since, now, mostTraces)
	return rows, err
}

// The traces of instances: in marks and the lock; in the last tick of each of the tasks
// that are due next, which are those that run often; in leases of topics, where one that
// lasts means that its holder was heard of just now; and in jobs, with their ticks.
const (
	tracesOfTasks = `SELECT 'schedules' AS does, worker, count(CASE WHEN nextrun <= $2 THEN 1 END) AS busy, NULL AS lock, max(marked) AS seen
		FROM (SELECT worker, marked, nextrun FROM periodic_task WHERE worker IS NOT NULL ORDER BY marked DESC LIMIT $3) AS m GROUP BY worker
	UNION ALL SELECT 'schedules', holder, 0, CASE WHEN expires > $2 THEN name END, heartbeat FROM scheduler_lock
	UNION ALL SELECT 'schedules', k.worker, 0, NULL, max(k.decided)
		FROM (SELECT t.id, (SELECT max(due) FROM periodic_tick WHERE task_id = t.id) AS due
			FROM (SELECT id FROM periodic_task WHERE enabled AND worker IS NULL AND nextrun >= $1 ORDER BY nextrun LIMIT $3) AS t) AS n
		JOIN periodic_tick AS k ON k.task_id = n.id AND k.due = n.due
		WHERE k.worker IS NOT NULL GROUP BY k.worker`
	tracesOfTopics = `SELECT 'publishes', holder, count(*), NULL, max(least(expires, $2)) FROM outbox_topic
		WHERE holder IS NOT NULL AND topic IN (
			SELECT topic FROM (SELECT topic FROM outbox_message ORDER BY id DESC LIMIT $3) AS newest
			UNION SELECT topic FROM (SELECT topic FROM outbox_message WHERE published IS NULL AND dead IS NULL
				ORDER BY topic, id LIMIT $3) AS pending)
		GROUP BY holder`
	endedJobs    = `(SELECT worker, tracker, due, finished FROM job WHERE finished >= $1 ORDER BY finished DESC LIMIT $3)`
	tracesOfJobs = `SELECT 'executes', worker, count(*), NULL, max(heartbeat)
		FROM (SELECT worker, heartbeat FROM job WHERE state IN ('scheduled', 'running') ORDER BY heartbeat DESC LIMIT $3) AS a
		WHERE worker IS NOT NULL GROUP BY worker
	UNION ALL SELECT 'executes', worker, 0, NULL, max(finished) FROM ` + endedJobs + ` AS e WHERE worker IS NOT NULL GROUP BY worker
	UNION ALL SELECT 'schedules', k.worker, 0, NULL, max(k.decided) FROM ` + endedJobs + ` AS e
		JOIN periodic_tick AS k ON k.task_id = e.tracker AND k.due = e.due
		WHERE k.worker IS NOT NULL GROUP BY k.worker`
)

// instancesOf puts together what rows say of the same instance.
func instancesOf(rows []traceRow) []Instance {
	list := []Instance{}
	for _, r := range rows {
		name, boot, _ := strings.Cut(r.Worker, service.BootMark)
		boot, _, _ = strings.Cut(boot, ".") // the number of a batch
		at := slices.IndexFunc(list, func(i Instance) bool { return i.Name == name && i.Boot == boot && i.Does == Work(r.Does) })
		if at < 0 {
			at = len(list)
			list = append(list, Instance{Name: name, Boot: boot, Does: Work(r.Does), Seen: r.Seen.Time()})
		}
		i := &list[at]
		i.Busy += r.Busy
		if r.Lock != "" {
			i.Lock = string(r.Lock)
		}
	}
	return list
}
