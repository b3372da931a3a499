package executor

import (
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// hookPlaces is how many hooks an executor runs at once, beside its jobs: no alarm waits for a job that takes hours, and
// no job for a receiver that does not answer.
const hookPlaces = 4

// hookLimits are those of the jobs of hooks: the last retry comes within three hours of the first attempt.
var hookLimits = jobqueue.Limits{RetryLimit: 10, RetryDelay: 10 * time.Second}

// NewHooks returns an executor that runs the jobs of cfg.Hooks and no others, at most four at once. An executor with
// hooks has one itself; this is for processes without another executor, such as a scheduler's.
func NewHooks(store Store, cfg Config) (*Executor, error) {
	cfg.Groups, cfg.PoolSize = []string{jobqueue.HookGroup}, hookPlaces
	e, err := newExecutor(store, cfg)
	if err == nil {
		e.Register(jobqueue.HookHandler, cfg.Hooks.Handler(), jobqueue.WithLimits(hookLimits))
	}
	return e, err
}
