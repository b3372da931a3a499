package model

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sink"
)

// gate stops a real transaction before each of its statements and before its commit, as the
// model does, so that others can act in between.
type gate struct {
	arrived chan bool  // at the next statement or, true, at the end
	open    chan error // go on, or give up with an error
}

func newGate() *gate { return &gate{make(chan bool), make(chan error)} }

// pass waits until the transaction may go on.
func (g *gate) pass(end bool) error {
	if g == nil {
		return nil
	}
	g.arrived <- end
	return <-g.open
}

// errGivenUp rolls a transaction back.
var errGivenUp = errors.New("given up")

// running is a transaction of the real code that has begun.
type running struct {
	*gate
	kind  string
	done  chan struct{}
	atEnd bool
	read  batch.Batch
	err   error
}

type gateKey struct{}

// gated runs a transaction that stops at a gate, if the context has one.
func gated(ctx context.Context, s scheduler.Store, steps bool, wait time.Duration, fn func(batch.Tx) error) error {
	g := gateOf(ctx)
	return s.Update(ctx, wait, func(tx batch.Tx) error {
		if err := fn(gatedTx{tx, g, steps}); err != nil {
			return err
		}
		return g.pass(true)
	})
}

// begin starts a transaction in a goroutine of its own. It stops before its first statement.
func (p *process) begin(ctx context.Context, kind string) *running {
	r := &running{gate: newGate(), kind: kind, done: make(chan struct{})}
	b := p.batch
	go func() {
		defer close(r.done)
		r.read, r.err = perform(context.WithValue(ctx, gateKey{}, r.gate), p.commit, kind, b)
	}()
	r.wait()
	return r
}

// wait waits for the next gate, or the end.
func (r *running) wait() {
	select {
	case r.atEnd = <-r.arrived:
	case <-r.done:
	}
}

// step lets a transaction go on to its next gate.
func (r *running) step(err error) {
	select {
	case r.open <- err:
		r.wait()
	case <-r.done:
	}
}

type gatedTx struct {
	batch.Tx
	g       *gate
	without bool // it submits step by step
}

// through does a statement when the gate lets it pass.
func through[T any](g *gate, do func() (T, error)) (value T, err error) {
	if err := g.pass(false); err != nil {
		return value, err
	}
	return do()
}

func (t gatedTx) Tasks(ctx context.Context, w batch.Wanted) ([]periodic.Task, error) {
	return through(t.g, func() ([]periodic.Task, error) { return t.Tx.Tasks(ctx, w) })
}

func (t gatedTx) Ticks(ctx context.Context, since []periodic.TickKey) (map[string][]periodic.Range, error) {
	return through(t.g, func() (map[string][]periodic.Range, error) { return t.Tx.Ticks(ctx, since) })
}

func (t gatedTx) Ended(ctx context.Context, ids []string) (map[string]time.Time, error) {
	return through(t.g, func() (map[string]time.Time, error) { return t.Tx.Ended(ctx, ids) })
}

func (t gatedTx) Advance(ctx context.Context, plans []periodic.Plan) ([]string, error) {
	return through(t.g, func() ([]string, error) { return t.Tx.Advance(ctx, plans) })
}

func (t gatedTx) Record(ctx context.Context, settled, added []periodic.Tick) ([]periodic.TickKey, error) {
	return through(t.g, func() ([]periodic.TickKey, error) { return t.Tx.Record(ctx, settled, added) })
}

func (t gatedTx) SubmitAtOnce(ctx context.Context, q periodic.Queue, plans []periodic.Plan) (left []string, can bool, err error) {
	if t.without {
		return nil, false, nil
	}
	left, err = through(t.g, func() (left []string, err error) {
		left, can, err = t.Tx.SubmitAtOnce(ctx, q.(gatedQueue).Queue, plans)
		return left, err
	})
	return left, can || err != nil, err
}

// gatedQueue is a queue whose statements stop at the gate, too.
type gatedQueue struct{ periodic.Queue }

func gateOf(ctx context.Context) *gate {
	g, _ := ctx.Value(gateKey{}).(*gate)
	return g
}

func (q gatedQueue) Pending(ctx context.Context, tx jobqueue.DBTX, ids []string) (map[string]sink.Pending, error) {
	return through(gateOf(ctx), func() (map[string]sink.Pending, error) { return q.Queue.Pending(ctx, tx, ids) })
}

func (q gatedQueue) Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) ([]sink.Submission, error) {
	return through(gateOf(ctx), func() ([]sink.Submission, error) { return q.Queue.Submit(ctx, tx, jobs) })
}

func (q gatedQueue) Cancel(ctx context.Context, tx jobqueue.DBTX, tasks map[string]string, now time.Time) ([]string, error) {
	return through(gateOf(ctx), func() ([]string, error) { return q.Queue.Cancel(ctx, tx, tasks, now) })
}

// endJob begins the transaction in which a worker ends a job.
func (r *served) endJob(query string, args ...any) {
	tx, err := r.SQL.Beginx()
	if err != nil {
		r.Fatal(err)
	}
	if _, err := tx.Exec(r.SQL.Rebind(query), args...); err != nil {
		r.Fatal(err)
	}
	r.worker = tx
}

// commitJob commits it.
func (r *served) commitJob() {
	if err := r.worker.Commit(); err != nil {
		r.Fatal(err)
	}
	r.worker = nil
}
