package diagnosis

// Code names the cause of a finding. It stays the same when the words change: programs
// compare codes, people read [Finding.Text]. docs/reference.md has the same list.
type Code string

// What keeps a task from running.
const (
	TaskDisabled    Code = "task_disabled"     // the task is disabled
	TaskPaused      Code = "task_paused"       // the task is paused: the scheduler skips what falls due
	TaskProblem     Code = "task_problem"      // the row has a problem: the scheduler cannot use it
	TaskWarning     Code = "task_warning"      // the row has a warning; the task still runs
	TaskStartsLater Code = "task_starts_later" // the time starts is still to come
	TaskEnded       Code = "task_ended"        // the time ends has passed
	TimerNever      Code = "timer_never"       // the timer never elapses again
	QueueUnknown    Code = "queue_unknown"     // the program that was asked does not know the queue in sink
	QueueBroken     Code = "queue_broken"      // the queue of the task cannot be used
)

// What the scheduler does with a task.
const (
	TaskUnplanned   Code = "task_unplanned"   // no scheduler has planned the task, although there was time
	TaskPlanSoon    Code = "task_plan_soon"   // the task is new, or was just changed, and is not planned yet
	TaskOverdue     Code = "task_overdue"     // the task is due, and no scheduler has taken it
	TaskLocked      Code = "task_locked"      // the task is due, and a session has locked its row
	TableLocked     Code = "table_locked"     // the task is due, and a session has locked a table
	FileLocked      Code = "file_locked"      // the task is due, and another connection has locked the SQLite file
	TaskMarked      Code = "task_marked"      // a scheduler works on the task now
	TickReady       Code = "tick_ready"       // a scheduler has the next tick ready, and waits for its time
	SchedulerFails  Code = "scheduler_fails"  // no scheduler has taken the task, and one that runs reports an error
	SchedulerSilent Code = "scheduler_silent" // the scheduler that marked the task has not come back
	TaskJitter      Code = "task_jitter"      // the jitter delays the next tick
)

// What became of the last tick.
const (
	TickSkipped Code = "tick_skipped" // it was skipped
	TickQueued  Code = "tick_queued"  // it waits
	TickLate    Code = "tick_late"    // it was too late
	TickMissed  Code = "tick_missed"  // it was missed, perhaps with others
)

// Where the job is that is not final.
const (
	JobWaits           Code = "job_waits"            // it has just been added, and an executor can take it
	JobWaitsForTime    Code = "job_waits_for_time"   // it waits for the time that it was submitted for
	JobPaused          Code = "job_paused"           // its group or its handler is paused
	JobNoExecutor      Code = "job_no_executor"      // no executor runs
	JobNoHandler       Code = "job_no_handler"       // executors run, and none has its handler
	JobNoGroup         Code = "job_no_group"         // those that have its handler do not take jobs of its group
	JobExecutorUnknown Code = "job_executor_unknown" // an executor runs that does not say which handlers it has
	JobLimit           Code = "job_limit"            // as many jobs of its group or its handler run as job_limit allows
	JobTaskLimit       Code = "job_task_limit"       // as many jobs of its task run as the concurrency of the task allows
	JobHandlerLimit    Code = "job_handler_limit"    // as many jobs of its handler run as the handler allows
	JobNoPlace         Code = "job_no_place"         // all places of the executors that could take it are taken
	JobLocked          Code = "job_locked"           // somebody has locked its row
	JobNotTaken        Code = "job_not_taken"        // an executor could take it and has not, and the database does not show why
	JobUnknown         Code = "job_unknown"          // it waits, and who runs executors cannot be read
	JobClaimed         Code = "job_claimed"          // an executor has taken it and has not begun
	JobRunning         Code = "job_running"          // it runs
	JobSilent          Code = "job_silent"           // it runs on an executor that sends no heartbeat
	JobRetrying        Code = "job_retrying"         // it failed and waits for its next attempt
	JobForeign         Code = "job_foreign"          // another kind of executor has it
	JobElsewhere       Code = "job_elsewhere"        // it is in a queue that is not nextrun's own
)

// What went wrong last.
const (
	RunFailed     Code = "run_failed"     // the last run failed
	AttemptFailed Code = "attempt_failed" // an attempt of the present run failed
)

// Events and hooks.
const (
	EventDead    Code = "event_dead"     // the last event was refused too often
	EventRefused Code = "event_refused"  // the last event was refused and is tried again
	EventNoRelay Code = "event_no_relay" // the last event waits for a relay
	HookDead     Code = "hook_dead"      // a hook was given up
	HookRefused  Code = "hook_refused"   // a hook was refused and is tried again
	HookNoRelay  Code = "hook_no_relay"  // a hook waits for a relay
)

// The surroundings.
const (
	ClockApart Code = "clock_apart" // the clock of the database and that of the host are apart
	NotRead    Code = "not_read"    // a part of what is known cannot be read, such as for a missing right
)
