package scheduler_test

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/internal/decide"
	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
)

// hooked is a store that lets a test act at the seams of the scheduler.
type hooked struct {
	taskdb.Store
	peeks, updates atomic.Int64
	// beforeUpdate, if not nil, runs before each transaction; its error is that
	// of the transaction.
	beforeUpdate func(n int64) error
	// afterAdvance, if not nil, runs in the submit transaction.
	afterAdvance func() error
}

func (h *hooked) Poll(ctx context.Context, exclude taskdb.Exclude) (taskdb.Work, error) {
	h.peeks.Add(1)
	return h.Store.Poll(ctx, exclude)
}

func (h *hooked) Update(ctx context.Context, wait time.Duration, fn func(taskdb.Tx) error) error {
	n := h.updates.Add(1)
	if h.beforeUpdate != nil {
		if err := h.beforeUpdate(n); err != nil {
			return err
		}
	}
	return h.Store.Update(ctx, wait, func(tx taskdb.Tx) error { return fn(hookedTx{tx, h}) })
}

type hookedTx struct {
	taskdb.Tx
	h *hooked
}

func (tx hookedTx) Advance(ctx context.Context, plans []decide.Plan) ([]string, error) {
	ids, err := tx.Tx.Advance(ctx, plans)
	if err == nil && tx.h.afterAdvance != nil {
		err = tx.h.afterAdvance()
	}
	return ids, err
}

func (tx hookedTx) SubmitAtOnce(ctx context.Context, queue periodic.Queue, plans []decide.Plan) (left []taskdb.Unsubmitted, can bool, err error) {
	left, can, err = tx.Tx.SubmitAtOnce(ctx, queue, plans)
	if can && err == nil && len(plans) > 0 && tx.h.afterAdvance != nil {
		err = tx.h.afterAdvance()
	}
	return left, can, err
}

// nthTake is the transaction of RunOnce that takes the first batch; the first one clears marks.
const nthTake = 2
