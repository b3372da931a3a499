package jobqueue

import (
	"context"
	"errors"
	"time"
)

// CommandConfig says which program runs the jobs of a task, and how.
type CommandConfig struct {
	// Argv is the program and its arguments. It is not given to a shell, and
	// nothing of the job is inserted into it. Required.
	Argv []string
	// Env are NAME=value pairs in addition to this process's environment, and
	// before the NEXTRUN_ variables.
	Env []string
	// Dir is the working directory. Empty: this process's.
	Dir string
	// Timeout is how long an attempt may take. 0: no limit.
	Timeout time.Duration
	// KillGrace is how long the processes have between SIGTERM and SIGKILL. 0: [DefaultKillGrace].
	KillGrace time.Duration
	// MaxOutput is how many bytes of output of an attempt go to the job log; the
	// rest is read and dropped. 0: [DefaultMaxOutput].
	MaxOutput int
}

// CommandHandler returns a handler that runs a program.
func CommandHandler(cfg CommandConfig) (Handler, error) {
	if len(cfg.Argv) == 0 {
		return nil, errors.New("jobqueue.CommandConfig.Argv is empty; name the program and its arguments")
	}
	return func(context.Context, *JobContext) error { return errors.New("not built yet") }, nil
}

// Defaults of [CommandConfig].
const (
	DefaultKillGrace = 5 * time.Second
	DefaultMaxOutput = 1 << 20
)
