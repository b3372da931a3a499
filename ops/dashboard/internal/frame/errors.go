package frame

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/nextrun/nextrun/store"
)

// ErrNoPage is the end of the error for an address without a page.
var ErrNoPage = errors.New("see the links above")

// inputError is an error of whoever asked.
type inputError struct{ message string }

func (e inputError) Error() string { return e.message }

// Bad returns an error of whoever asked.
func Bad(format string, args ...any) error { return inputError{fmt.Sprintf(format, args...)} }

// status is the HTTP status for an error.
func status(err error) int {
	var input inputError
	switch {
	case errors.As(err, &input):
		return http.StatusBadRequest
	case errors.Is(err, ErrNoPage), errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, store.ErrDuplicate):
		return http.StatusConflict
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrNoSchema), errors.Is(err, store.ErrBusy):
		return http.StatusServiceUnavailable
	case errors.Is(err, store.ErrRefused):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}
