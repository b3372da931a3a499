package queues_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
	"github.com/nextrun/nextrun/store/queues"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// A program whose workers read River's table gives River to its scheduler. The tables
// are River's own.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "app.db")
	db, err := store.Open(ctx, "sqlite:"+file, store.Options{Create: true})
	must(err)
	defer db.Close()
	_, err = migrations.Of(db).Up(ctx)
	must(err)
	app, err := sql.Open("sqlite3", "file:"+file+"?_busy_timeout=5000&_txlock=immediate")
	must(err)
	defer app.Close()
	tables, err := os.ReadFile("testdata/river_sqlite_6.sql") // usually made by `river migrate-up`
	must(err)
	_, err = app.ExecContext(ctx, string(tables))
	must(err)

	river, err := queues.Open(db, queues.River{Queue: "default"})
	must(err)
	submitters := periodic.Submitters{"river": river}
	scheduler, err := scheduler.New(db.Periodic(), scheduler.Config{Name: "app", Submitters: submitters})
	must(err)

	report := periodic.NewTask("report", "send_report", "Mon..Fri 07:00 Europe/Berlin")
	report.Sink = "river"
	tasks := periodic.NewTasks(db.Tasks()).With(submitters)
	must(tasks.Add(ctx, report))
	must(tasks.RunNow(ctx, "report"))
	must(scheduler.RunOnce(ctx))

	var kind, queue string
	must(app.QueryRowContext(ctx, `SELECT kind, queue FROM river_job`).Scan(&kind, &queue))
	fmt.Println(kind, queue)
	// Output: send_report default
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
