package scheduler_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// A program schedules its own tasks: it opens the database, adds a task, and runs
// a scheduler. An executor, here or elsewhere, runs the jobs.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "app.db"), store.Options{Create: true})
	must(err)
	defer db.Close()
	_, err = migrations.Of(db).Up(ctx)
	must(err)

	tasks := periodic.NewTasks(db.Tasks())
	report := periodic.NewTask("report", "send-report", "Mon..Fri 07:00 Europe/Berlin")
	report.Overlap = periodic.OverlapQueue // wait for the report of the day before
	report.NextRun = time.Now()            // and once at the beginning
	must(tasks.Add(ctx, report))

	submitted := make(chan string, 1)
	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{
		Name: "app",
		Observe: func(e scheduler.Event) {
			if e.Kind == scheduler.EventTick {
				submitted <- fmt.Sprint(e.Tick.Decision, " ", e.Task.Task)
			}
		},
	})
	must(err)
	must(scheduler.Start(ctx))
	fmt.Println(<-submitted)

	stopping, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	must(scheduler.Stop(stopping))
	// Output: submitted send-report
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
