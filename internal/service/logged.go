package service

import (
	"context"
	"errors"
	"log/slog"
)

type eventKey struct{}

// About is the context of a log line about an event. The handler that formats the line
// reads the event with [EventOf], and so does not depend on the words of the message.
func About(event any) context.Context {
	return context.WithValue(context.Background(), eventKey{}, event)
}

// EventOf is the event that a line with this context is about; nil: none.
func EventOf(ctx context.Context) any { return ctx.Value(eventKey{}) }

// LogOutage logs an error that an outage causes: at the beginning, then ever more
// rarely. It reports false, and logs nothing, if no outage causes the error.
func LogOutage(log *slog.Logger, err error) bool {
	var e outageError
	if !errors.As(err, &e) {
		return false
	}
	e.outage.tell(log, e.error)
	return true
}
