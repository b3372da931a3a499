package jobqueue

// Bounds of logs and lists.
const (
	// MaxMessage is the greatest length of a line, and of a result, in bytes.
	MaxMessage = 64 << 10
	// MaxLogLines is how many lines of an attempt are kept.
	MaxLogLines = 100_000
	// MaxLogBytes is how many bytes of these lines are kept.
	MaxLogBytes = 64 << 20
	// DefaultListLimit is how many jobs or lines a list has by default.
	DefaultListLimit = 100
)
