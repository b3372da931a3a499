package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// runDBOS is a process with schedules of DBOS Transact, all due at the same time: TASKS DUE. It ends with ctx.
func runDBOS(ctx context.Context, args []string) {
	tasks, due := tasksDue(args)
	cron := due.UTC().Format("5 4 15 * * *")
	defer launchDBOS(ctx, os.Getenv(peerDatabase), tasks, cron, "nobody", func(time.Time) {})()
	<-ctx.Done()
}

// launchDBOS starts DBOS Transact with schedules that put their workflows into a queue; begun hears for which tick one has
// begun. stop waits for its end. DBOS delays each of them by up to a tenth of its period, by ten seconds at most.
func launchDBOS(ctx context.Context, url string, schedules int, cron, queue string, begun func(due time.Time)) (stop func()) {
	d := must.Get(dbos.NewContext(context.WithoutCancel(ctx), dbos.Config{
		AppName: "bench", DatabaseURL: url, Logger: slog.New(slog.DiscardHandler), ApplicationVersion: "1",
	}))
	handle := func(_ dbos.Context, in dbos.ScheduledWorkflowInput) (any, error) {
		begun(in.ScheduledTime)
		return nil, nil
	}
	dbos.RegisterWorkflow(d, handle, dbos.WithWorkflowName("bench"))
	specs := make([]dbos.ScheduleSpec, schedules)
	for i := range specs {
		specs[i] = dbos.ScheduleSpec{
			ScheduleName: fmt.Sprintf("bench-%d", i+1), Schedule: cron, CronTimezone: "UTC", WorkflowName: "bench", QueueName: queue,
			Context: emptyArgs{"/srv/data", 7},
		}
	}
	must.Nil(dbos.ApplySchedules(d, specs))
	must.Nil(dbos.Launch(d))
	return func() { must.Nil(dbos.Shutdown(d, 20*time.Second)) }
}

// dbosBegun measures a schedule that is due each second, until its workflow begins.
func (b *bench) dbosBegun(ctx context.Context) values {
	url, drop := b.createDatabase(ctx)
	defer drop()
	seen := make(chan time.Duration, 10*punctualTicks)
	defer launchDBOS(ctx, url, 1, "* * * * * *", "", func(due time.Time) { seen <- time.Since(due) })()
	return eachSecond(ctx, seen)
}
