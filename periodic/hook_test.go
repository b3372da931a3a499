package periodic_test

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
)

// hooked is a store that lets a test act at the seams of the scheduler.
type hooked struct {
	backend.Store
	peeks, updates atomic.Int64
	// beforeUpdate, if not nil, runs before each transaction; its error is that
	// of the transaction.
	beforeUpdate func(n int64) error
	// afterAdvance, if not nil, runs in the submit transaction.
	afterAdvance func() error
}

func (h *hooked) Peek(ctx context.Context, without backend.Apart) (backend.Peek, error) {
	h.peeks.Add(1)
	return h.Store.Peek(ctx, without)
}

func (h *hooked) Update(ctx context.Context, wait time.Duration, fn func(backend.Tx) error) error {
	n := h.updates.Add(1)
	if h.beforeUpdate != nil {
		if err := h.beforeUpdate(n); err != nil {
			return err
		}
	}
	return h.Store.Update(ctx, wait, func(tx backend.Tx) error { return fn(hookedTx{tx, h}) })
}

type hookedTx struct {
	backend.Tx
	h *hooked
}

func (tx hookedTx) Advance(ctx context.Context, mark string, plans []task.Plan) ([]string, error) {
	kept, err := tx.Tx.Advance(ctx, mark, plans)
	if err == nil && tx.h.afterAdvance != nil {
		err = tx.h.afterAdvance()
	}
	return kept, err
}

// SubmitPlain implements [backend.OneStatement] as the transaction beneath does.
func (tx hookedTx) SubmitPlain(ctx context.Context, queue backend.Queue, mark string, plans []task.Plan) (can bool, err error) {
	can, err = atOnce{tx.Tx}.SubmitPlain(ctx, queue, mark, plans)
	if can && err == nil && len(plans) > 0 && tx.h.afterAdvance != nil {
		err = tx.h.afterAdvance()
	}
	return can, err
}

// Ready and Renew implement [backend.EarlyTx].
func (tx hookedTx) Ready(ctx context.Context, q backend.Queue) error {
	return atOnce{tx.Tx}.Ready(ctx, q)
}
func (tx hookedTx) Renew(ctx context.Context) error { return atOnce{tx.Tx}.Renew(ctx) }

// OpensEarly implements [backend.EarlyStore].
func (h *hooked) OpensEarly() bool { return opensEarly(h.Store) }

func opensEarly(s backend.Store) bool {
	early, ok := s.(backend.EarlyStore)
	return ok && early.OpensEarly()
}

// atOnce is a transaction with the abilities that not all have.
type atOnce struct{ backend.Tx }

func (tx atOnce) SubmitPlain(ctx context.Context, queue backend.Queue, mark string, plans []task.Plan) (can bool, err error) {
	if one, ok := tx.Tx.(backend.OneStatement); ok {
		return one.SubmitPlain(ctx, queue, mark, plans)
	}
	return false, nil
}

func (tx atOnce) Ready(ctx context.Context, queue backend.Queue) error {
	return tx.Tx.(backend.EarlyTx).Ready(ctx, queue)
}

func (tx atOnce) Renew(ctx context.Context) error { return tx.Tx.(backend.EarlyTx).Renew(ctx) }

// In RunOnce with one batch that is marked the transactions are: clear, claim, submit.
const (
	nthClaim  = 2
	nthSubmit = 3
)
