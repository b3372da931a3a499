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

// known is the level, or info if it is none.
func (l Level) known() Level {
	switch l {
	case Debug, Info, Warn, Error:
		return l
	}
	return Info
}
