package jobqueue

import "context"

// Executor claims jobs and runs them with the handlers of their tasks.
type Executor struct {
	store Store
	cfg   Config
}

// NewExecutor returns an executor that has yet to be started. It returns an
// error that names every field of cfg that is out of bounds.
func NewExecutor(store Store, cfg Config) (*Executor, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Executor{store: store, cfg: cfg}, nil
}

// Register sets the handler of a task. It panics if the task has one already.
func (e *Executor) Register(task string, h Handler) {}

// Start begins to claim and run jobs and returns at once.
func (e *Executor) Start(ctx context.Context) error { return nil }

// Stop ends the executor.
func (e *Executor) Stop(ctx context.Context) error { return nil }

// Wake makes the executor look for jobs now.
func (e *Executor) Wake() {}
