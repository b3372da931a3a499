package sloglog

// The levels of logrus that slog lacks.
const (
	LevelTrace = levelTrace
	LevelFatal = levelFatal
	LevelPanic = levelPanic
)
