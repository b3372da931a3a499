package service

import (
	"errors"
	"log/slog"
)

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
