package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// A program that makes sure at each start that its schedules are there, as they are in
// its source. A second start changes nothing.
func Example_apply() {
	dir, err := os.MkdirTemp("", "nextrun")
	must(err)
	defer os.RemoveAll(dir)

	ctx := context.Background()
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "app.db"), store.Options{Create: true})
	must(err)
	defer db.Close()
	_, err = db.Migrator().Up(ctx)
	must(err)

	report := periodic.NewTask("weekly-report", "report", "Mon 08:00 Europe/Berlin")
	report.Group = "app"
	wanted := periodic.Apply{
		Tasks: []periodic.Task{report},
		Prune: periodic.PruneDelete, // those of the group that are no longer in the source
		Group: "app",
	}
	for range 2 {
		changes, err := periodic.NewTasks(db.Tasks()).Apply(ctx, wanted)
		must(err)
		fmt.Println(len(changes), "changed")
	}

	// Output:
	// 1 changed
	// 0 changed
}
