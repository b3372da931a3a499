//go:build crashpoints && linux

package crashpoint

// names are the names of the points: a part of nextrun, and what has just happened there,
// or is about to.
var names = [points]string{
	SchedulerBegun:    "scheduler/begun",           // it has removed the marks of its last life
	SchedulerPeeked:   "scheduler/peeked",          // and knows what is due
	TasksClaimed:      "scheduler/claimed",         // in a transaction
	FactsRead:         "scheduler/facts-read",      // in a transaction
	TasksMarked:       "scheduler/marked",          // committed
	TasksDecided:      "scheduler/decided",         // of tasks that are marked
	TasksHeld:         "scheduler/held",            // decided, in the transaction that claimed them
	BatchWaits:        "scheduler/batch-waits",     // in memory, for its time
	BatchDue:          "scheduler/batch-due",       // its time has come
	TasksAdvanced:     "scheduler/advanced",        // due and nextrun, in a transaction
	TicksRecorded:     "scheduler/ticks-recorded",  // in a transaction
	JobsReplaced:      "scheduler/jobs-replaced",   // cancelled, in a transaction
	JobsSubmitted:     "scheduler/jobs-submitted",  // in a transaction
	TicksRefused:      "scheduler/ticks-refused",   // a queue did not take their jobs; in a transaction
	MissedTold:        "scheduler/missed-told",     // to hooks, in a transaction
	BatchWritten:      "scheduler/batch-written",   // the commit is next
	BatchCommitted:    "scheduler/batch-committed", // and nobody knows yet
	BatchReported:     "scheduler/batch-reported",
	MarksRemoved:      "scheduler/marks-removed", // own ones, in a transaction
	StaleMarksCleared: "scheduler/stale-cleared", // those of others, in a transaction
	ReadyForgotten:    "scheduler/ready-forgotten",
	OpenForgotten:     "scheduler/open-forgotten", // jobs of another queue that have ended
	ForeignGiven:      "scheduler/foreign-given",  // jobs, to another queue, in a transaction
	ForeignRecorded:   "scheduler/foreign-recorded",
	PartCommitted:     "scheduler/part-committed", // of a batch that failed
	TaskBlamed:        "scheduler/blamed",         // its row says why it fails
	SchedulerStopping: "scheduler/stopping",
	SchedulerStopped:  "scheduler/stopped",

	LockTaken:    "lock/taken", // in a transaction
	LockHeld:     "lock/held",  // committed, and the holder does not lead yet
	LockGuarded:  "lock/guarded",
	LockRenewed:  "lock/renewed", // in a transaction
	LockKept:     "lock/kept",    // committed
	LockReleased: "lock/released",
	LockFree:     "lock/free", // committed

	JobsTaken:         "executor/taken", // in a transaction
	LogWritten:        "executor/log-written",
	HooksTold:         "executor/hooks-told",
	ExchangeWritten:   "executor/written", // the commit is next
	ExchangeCommitted: "executor/committed",
	JobsBegun:         "executor/begun",
	HandlerStarts:     "executor/handler-starts",
	ProgramRuns:       "executor/program-runs",
	ProgramEnded:      "executor/program-ended",
	CallSent:          "executor/call-next",
	CallAnswered:      "executor/call-answered",
	HandlerEnded:      "executor/handler-ended",
	EndDecided:        "executor/end-decided",
	EndsWritten:       "executor/end-written", // in a transaction
	RetriesWritten:    "executor/retry-written",
	JobsPutBack:       "executor/put-back",
	RetriedWaiting:    "executor/retried",
	OverdueFound:      "executor/overdue-found",
	DeadTakenBack:     "executor/dead-taken-back",
	LeasesRenewed:     "executor/leases-renewed", // in a transaction
	LeasesKept:        "executor/leases-kept",    // committed
	CancelSeen:        "executor/cancel-seen",
	ExecutorStopping:  "executor/stopping",

	VersionsTaken:       "events/versions-taken", // in a transaction
	EventsAdded:         "events/added",
	MessagesAdded:       "events/messages-added",
	PositionsGiven:      "events/positions-given",
	TopicsLeased:        "relay/leased", // in a transaction
	BatchClaimed:        "relay/claimed",
	DeliveryStarts:      "relay/delivery-next",
	PostSent:            "relay/post-next",
	PostAnswered:        "relay/post-answered",
	Delivered:           "relay/delivered", // and nobody knows yet
	LeaseSettled:        "relay/lease-settled",
	PublishedMarked:     "relay/published-marked", // in a transaction
	FailureMarked:       "relay/failure-marked",
	DeadMarked:          "relay/dead-marked",
	SettlementCommitted: "relay/committed",

	HookActs:       "hooks/action-next",
	HookActed:      "hooks/acted",
	NextRecorded:   "hooks/next-recorded", // the tick of a task that follows another, in a transaction
	NextSubmitted:  "hooks/next-submitted",
	NotifySent:     "notify/request-next",
	NotifyAnswered: "notify/answered",

	TicksPruned:      "housekeeping/ticks", // in a transaction
	LogPruned:        "housekeeping/log",
	JobsPruned:       "housekeeping/jobs",
	MessagesPruned:   "housekeeping/messages",
	HookEventsPruned: "housekeeping/hook-messages",

	WorkerShown: "worker/shown", // SQLite: its file is there, and not locked yet
	WorkerGone:  "worker/gone",

	TransactionBegun: "database/begun",
	StatementNext:    "database/statement-next",
	StatementDone:    "database/statement-done",
	CommitNext:       "database/commit-next",
	CommitDone:       "database/commit-done",
}
