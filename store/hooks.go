package store

import (
	"github.com/nextrun/nextrun/jobqueue/hooks"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/internal/jobs"
	"github.com/nextrun/nextrun/store/internal/notices"
)

// Hooks are the hooks of a program on a database: the field Hooks of [executor.Config] and of
// [scheduler.Config]. It is safe for concurrent use.
//
// [executor.Config]: https://pkg.go.dev/github.com/nextrun/nextrun/jobqueue/executor#Config
type Hooks struct{ jobsOfHooks }

type jobsOfHooks = notices.Hooks

// Hooks connects hooks with the database. It returns an error that names what is wrong
// with them, and does not use the database yet. queues are the queues of
// [scheduler.Config.Submitters], for hooks that submit tasks; nil: there are none.
//
// Give all executors and schedulers of a database the same hooks: the one that ends a
// job inserts the jobs of its hooks, and any executor with hooks runs them. Do not use hooks on
// Docspell's tables: its executors would take their jobs.
func (db *DB) Hooks(h hooks.Hooks, queues periodic.Submitters) (*Hooks, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	next := periodic.NewTasks(db.Tasks()).With(queues)
	return &Hooks{notices.Hooks{Hooks: h, Next: next.SubmitNext, Add: jobs.New(db.db).Add}}, nil
}
