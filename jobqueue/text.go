package jobqueue

// Bounds of the log of a job.
const (
	// MaxMessage is the greatest length of a line, and of a result, in bytes.
	MaxMessage = 64 << 10
	// MaxLogLines is how many lines of an attempt are kept.
	MaxLogLines = 100_000
	// MaxLogBytes is how many bytes of these lines are kept.
	MaxLogBytes = 64 << 20
)
