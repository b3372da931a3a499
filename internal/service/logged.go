package service

import (
	"context"
	"errors"

	"github.com/sirupsen/logrus"
)

type eventKey struct{}

// WithEvent returns a logger whose lines carry the event that they are about. Who formats
// them reads it with [EventOf], and so does not depend on the words of the message.
func WithEvent(log logrus.FieldLogger, fields logrus.Fields, event any) *logrus.Entry {
	entry := log.WithFields(fields)
	ctx := entry.Context
	if ctx == nil {
		ctx = context.Background()
	}
	return entry.WithContext(context.WithValue(ctx, eventKey{}, event))
}

// LogOutage logs an error that an outage causes: at the beginning, then ever more
// rarely. It reports false, and logs nothing, if no outage causes the error.
func LogOutage(log logrus.FieldLogger, err error) bool {
	var e outageError
	if !errors.As(err, &e) {
		return false
	}
	e.outage.tell(log, e.error)
	return true
}

// EventOf is the event that a line is about; nil: none.
func EventOf(entry *logrus.Entry) any {
	if entry.Context == nil {
		return nil
	}
	return entry.Context.Value(eventKey{})
}
