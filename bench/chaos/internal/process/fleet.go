//go:build linux

// Package process builds nextrun, runs several processes of it beside each other, and has the faults that happen to them.
package process

import (
	"context"
	"sync"
	"syscall"
)

// Fleet is all instances.
type Fleet []*instance

// NewFleet makes instances of a program, which find their configuration in dir and their database at an address of their own.
func NewFleet(instances int, program, dir string, url func(instance int) string) (Fleet, error) {
	var fl Fleet
	for i := range instances {
		in, err := newInstance(i, program, dir, url(i))
		if err != nil {
			return nil, err
		}
		fl = append(fl, in)
	}
	return fl, nil
}

// Keep starts a process for each instance, and another one whenever it ends. After the end of the context and [Fleet.Kill], it
// returns when all processes have ended.
func (fl Fleet) Keep(ctx context.Context) {
	var all sync.WaitGroup
	for _, in := range fl {
		all.Go(func() { in.keep(ctx) })
	}
	all.Wait()
}

// Kill ends all processes.
func (fl Fleet) Kill() {
	for _, in := range fl {
		_ = in.signal(syscall.SIGKILL, true)
	}
}

// Heal ends all faults of the processes.
func (fl Fleet) Heal() {
	for _, in := range fl {
		in.ahead(0)
		_ = in.signal(syscall.SIGCONT, false)
	}
}

// Starts is how many processes there were, and how many of them ended before their start was complete.
func (fl Fleet) Starts() (all, refused int) {
	for _, in := range fl {
		in.mu.Lock()
		all, refused = all+in.starts, refused+in.refused
		in.mu.Unlock()
	}
	return all, refused
}

// Odd is what processes did that no fault explains.
func (fl Fleet) Odd(each func(instance, what string)) {
	for _, in := range fl {
		in.mu.Lock()
		for _, what := range in.odd {
			each(in.name, what)
		}
		in.mu.Unlock()
	}
}
