package floor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

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

// RunJobs claims and ends all jobs that wait, so many at a time, a transaction for the claim and one for the end.
func (p Plain) RunJobs(ctx context.Context, batch int) (jobs int, err error) {
	claim := claimPostgres
	if p.sqlite {
		claim = claimSQLite
	}
	for {
		var rows []struct{ JID, Args string }
		if err := p.db.SelectContext(ctx, &rows, fmt.Sprintf(claim, batch)); err != nil || len(rows) == 0 {
			return jobs, err
		}
		jids := make([]string, len(rows))
		for i, r := range rows {
			jids[i] = quote(r.JID)
		}
		now := sqldb.Timestamp(time.Now()).String()
		if err := p.exec(ctx, fmt.Sprintf(endJobs, now, strings.Join(jids, ", "))); err != nil {
			return jobs, err
		}
		jobs += len(rows)
	}
}
