package service_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// A scheduler says at its start which queues it can feed. One that it cannot feed
// yet holds nothing else up, and its tasks go on once it can be used.
func TestSchedulerLooksAtItsQueues(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		d := storetest.At(t, s.Env["NEXTRUN_DB"])
		s.Exec(t, `INSERT INTO periodic_task (id, task, timer, sink) VALUES ('a', 'report', 'every 1s', 'river'), ('b', 'echo', 'every 1s', 'job')`)
		config := clitest.WriteFile(t, "nextrun.yaml", "queues: {river: {type: river}}\n")
		b := s.Start(t, "scheduler", "--config", config)
		b.WaitFor("WARN", "queue: enqueue: ", "river_job", "; run: river migrate-up", "queue=river", "type=river")
		b.WaitFor("job submitted", "task=b")
		s.MakeRiver(t)
		b.WaitFor("job submitted", "task=a")
		d.Want("report", "SELECT kind FROM river_job LIMIT 1")
		b.Stop()
		<-b.Exit

		again := s.Start(t, "serve", "--config", config)
		again.WaitFor("queue can be used", "queue=river")
		again.WaitFor("started")
		again.Stop()
		<-again.Exit
	})
}
