package sqldb

import (
	"context"
	"errors"

	"github.com/nextrun/nextrun/internal/service"
)

// FaultOf says what to blame for an error. An unknown error may come from one row, such as an error of a user's trigger.
func FaultOf(err error) service.Fault {
	switch {
	case errors.Is(err, ErrContended):
		return service.FaultLock
	case errors.Is(err, ErrBusy), errors.Is(err, ErrUnavailable),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return service.FaultDatabase
	case errors.Is(err, ErrRefused):
		return service.FaultRow
	}
	return service.FaultUnknown
}
