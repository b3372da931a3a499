package queues_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/store/queues"
)

func TestGraphileSettings(t *testing.T) {
	f := graphileFixture(t)
	f.Exec("ALTER SCHEMA graphile_worker RENAME TO work; ALTER FUNCTION work.add_jobs SET search_path = work")
	q := f.queue(queues.GraphileWorker{Schema: "work", Queue: "one at a time", MaxAttempts: 3})
	f.accept(q, f.tasks(2)...)
	f.Want(2, "SELECT count(*) FROM work.jobs WHERE queue_name = 'one at a time' AND max_attempts = 3")
}

func TestGraphileTakesTheLongestID(t *testing.T) {
	f := graphileFixture(t)
	id := strings.Repeat("é", 254)
	f.accept(f.queue(queues.GraphileWorker{}), f.task(id, "{}"))
	f.Want(1, "SELECT count(*) FROM graphile_worker.jobs WHERE key LIKE ?", "nextrun:"+id+":%")
}
