package neighbors

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// CronJob is a row of cron.job, the table of pg_cron.
type CronJob struct {
	ID                 string
	Schedule, Command  string
	NodeName, NodePort string
	Database, Username string
	Name               string // empty: it has none
	Active             bool
}

// CronJobs returns the rows of cron.job in the order of their ids, and the setting
// cron.timezone, empty if the server has none. The database may lack nextrun's tables.
// A user of PostgreSQL sees only jobs of its own, unless it bypasses row security.
func CronJobs(ctx context.Context, db sqldb.Opened) (jobs []CronJob, zone string, err error) {
	err = sqldb.Of(db).View(ctx, func(tx *sqldb.Tx) error {
		// Older versions lack some of the columns.
		if err := tx.Select(ctx, &jobs, `SELECT j.jobid::text AS id, j.schedule, j.command,
			coalesce(j.nodename, '') AS nodename, coalesce(j.nodeport::text, '') AS nodeport,
			coalesce(j.database, '') AS database, coalesce(j.username, '') AS username,
			coalesce(to_jsonb(j) ->> 'jobname', '') AS name, coalesce(to_jsonb(j) ->> 'active', 'true') = 'true' AS active
			FROM cron.job j ORDER BY j.jobid`); err != nil {
			return err
		}
		return tx.First(ctx, &zone, `SELECT coalesce(current_setting('cron.timezone', true), '')`)
	})
	if err != nil {
		return nil, "", fmt.Errorf("read the jobs of pg_cron: %w", err)
	}
	return jobs, zone, nil
}
