package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

// A program that makes sure at each start that its schedules are there, as they are in
// its source. A second start changes nothing. Somebody has disabled one meanwhile: it stays so.
func Example_apply() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)

	ctx := context.Background()
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "app.db"), store.Options{Create: true})
	must(err)
	defer db.Close()
	_, err = migrations.Of(db).Up(ctx)
	must(err)

	tasks := periodic.NewTasks(db.Tasks())
	wanted := periodic.Apply{
		Origin: "app", // the rows have it, and nothing else is touched
		Tasks: []periodic.Task{
			periodic.NewTask("weekly-report", "report", "Mon 08:00 Europe/Berlin"),
			periodic.NewTask("cleanup", "cleanup", "every 1h"),
		},
		Prune: periodic.PruneDelete, // those of this origin that are no longer in the source
	}
	for range 2 {
		applied, err := tasks.Apply(ctx, wanted)
		must(err)
		fmt.Println(applied)
		must(tasks.Disable(ctx, "cleanup"))
	}

	// Output:
	// 2 tasks declared: 2 added, 0 changed
	// 2 tasks declared: 0 added, 0 changed; disabled by somebody, and left so: cleanup
}
