package ui

import (
	"context"
	"log/slog"
	"maps"

	"github.com/sirupsen/logrus"
)

// handler has the formatters of this package write the lines of a [slog.Logger].
type handler struct {
	logger *logrus.Logger
	fields logrus.Fields
}

// Enabled implements [slog.Handler].
func (h handler) Enabled(_ context.Context, level slog.Level) bool {
	return h.logger.IsLevelEnabled(severity(level))
}

// Handle implements [slog.Handler].
func (h handler) Handle(ctx context.Context, line slog.Record) error {
	attrs := make([]slog.Attr, 0, line.NumAttrs())
	line.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	entry := h.logger.WithContext(ctx).WithTime(line.Time).WithFields(h.with(attrs))
	entry.Log(severity(line.Level), line.Message)
	return nil
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.logger, h.with(attrs)}
}

// WithGroup implements [slog.Handler]. Nothing of ours groups its fields.
func (h handler) WithGroup(string) slog.Handler { return h }

// with returns the fields and more.
func (h handler) with(attrs []slog.Attr) logrus.Fields {
	fields := make(logrus.Fields, len(h.fields)+len(attrs))
	maps.Copy(fields, h.fields)
	for _, a := range attrs {
		fields[a.Key] = a.Value.Resolve().Any()
	}
	return fields
}

func severity(level slog.Level) logrus.Level {
	switch {
	case level >= slog.LevelError:
		return logrus.ErrorLevel
	case level >= slog.LevelWarn:
		return logrus.WarnLevel
	case level >= slog.LevelInfo:
		return logrus.InfoLevel
	}
	return logrus.DebugLevel
}
