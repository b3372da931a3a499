package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nextrun/nextrun/store"
)

// checkStatements asks the database what it has against the SQL of handlers.
func (r *report) checkStatements(ctx context.Context) error {
	if r.config == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.config.Handlers)) {
		s := r.config.Handlers[name].SQL
		if s == nil {
			continue
		}
		if _, err := s.Handler(r.db); err != nil {
			continue // it has been reported
		}
		switch err := s.Check(ctx, r.db); {
		case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrBusy):
			return fmt.Errorf("handler %q: %w", name, err)
		case err != nil:
			r.add(levelError, "handler "+name, "%v; correct handlers.%s in %s, or add what the database lacks, such as a table or a right", err, name, r.config.Path)
		}
	}
	return nil
}
