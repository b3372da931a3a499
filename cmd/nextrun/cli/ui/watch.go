package ui

import (
	"context"
	"io"
	"time"
)

// watchInterval is how often a list is written that is watched.
const watchInterval = time.Second

// Watch writes something again and again until ctx ends, on a terminal in the
// same place.
func Watch(ctx context.Context, env *Env, write func() error) error {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		if device := env.terminal(env.Stdout); device.Width > 0 {
			if _, err := io.WriteString(env.Stdout, "\x1b[H\x1b[2J"); err != nil { // home, erase all: ECMA-48
				return err
			}
		}
		if err := write(); err != nil {
			return UnlessEnded(ctx, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// UnlessEnded is nil if the user ended the command, which fails what is going
// on then.
func UnlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}
