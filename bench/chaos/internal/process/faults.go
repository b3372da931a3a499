//go:build linux

package process

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Kinds are what happens to single processes, and to their clocks where these are not the clock of the database.
func (fl Fleet) Kinds(clocks bool) []fault.Kind {
	list := []fault.Kind{
		{Name: "process: SIGKILL", Do: fl.one(kill)},
		{Name: "process: SIGKILL", Do: fl.one(kill)},
		{Name: "process: SIGKILL, two at once", Do: fl.killTwo},
		{Name: "process: SIGSTOP, under a lease", Do: fl.one(stopFor(100*time.Millisecond, lease))},
		{Name: "process: SIGSTOP, one to three leases", Do: fl.one(stopFor(lease, 3*lease))},
		{Name: "process: SIGTERM", Do: fl.one(ask(syscall.SIGTERM))},
		{Name: "process: SIGHUP", Do: fl.one(ask(syscall.SIGHUP))},
		{Name: "process: SIGTERM, another mode", Do: fl.one(changeMode)},
	}
	if clocks {
		list = append(list, fault.Kind{Name: "clock: an instance an hour off", Do: fl.one(hourOff)}, fault.Kind{Name: "clock: an instance jumps", Do: fl.one(jump)})
	}
	return list
}

// one lets something happen to an instance to which nothing else happens.
func (fl Fleet) one(do func(ctx context.Context, r *rand.Rand, in *instance) error) fault.Do {
	return func(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
		in := fl[r.IntN(len(fl))]
		if !in.faulty.TryLock() {
			return fault.ErrNotNow
		}
		defer in.faulty.Unlock()
		f.On = in.name
		return do(ctx, r, in)
	}
}

func kill(_ context.Context, _ *rand.Rand, in *instance) error {
	if in.signal(syscall.SIGKILL, true) != nil {
		return fault.ErrNotNow // it is being started
	}
	return nil
}

func (fl Fleet) killTwo(ctx context.Context, r *rand.Rand, f *fault.Fault) error {
	order := r.Perm(len(fl))
	a, b := fl[order[0]], fl[order[1]]
	f.On = a.name + " " + b.name
	if err := kill(ctx, r, a); err != nil {
		return err
	}
	_ = kill(ctx, r, b)
	return nil
}

func stopFor(least, most time.Duration) func(context.Context, *rand.Rand, *instance) error {
	return func(ctx context.Context, r *rand.Rand, in *instance) error {
		if in.signal(syscall.SIGSTOP, false) != nil {
			return fault.ErrNotNow
		}
		fault.Wait(ctx, fault.Between(least, most)(r))
		_ = in.signal(syscall.SIGCONT, false) // unless somebody has killed it meanwhile
		return nil
	}
}

// patience is how long a process may take to end when it is asked to.
const patience = 40 * time.Second

func ask(s syscall.Signal) func(context.Context, *rand.Rand, *instance) error {
	return func(_ context.Context, _ *rand.Rand, in *instance) error {
		before := in.begun()
		if !in.running() || in.signal(s, true) != nil {
			return fault.ErrNotNow
		}
		return in.next(before)
	}
}

// next waits for the next process.
func (in *instance) next(before int) error {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(patience); in.begun() == before; <-again.C {
		if time.Now().After(end) {
			in.strange(fmt.Sprintf("did not end within %s", patience))
			return in.signal(syscall.SIGKILL, true)
		}
	}
	return nil
}

// changeMode gives an instance that schedules another mode.
func changeMode(ctx context.Context, r *rand.Rand, in *instance) error {
	of := roles[0]
	switch in.command[0] {
	case "executor":
		return fault.ErrNotNow
	case "scheduler":
		of = fault.Pick(r, role{"scheduler", "shared", "a"}, role{"scheduler", "leader", "a"}, role{"scheduler", "exclusive", "b"})
	case "serve":
		of = fault.Pick(r, role{"serve", "shared", "a"}, role{"serve", "leader", "a"})
	}
	in.become(of)
	return ask(syscall.SIGTERM)(ctx, r, in)
}

func hourOff(ctx context.Context, r *rand.Rand, in *instance) error {
	in.ahead(fault.Pick(r, time.Hour, -time.Hour))
	fault.Wait(ctx, fault.Between(5*time.Second, 20*time.Second)(r))
	in.ahead(0)
	return nil
}

func jump(ctx context.Context, r *rand.Rand, in *instance) error {
	for range 5 + r.IntN(10) {
		in.ahead(time.Duration(r.Int64N(7200)-3600) * time.Second)
		fault.Wait(ctx, fault.Between(100*time.Millisecond, 2*time.Second)(r))
	}
	in.ahead(0)
	return nil
}
