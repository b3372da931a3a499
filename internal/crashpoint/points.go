package crashpoint

// Point is a place in the program.
type Point int

// The points. Their names, with what has just happened, are in names.go.
const (
	_ Point = iota

	// The scheduler.
	SchedulerBegun
	SchedulerPeeked
	TasksClaimed
	FactsRead
	TasksMarked
	TasksDecided
	TasksHeld
	BatchWaits
	BatchDue
	TasksAdvanced
	TicksRecorded
	JobsReplaced
	JobsSubmitted
	TicksRefused
	MissedTold
	BatchWritten
	BatchCommitted
	BatchReported
	MarksRemoved
	StaleMarksCleared
	ReadyForgotten
	OpenForgotten
	ForeignGiven
	ForeignRecorded
	PartCommitted
	TaskBlamed
	SchedulerStopping
	SchedulerStopped

	// The lock of the modes leader and exclusive.
	LockTaken
	LockHeld
	LockGuarded
	LockRenewed
	LockKept
	LockReleased
	LockFree

	// The executor.
	JobsTaken
	LogWritten
	HooksTold
	ExchangeWritten
	ExchangeCommitted
	JobsBegun
	HandlerStarts
	ProgramRuns
	ProgramEnded
	CallSent
	CallAnswered
	HandlerEnded
	EndDecided
	EndsWritten
	RetriesWritten
	JobsPutBack
	RetriedWaiting
	OverdueFound
	DeadTakenBack
	LeasesRenewed
	LeasesKept
	CancelSeen
	ExecutorStopping

	// Events, and the relays that publish them.
	VersionsTaken
	EventsAdded
	MessagesAdded
	PositionsGiven
	TopicsLeased
	BatchClaimed
	DeliveryStarts
	PostSent
	PostAnswered
	Delivered
	LeaseSettled
	PublishedMarked
	FailureMarked
	DeadMarked
	SettlementCommitted

	// Hooks and notifications.
	HookActs
	HookActed
	NextRecorded
	NextSubmitted
	NotifySent
	NotifyAnswered

	// Housekeeping.
	TicksPruned
	LogPruned
	JobsPruned
	MessagesPruned
	HookEventsPruned

	// How workers show that they live.
	WorkerShown
	WorkerGone

	// Whatever uses the database, among that migrations.
	TransactionBegun
	StatementNext
	StatementDone
	CommitNext
	CommitDone

	points //nolint:unused // with the build tag
)
