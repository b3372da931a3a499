//go:build linux

package process

import (
	"context"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// happening happens to an instance.
type happening func(ctx context.Context, r *rand.Rand, in *instance) error

// Kinds are what happens to single processes, and to their clocks where these are not the clock of the database.
func (fl *Fleet) Kinds(clocks bool) []fault.Kind {
	list := []fault.Kind{
		{Name: "process: SIGKILL", Do: fl.one(fl.kill)},
		{Name: "process: SIGKILL", Do: fl.one(fl.kill)},
		{Name: "process: SIGSTOP, under a lease", Do: fl.one(fl.stopFor(100*time.Millisecond, lease))},
		{Name: "process: SIGSTOP, one to three leases", Do: fl.one(fl.stopFor(lease, 3*lease))},
		{Name: "process: SIGTERM", Do: fl.one(fl.ask)},
		{Name: "process: SIGTERM, another mode", Do: fl.one(fl.changeMode)},
		{Name: "log: blocked", Do: fl.one(fl.blockLog), Asked: true},
		{Name: "log: closed", Do: fl.one(fl.closeLog), Asked: true},
	}
	if clocks {
		list = append(list, fault.Kind{Name: "clock: an instance an hour off", Do: fl.one(hourOff)}, fault.Kind{Name: "clock: an instance jumps", Do: fl.one(jump)})
	}
	return list
}

// one lets something happen to an instance that has started, and to which nothing else happens.
func (fl *Fleet) one(do happening) fault.Do {
	return func(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
		in := fl.instances[r.IntN(len(fl.instances))]
		if !in.faulty.TryLock() {
			return fault.ErrNotNow
		}
		defer in.faulty.Unlock()
		f.On = in.name
		return do(ctx, r, in)
	}
}

func (fl *Fleet) kill(_ context.Context, _ *rand.Rand, in *instance) error {
	if fl.signal(in, syscall.SIGKILL, true) != nil {
		return fault.ErrNotNow // it is being started
	}
	return nil
}

func (fl *Fleet) stopFor(least, most time.Duration) happening {
	return func(ctx context.Context, r *rand.Rand, in *instance) error {
		if fl.signal(in, syscall.SIGSTOP, false) != nil {
			return fault.ErrNotNow
		}
		fault.Spell(ctx, r, least, most)
		_ = fl.signal(in, syscall.SIGCONT, false) // unless somebody has killed it meanwhile
		return nil
	}
}

// patience is how long a process may take to end when it is asked to.
const patience = 40 * time.Second

func (fl *Fleet) ask(_ context.Context, _ *rand.Rand, in *instance) error {
	_, ended, running := fl.started(in)
	if !running || fl.signal(in, syscall.SIGTERM, true) != nil {
		return fault.ErrNotNow
	}
	select {
	case <-ended:
		return nil
	case <-time.After(patience):
		fl.strange(in, "did not end within %s", patience)
		return fl.signal(in, syscall.SIGKILL, true)
	}
}

// changeMode gives an instance that schedules another mode.
func (fl *Fleet) changeMode(ctx context.Context, r *rand.Rand, in *instance) error {
	of := in.role
	switch of.command {
	case "executor":
		return fault.ErrNotNow
	case "scheduler":
		of = fault.Pick(r, role{"scheduler", "shared", "a"}, role{"scheduler", "leader", "a"}, role{"scheduler", "exclusive", "b"})
	case "serve":
		of = fault.Pick(r, role{"serve", "shared", "a"}, role{"serve", "leader", "a"})
	}
	fl.mu.Lock()
	in.role = of
	fl.mu.Unlock()
	return fl.ask(ctx, r, in)
}

// blockLog reads nothing of what a process says for a time. Some processes are asked to end then, which they can without a log.
func (fl *Fleet) blockLog(ctx context.Context, r *rand.Rand, in *instance) (err error) {
	l, ended, running := fl.started(in)
	if !running {
		return fault.ErrNotNow
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}()
	l.block(func() {
		fault.Spell(ctx, r, 3*time.Second, time.Minute)
		if r.IntN(2) == 0 {
			err = fl.ask(ctx, r, in)
		}
	})
	return err
}

// closeLog ends the reading of what a process says.
func (fl *Fleet) closeLog(_ context.Context, _ *rand.Rand, in *instance) error {
	l, _, running := fl.started(in)
	if !running {
		return fault.ErrNotNow
	}
	l.leave()
	return nil
}

func hourOff(ctx context.Context, r *rand.Rand, in *instance) error {
	in.ahead(fault.Pick(r, time.Hour, -time.Hour))
	fault.Spell(ctx, r, 5*time.Second, 20*time.Second)
	in.ahead(0)
	return nil
}

func jump(ctx context.Context, r *rand.Rand, in *instance) error {
	for range 5 + r.IntN(10) {
		in.ahead(time.Duration(r.Int64N(7200)-3600) * time.Second)
		fault.Spell(ctx, r, 100*time.Millisecond, 2*time.Second)
	}
	in.ahead(0)
	return nil
}
