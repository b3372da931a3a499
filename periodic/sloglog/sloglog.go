// Package sloglog lets a program that logs with log/slog receive nextrun's log
// lines, too. The Config of a scheduler, executor or relay takes a
// [logrus.FieldLogger]; New makes one of a [slog.Handler]:
//
//	cfg.Logger = sloglog.New(slog.Default().Handler())
package sloglog

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"slices"

	"github.com/sirupsen/logrus"
)

// New returns a logger that passes each line to h and writes nothing itself. The
// message, the time, the place of the call and the context go into the record;
// the fields become attributes, sorted by name, and keep their types: an error is
// an error under the name "error".
//
// The handler's Enabled is asked for every line, so a [slog.LevelVar] may change
// the level at any time. Errors of the handler are dropped, as slog itself does.
// The logger is safe for concurrent use if h is, as every handler must be.
//
// As with any logrus logger, Fatal ends the program with exit code 1 and Panic
// panics after the line, also if it was not enabled. nextrun calls neither.
func New(h slog.Handler) logrus.FieldLogger {
	l := logrus.New()
	l.SetLevel(logrus.TraceLevel) // h decides
	l.SetOutput(io.Discard)
	l.SetFormatter(nothing{})
	l.SetReportCaller(true)
	l.AddHook(hook{h})
	return l
}

// nothing is what logrus would write after its hooks have run.
type nothing struct{}

// Format formats nothing.
func (nothing) Format(*logrus.Entry) ([]byte, error) { return nil, nil }

// hook passes lines to a handler.
type hook struct{ handler slog.Handler }

// Levels are those of the lines that the hook is for: all.
func (hook) Levels() []logrus.Level { return logrus.AllLevels }

// Fire returns no error, because logrus would write it to standard error.
func (h hook) Fire(e *logrus.Entry) error {
	ctx := e.Context
	if ctx == nil {
		ctx = context.Background()
	}
	level := levelOf(e.Level)
	if !h.handler.Enabled(ctx, level) {
		return nil
	}
	var pc uintptr
	if e.Caller != nil {
		pc = e.Caller.PC + 1 // slog expects the address to return to
	}
	record := slog.NewRecord(e.Time, level, e.Message, pc)
	for _, name := range slices.Sorted(maps.Keys(e.Data)) {
		record.AddAttrs(slog.Any(name, e.Data[name]))
	}
	_ = h.handler.Handle(ctx, record)
	return nil
}

// levelOf is the level of a line: those of both packages have the same order, and slog has them four apart.
func levelOf(level logrus.Level) slog.Level {
	return slog.LevelInfo + 4*slog.Level(int(logrus.InfoLevel)-int(level))
}
