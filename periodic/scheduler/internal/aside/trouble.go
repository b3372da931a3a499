package aside

import (
	"context"

	"github.com/nextrun/nextrun/internal/taskdb"
)

// Trouble publishes what keeps a scheduler from some or all of its work.
type Trouble struct {
	Store  taskdb.Store
	Worker string
	told   string // as published; empty: nothing
}

// Publish publishes the error of a round, or else that of a task that was set aside, if it
// is another one than before. A database that cannot be used is asked for nothing.
func (t *Trouble) Publish(ctx context.Context, err error, aside string) {
	text := aside
	if err != nil {
		if t.Store.Fault(err) == taskdb.FaultDatabase {
			return
		}
		text = err.Error()
	}
	if text != t.told && t.Store.SetTrouble(ctx, t.Worker, text) == nil {
		t.told = text
	}
}
