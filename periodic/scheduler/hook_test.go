package scheduler_test

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// hooked is a store that lets a test act at the seams of the scheduler.
type hooked struct {
	scheduler.Store
	peeks, updates atomic.Int64
	// beforeUpdate, if not nil, runs before each transaction; its error is that
	// of the transaction.
	beforeUpdate func(n int64) error
	// afterAdvance, if not nil, runs in the submit transaction.
	afterAdvance func() error
}

func (h *hooked) Poll(ctx context.Context, look batch.Look) (batch.Work, error) {
	h.peeks.Add(1)
	return h.Store.Poll(ctx, look)
}

func (h *hooked) Update(ctx context.Context, wait time.Duration, fn func(batch.Tx) error) error {
	n := h.updates.Add(1)
	if h.beforeUpdate != nil {
		if err := h.beforeUpdate(n); err != nil {
			return err
		}
	}
	return h.Store.Update(ctx, wait, func(tx batch.Tx) error { return fn(hookedTx{tx, h}) })
}

type hookedTx struct {
	batch.Tx
	h *hooked
}

func (tx hookedTx) Advance(ctx context.Context, plans []periodic.Plan) ([]string, error) {
	ids, err := tx.Tx.Advance(ctx, plans)
	if err == nil && tx.h.afterAdvance != nil {
		err = tx.h.afterAdvance()
	}
	return ids, err
}

func (tx hookedTx) SubmitPlain(ctx context.Context, queue periodic.Queue, plans []periodic.Plan) (left []string, can bool, err error) {
	left, can, err = tx.Tx.SubmitPlain(ctx, queue, plans)
	if can && err == nil && tx.h.afterAdvance != nil {
		err = tx.h.afterAdvance()
	}
	return left, can, err
}

// nthTake is the transaction of RunOnce that takes the first batch; the first one clears marks.
const nthTake = 2
