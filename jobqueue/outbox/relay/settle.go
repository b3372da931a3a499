package relay

import (
	"errors"

	"github.com/nextrun/nextrun/internal/service"
)

// settle records what became of a batch, and returns the next one if s asks for it. If rows are to blame that it cannot, it
// records the events in parts, and one by one where that fails. Otherwise rest is what is not recorded, and err says why.
func (w *worker) settle(s Settlement) (next *Batch, rest *Settlement, err error) {
	next, err = w.source.Settle(w.hard, s)
	row := (*RowError)(nil)
	switch {
	case err == nil:
		return next, nil, nil
	case !errors.As(err, &row):
		return nil, &s, err
	}
	settle := func(part []Item, failed *Failure) error {
		_, err := w.source.Settle(w.hard, Settlement{Lease: s.Lease, Terms: s.Terms, Accepted: part, Failed: failed, After: KeepLease, Brief: true})
		return err
	}
	if err := settle(nil, nil); err != nil { // renews the lease
		return nil, &s, err
	}
	rest = &Settlement{Lease: s.Lease, Terms: s.Terms, Failed: s.Failed, Brief: true}
	var why error
	left, err := service.InParts(w.hard, s.Accepted, err, func(part []Item) error { return settle(part, nil) }, func(i Item, err error) error {
		rest.Accepted, why = append(rest.Accepted, i), err
		if errors.As(err, &row) {
			return nil
		}
		return err
	})
	rest.Accepted = append(rest.Accepted, left...)
	if err == nil && s.Failed != nil {
		if err = settle(nil, s.Failed); err == nil {
			rest.Failed = nil
		}
	}
	if err == nil {
		err = why
	}
	return nil, rest, err
}
