package main_test

import (
	"path/filepath"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// A reader of docs/queues.md, who has River, gets what the page promises.
func TestQueuesPage(t *testing.T) {
	t.Parallel()
	binary := build(t)
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		for _, level := range []string{"6", "7"} {
			d.Exec(readFile(t, "../../store/queues/testdata/river_"+d.Kind+"_"+level+".sql"))
		}
		reader := newReader(t, d, filepath.Dir(binary))
		blocks := blocksOf(t, "../../docs/queues.md")
		if len(blocks) < 10 {
			t.Fatalf("found %d blocks only", len(blocks))
		}
		for _, b := range blocks {
			reader.follow(b)
		}
		d.Want("report", `SELECT kind FROM river_job WHERE queue = 'default'`)
	})
}
