package hooks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/handlers"
)

// What the fields of hooks are that nobody sets.
const (
	DefaultTimeout = 10 * time.Second
)

// Command returns the action that runs a program. The notice comes to it as JSON on
// standard input, and its main parts as variables: NEXTRUN_EVENT, NEXTRUN_HOOK,
// NEXTRUN_EVENT_ID, NEXTRUN_ERROR, and of the job what a handler's command gets:
// NEXTRUN_JOB_ID, NEXTRUN_HANDLER, NEXTRUN_TASK, NEXTRUN_DUE and others. An exit code
// other than 0 is an error, and so is the end of its Timeout, which is 10 s unless it is
// set. What the program writes is of no account, but for its last line, which is part of
// the error.
func Command(c handlers.CommandConfig) (Action, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Argv, c.Env, c.Timeout = slices.Clone(c.Argv), slices.Clone(c.Env), cmp.Or(c.Timeout, DefaultTimeout)
	c.KillGrace, c.MaxOutput = time.Second, 4<<10
	return &command{c}, nil
}

type command struct{ cfg handlers.CommandConfig }

func (c *command) Do(ctx context.Context, n Notice) error {
	cfg := c.cfg
	cfg.Env = slices.Concat(cfg.Env, variables(n))
	run, err := handlers.Command(cfg)
	if err != nil {
		return jobqueue.Permanent(err)
	}
	job := jobqueue.NewJobContext(n.asJob())
	err = run(ctx, job)
	if lines := job.Record().Lines; err != nil && len(lines) > 0 {
		err = fmt.Errorf("%w: %s", err, text.Clean(lines[len(lines)-1].Message, 200))
	}
	return err
}

// variables are those that tell of the event. None can hold a NUL.
func variables(n Notice) []string {
	first, _, _ := strings.Cut(n.Error, "\n")
	return []string{
		"NEXTRUN_EVENT=" + string(n.Event), "NEXTRUN_HOOK=" + n.Hook, "NEXTRUN_EVENT_ID=" + n.ID,
		"NEXTRUN_ERROR=" + first,
	}
}

// asJob is the job of a notice as a handler's command would get it, with the notice as
// its args.
func (n Notice) asJob() jobqueue.Job {
	j := jobqueue.Job{Task: n.Handler, Tracker: n.Task, Args: text.JSON(n)}
	if n.Tick != nil {
		j.Due = n.Tick.Due
	}
	if n.Job != nil {
		j.JID, j.Group, j.Subject, j.Retries = n.Job.ID, n.Job.Group, n.Job.Subject, n.Job.Attempt-1
	}
	return j
}
