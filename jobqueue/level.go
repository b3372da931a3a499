package jobqueue

// Level is how much a line of the job log matters.
type Level string

// The levels, as the table joblog has them.
const (
	Debug Level = "debug"
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
)

// allLevels lists all levels, the least first.
func allLevels() []Level { return []Level{Debug, Info, Warn, Error} }
