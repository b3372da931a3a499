package transfer

import (
	"cmp"
	"context"
	"errors"
	"net/url"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/cronjob"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/crontab"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/pgcron"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/timer"
	"github.com/nextrun/nextrun/internal/neighbors"
	"github.com/nextrun/nextrun/store"
)

// kinds are the programs whose schedules can be read and written.
func kinds() []schedules.Kind {
	return []schedules.Kind{crontab.Kind{}, timer.Kind{}, cronjob.Kind{}, pgcron.Kind{Fetch: fetch}}
}

func kindNames() (names []string) {
	for _, k := range kinds() {
		names = append(names, k.Name())
	}
	return names
}

// fetch reads the jobs of pg_cron from a database.
func fetch(ctx context.Context, address string) (jobs []pgcron.Job, zone, place string, err error) {
	db, err := store.Open(ctx, address, store.Options{})
	if err != nil {
		return nil, "", "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, zone, err := neighbors.CronJobs(ctx, db)
	if err != nil {
		return nil, "", "", err
	}
	place = db.URL()
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		place = u.Host + u.Path
	}
	for _, row := range rows {
		jobs = append(jobs, pgcron.Job{
			ID: row.ID, Schedule: row.Schedule, Command: row.Command, NodeName: row.NodeName, NodePort: row.NodePort,
			Database: row.Database, Username: row.Username, Name: row.Name, Active: row.Active,
		})
	}
	return jobs, cmp.Or(zone, "GMT"), place, nil
}

// localZone is the zone of schedules of this machine.
func zoneOf(env *ui.Env, kind schedules.Kind, flag string) string {
	if flag != "" {
		return flag
	}
	switch kind.(type) {
	case crontab.Kind, timer.Kind:
		return localZone(env)
	}
	return ""
}
