package diagnosis

import "github.com/nextrun/nextrun/periodic"

// Code names the cause of a finding. It stays the same when the words change: programs
// compare codes, people read [Finding.Text]. docs/reference.md has the same list.
type Code string

// What keeps a task from running.
const (
	taskDisabled    Code = "task_disabled"     // the task is disabled
	taskPaused      Code = "task_paused"       // the task is paused: the scheduler skips what falls due
	taskProblem     Code = "task_problem"      // the row has a problem: the scheduler cannot use it
	taskWarning     Code = "task_warning"      // the row has a warning; the task still runs
	taskStartsLater Code = "task_starts_later" // the time starts is still to come
	taskEnded       Code = "task_ended"        // the time ends has passed
	timerNever      Code = "timer_never"       // the timer never elapses again
	queueUnknown    Code = "queue_unknown"     // the program that was asked does not know the queue in sink
	queueBroken     Code = "queue_broken"      // the queue of the task cannot be used
)

// What the scheduler does with a task.
const (
	taskUnplanned   Code = "task_unplanned"   // no scheduler has planned the task, although there was time
	taskPlanSoon    Code = "task_plan_soon"   // the task is new, or was just changed, and is not planned yet
	taskOverdue     Code = "task_overdue"     // the task is due, and no scheduler has taken it
	taskLocked      Code = "task_locked"      // the task is due, and a session has locked its row
	tableLocked     Code = "table_locked"     // the task is due, and a session has locked a table
	fileLocked      Code = "file_locked"      // the task is due, and another connection has locked the SQLite file
	tickWaits       Code = "tick_waits"       // the task is due, and its tick waits for the end of a job
	taskMarked      Code = "task_marked"      // a scheduler works on the task now
	tickReady       Code = "tick_ready"       // a scheduler has the next tick ready, and waits for its time
	schedulerFails  Code = "scheduler_fails"  // no scheduler has taken the task, and one that runs reports an error
	schedulerSilent Code = "scheduler_silent" // the scheduler that marked the task has not come back
	taskJitter      Code = "task_jitter"      // its jitter delays the next tick
	tickExcluded    Code = "tick_excluded"    // a calendar leaves out the next tick
	tickLeftOut     Code = "tick_left_out"    // somebody has skipped a tick to come
)

// What became of the last tick.
const (
	tickSkipped Code = "tick_skipped" // it was skipped
	tickLate    Code = "tick_late"    // it was too late
	tickMissed  Code = "tick_missed"  // it was missed, perhaps with others

)

// Where the job is that is not final.
const (
	jobWaits           Code = "job_waits"            // it has just been added, and an executor can take it
	jobWaitsForTime    Code = "job_waits_for_time"   // it waits for the time that it was submitted for
	jobPaused          Code = "job_paused"           // its group, handler or task is paused
	jobNoExecutor      Code = "job_no_executor"      // no executor runs
	jobNoHandler       Code = "job_no_handler"       // executors run, and none has its handler
	jobNoGroup         Code = "job_no_group"         // those that have its handler do not take jobs of its group
	jobExecutorUnknown Code = "job_executor_unknown" // an executor runs that does not say which handlers it has
	jobLimit           Code = "job_limit"            // as many jobs of its group, handler or task run as job_limit allows
	jobNoPlace         Code = "job_no_place"         // all places of the executors that could take it are taken
	jobLocked          Code = "job_locked"           // somebody has locked its row
	jobNotTaken        Code = "job_not_taken"        // an executor could take it and has not, and the database does not show why
	jobUnknown         Code = "job_unknown"          // it waits, and who runs executors cannot be read
	jobClaimed         Code = "job_claimed"          // an executor has taken it and has not begun
	JobRunning         Code = "job_running"          // it runs
	jobSilent          Code = "job_silent"           // it runs on an executor that gives no sign of life
	jobRetrying        Code = "job_retrying"         // it failed and waits for its next attempt
	jobForeign         Code = "job_foreign"          // another kind of executor has it
	jobElsewhere       Code = "job_elsewhere"        // it is in a queue that is not nextrun's own
)

// What went wrong last.
const (
	runFailed     Code = "run_failed"     // the last run failed
	attemptFailed Code = "attempt_failed" // an attempt of the present run failed
	taskUnsteady  Code = "task_unsteady"  // the last run ended well, but most of the newest ones failed, or ticks are lost to long jobs
	runUnknown    Code = "run_unknown"    // the queue of the last run does not have it any more, so nobody knows how it ended
)

// Events and hooks.
const (
	eventDead    Code = "event_dead"     // the last event was refused too often
	eventRefused Code = "event_refused"  // the last event was refused and is tried again
	eventNoRelay Code = "event_no_relay" // the last event waits for a relay
	hookDead     Code = "hook_dead"      // a hook was given up
	hookRefused  Code = "hook_refused"   // a hook was refused and is tried again
	hookWaits    Code = "hook_waits"     // a hook waits for an executor
)

// The surroundings.
const (
	clockApart Code = "clock_apart" // the clock of the database and that of the host are apart
	notRead    Code = "not_read"    // a part of what is known cannot be read, such as for a missing right
)

// aboutQueue says what to do about a queue that cannot be used.
func aboutQueue(sink periodic.Sink) string {
	if sink == periodic.SinkJob || sink == periodic.SinkEvent {
		return "mend that; its ticks are submitted then"
	}
	return "more about the queue: nextrun check --config FILE"
}
