package hostile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// slow is how long a command that reads may take, with all the hostile rows.
const slow = 60 * time.Second

// nextrun runs a command, and returns what it printed. The error says how it ended.
func (e environment) nextrun(args ...string) (out string, err error) {
	ctx, cancel := context.WithTimeout(e.Context(), slow)
	defer cancel()
	c := exec.CommandContext(ctx, binary, args...)
	c.Env = e.environ()
	text, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("it hangs, after %s", slow)
	case bytes.Contains(text, []byte("goroutine 1 [")) || errors.As(err, &exit) && exit.ExitCode() < 0:
		err = fmt.Errorf("it panics: %w", err)
	}
	return string(text), err
}

func (e environment) environ() []string {
	return append(os.Environ(), "NEXTRUN_DB="+e.url, "NEXTRUN_CONFIG="+e.config)
}
