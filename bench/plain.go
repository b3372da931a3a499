package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// plain does with plain SQL what the scheduler and the executor do, and no more: it checks nothing, records nothing and marks
// nothing. Measurements are compared with it. Its methods panic by must.Nil.
type plain struct {
	*sql.DB
	sqlite bool
}

// exec runs a statement by itself, and commits it, in the one round trip that it needs. It returns the number of rows that it touched.
func (p plain) exec(ctx context.Context, statement string) int {
	return int(must.Get(must.Get(p.ExecContext(ctx, statement)).RowsAffected()))
}

// What is measured, in SQL, where there is more: the tasks that addTasks has added, and the jobs that nobody has worked off.
const (
	benchTasks = "id LIKE 'bench-%'"
	waiting    = "state = 'waiting' AND retry IS NULL"
)

// addTasks adds the tasks bench-n for each n from first to last. The scheduler plans them.
func (p plain) addTasks(ctx context.Context, first, last int, timer, overlap string) {
	series := fmt.Sprintf("generate_series(%d, %d) AS s(n)", first, last)
	if p.sqlite {
		series = fmt.Sprintf("(WITH RECURSIVE s(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s)", first, last)
	}
	p.exec(ctx, `INSERT INTO periodic_task (id, task, timer, args, overlap)
		SELECT 'bench-' || n, 'bench', '`+timer+`', '{"path": "/srv/data", "keep": 7}', '`+overlap+`' FROM `+series)
}

// addBurst adds n tasks, all due at a whole second and then once a day.
func (p plain) addBurst(ctx context.Context, n int, due time.Time) {
	p.addTasks(ctx, 1, n, due.UTC().Format("15:04:05")+" UTC", "skip")
	at := sqldb.Timestamp(due).String()
	p.exec(ctx, "UPDATE periodic_task SET due = '"+at+"', nextrun = '"+at+"' WHERE "+benchTasks)
	p.analyze(ctx)
}

// analyze does what autovacuum would do after so many changes.
func (p plain) analyze(ctx context.Context) {
	if !p.sqlite {
		p.exec(ctx, "VACUUM ANALYZE periodic_task")
	}
}

// submitOnce claims, submits and advances the tasks that are due, in one statement: what the database can do if nobody
// has to decide anything. A task that nobody has planned yet has a nextrun of 1970.
const submitOnce = `WITH due AS (SELECT id FROM periodic_task WHERE enabled AND worker IS NULL AND nextrun > '2000-01-01' AND nextrun <= clock_timestamp() AT TIME ZONE 'UTC'
		ORDER BY nextrun FOR UPDATE SKIP LOCKED),
	advanced AS (UPDATE periodic_task t SET due = t.due + interval '1 day', nextrun = t.nextrun + interval '1 day'
		FROM due WHERE t.id = due.id RETURNING t.*)
	INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, tracker, due, single)
	SELECT gen_random_uuid(), task, group_, args, subject, clock_timestamp() AT TIME ZONE 'UTC', submitter, priority,
		'waiting', 0, 0, id, due - interval '1 day', true FROM advanced`

// SQLite has no INSERT from the result of an UPDATE: two statements in a transaction.
const (
	chosen   = `SELECT id FROM periodic_task WHERE enabled AND worker IS NULL AND nextrun > '2000-01-01' AND nextrun <= strftime('%Y-%m-%d %H:%M:%f000', 'now') ORDER BY nextrun, id)`
	inserted = `INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress, tracker, due, single)
		SELECT lower(hex(randomblob(16))), task, group_, args, subject, strftime('%Y-%m-%d %H:%M:%f000', 'now'), submitter, priority,
			'waiting', 0, 0, id, due, 1 FROM periodic_task WHERE id IN (` + chosen
	advanced = `UPDATE periodic_task SET due = datetime(due, '+1 day') || '.000000', nextrun = datetime(nextrun, '+1 day') || '.000000' WHERE id IN (` + chosen
)

// submit submits all tasks that are due, in one transaction, and returns their number.
func (p plain) submit(ctx context.Context) int {
	if !p.sqlite {
		return p.exec(ctx, submitOnce)
	}
	tx := must.Get(p.BeginTx(ctx, nil))
	defer tx.Rollback() //nolint:errcheck // Commit tells
	tasks := must.Get(must.Get(tx.ExecContext(ctx, inserted)).RowsAffected())
	must.Get(tx.ExecContext(ctx, advanced))
	must.Nil(tx.Commit())
	return int(tasks)
}

// The statements of a consumer that does no more than it must: it claims a batch, and ends it. They claim in the order of
// the index of waiting jobs: in another order, each claim would read and sort the whole backlog.
const (
	claimPostgres = `UPDATE job SET state = 'running', worker = 'plain',
			started = clock_timestamp() AT TIME ZONE 'UTC'
		WHERE jid = ANY(ARRAY(SELECT jid FROM job WHERE state = 'waiting' AND retry IS NULL
			ORDER BY task COLLATE "C", group_ COLLATE "C", (priority > 5), submitted, jid LIMIT %d FOR UPDATE SKIP LOCKED))
		RETURNING jid, args`
	claimSQLite = `UPDATE job SET state = 'running', worker = 'plain',
			started = strftime('%%Y-%%m-%%d %%H:%%M:%%f000', 'now')
		WHERE jid IN (SELECT jid FROM job WHERE state = 'waiting' AND retry IS NULL
			ORDER BY task, group_, (priority > 5), submitted, jid LIMIT %d)
		RETURNING jid, args`
	endJobs = `UPDATE job SET state = 'success', progress = 100, finished = '%s'
		WHERE jid IN (%s) AND state = 'running' AND worker = 'plain'`
)

// runJobs claims and ends all jobs that wait, so many at a time, a transaction for the claim and one for the end.
func (p plain) runJobs(ctx context.Context, batch int) (jobs int) {
	claim := claimPostgres
	if p.sqlite {
		claim = claimSQLite
	}
	for {
		jids := p.claim(ctx, fmt.Sprintf(claim, batch))
		if len(jids) == 0 {
			return jobs
		}
		p.exec(ctx, fmt.Sprintf(endJobs, sqldb.Timestamp(time.Now()).String(), strings.Join(jids, ", ")))
		jobs += len(jids)
	}
}

// claim returns the jids of the jobs that a statement claims, as literals.
func (p plain) claim(ctx context.Context, statement string) (jids []string) {
	rows := must.Get(p.QueryContext(ctx, statement))
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var jid, args string
		must.Nil(rows.Scan(&jid, &args))
		jids = append(jids, "'"+jid+"'")
	}
	must.Nil(rows.Err())
	return jids
}
