package queues_test

import (
	"fmt"
	"testing"

	"github.com/nextrun/nextrun/store/queues"
	"github.com/nextrun/nextrun/store/storetest"
)

// riverFiles are the files of River's tables at a level.
func riverFiles(d *storetest.Database, level int) []string {
	files := []string{"river_" + d.Kind + "_6.sql"}
	if level > 6 {
		files = append(files, "river_"+d.Kind+"_7.sql")
	}
	return files
}

func TestRiverTakesABatch(t *testing.T) {
	for _, level := range []int{6, 7} {
		t.Run(fmt.Sprintf("level%d", level), func(t *testing.T) {
			storetest.Both(t, func(t *testing.T, d *storetest.Database) {
				f := newFixture(t, d, riverFiles(d, level)...)
				q := f.queue(queues.River{})
				jobs := f.tasks(1000)
				open := f.accept(q, jobs...)
				f.Want(1000, "SELECT count(*) FROM river_job WHERE state = 'available' AND kind = 'report' AND queue = 'mail'")
				for _, i := range []int{0, 499, 999} {
					f.Want(i, map[string]string{
						storetest.Postgres: "SELECT args->>'n' FROM river_job WHERE id = CAST(? AS bigint)",
						storetest.SQLite:   "SELECT args->>'n' FROM river_job WHERE id = ?",
					}[f.Kind], open[i].Ref)
				}
				if got := len(f.pending(q, open...)); got != 1000 {
					t.Errorf("%d of 1000 jobs are pending", got)
				}
			})
		})
	}
}
