package cli

import (
	"context"
	"os"
	"time"
)

// watchInterval is how often a list is written that is watched.
const watchInterval = time.Second

// watch writes something again and again until ctx ends, on a terminal in the
// same place.
func (p *program) watch(ctx context.Context, write func() error) error {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		if p.onTerminal() {
			if err := p.printf("\x1b[H\x1b[2J"); err != nil { // home, erase all: ECMA-48
				return err
			}
		}
		if err := write(); err != nil {
			return unlessEnded(ctx, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// unlessEnded is nil if the user ended the command, which fails what is going
// on then.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// onTerminal reports whether a person sees standard output.
func (p *program) onTerminal() bool {
	file, ok := p.stdout.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
