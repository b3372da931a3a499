package scheduler_test

import "testing"

// A job gets the limits that its task has when it is submitted.
func TestJobsGetTheLimitsOfTheirTask(t *testing.T) {
	both(t, func(f *fixture) {
		f.exec(`INSERT INTO periodic_task (id, task, timer, nextrun, overlap, retry_limit, retry_delay, timeout)
			VALUES ('a', 'x', 'yearly', '2020-01-01 00:00:00', 'allow', 0, 60, 3600)`)
		f.exec("INSERT INTO periodic_task (id, task, timer, nextrun) VALUES ('plain', 'x', 'yearly', '2020-01-01 00:00:00')")
		f.once()
		f.want("0 60 3600", "SELECT retry_limit || ' ' || retry_delay || ' ' || timeout FROM job WHERE tracker = 'a'")
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'plain' AND retry_limit IS NULL AND retry_delay IS NULL AND timeout IS NULL")
		f.exec("UPDATE periodic_task SET retry_limit = 7 WHERE id = 'a'")
		f.runNow("a")
		f.once()
		f.want(1, "SELECT count(*) FROM job WHERE tracker = 'a' AND retry_limit = 7")
	})
}
