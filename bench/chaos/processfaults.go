//go:build linux

package main

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// lease is that of marks, jobs and topics in the configuration.
const lease = 10 * time.Second

// happening happens to an instance.
type happening func(ctx context.Context, r *rand.Rand, in *instance)

// kinds are what happens to single processes, and to their clocks where these are not the clock of the database.
func (fl *fleet) kinds(clocks bool) []kind {
	list := []kind{
		{"process: SIGKILL", fl.one(fl.terminate)},
		{"process: SIGKILL", fl.one(fl.terminate)},
		{"process: SIGSTOP, under a lease", fl.one(fl.stopFor(100*time.Millisecond, lease))},
		{"process: SIGSTOP, one to three leases", fl.one(fl.stopFor(lease, 3*lease))},
		{"process: SIGTERM", fl.one(fl.ask)},
		{"process: SIGTERM, another mode", fl.one(fl.changeMode)},
	}
	if clocks {
		list = append(list,
			kind{"clock: an instance is off", fl.one(leap(1, 5*time.Second, 20*time.Second))},
			kind{"clock: an instance jumps", fl.one(leap(10, 100*time.Millisecond, 2*time.Second))})
	}
	return list
}

// one lets something happen to an instance to which nothing else happens.
func (fl *fleet) one(do happening) do {
	return func(ctx context.Context, r *rand.Rand, f *fault) {
		in := fl.instances[r.IntN(len(fl.instances))]
		if !in.faulty.TryLock() {
			panic(errNotNow)
		}
		defer in.faulty.Unlock()
		f.on = in.name
		do(ctx, r, in)
	}
}

func (fl *fleet) terminate(_ context.Context, _ *rand.Rand, in *instance) {
	fl.signal(in, syscall.SIGKILL)
}

func (fl *fleet) stopFor(least, most time.Duration) happening {
	return func(ctx context.Context, r *rand.Rand, in *instance) {
		fl.signal(in, syscall.SIGSTOP)
		spell(ctx, r, least, most)
		_ = must.Try(func() { fl.signal(in, syscall.SIGCONT) }) // unless somebody has killed it meanwhile
	}
}

// ask asks a process to end, which it does in time.
func (fl *fleet) ask(_ context.Context, _ *rand.Rand, in *instance) {
	const patience = 40 * time.Second
	ended := fl.started(in)
	fl.signal(in, syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(patience):
		fl.strange(in, "did not end within %s", patience)
		fl.signal(in, syscall.SIGKILL)
	}
}

// changeMode gives an instance that schedules another mode.
func (fl *fleet) changeMode(ctx context.Context, r *rand.Rand, in *instance) {
	if in.role.command == "executor" {
		panic(errNotNow)
	}
	fl.mu.Lock()
	in.role = pick(r, slices.DeleteFunc(slices.Clone(roles), func(o role) bool { return o.command != in.role.command })...)
	fl.mu.Unlock()
	fl.ask(ctx, r, in)
}

// upgrade migrates for the newer program while the older one works on, and then replaces that in one instance after the other,
// and back in the first: an additive migration lets both work side by side.
func (fl *fleet) upgrade(ctx context.Context, duration time.Duration) {
	step := duration / time.Duration(2*len(fl.instances)+4)
	wait(ctx, duration/4)
	if err := surely(ctx, patience, func(ctx context.Context) error { return fl.once(ctx, fl.programs[1], "migrate", "up") }); err != nil {
		fl.found.Add("it did not migrate", "", "%v", err)
		return
	}
	say("migrated for the newer program")
	for i := range len(fl.instances) + 1 {
		wait(ctx, step)
		in := fl.instances[i%len(fl.instances)]
		fl.mu.Lock()
		in.program = fl.programs[(i/len(fl.instances)+1)%2]
		fl.mu.Unlock()
		say("%s becomes %s", in.name, filepath.Base(in.program))
		_ = must.Try(func() { fl.signal(in, syscall.SIGTERM) }) // else the next process comes anyway
	}
}

// leap sets the clock to times within an hour of the right one, and then to that.
func leap(times int, least, most time.Duration) happening {
	return func(ctx context.Context, r *rand.Rand, in *instance) {
		for range times {
			in.ahead(time.Duration(r.Int64N(7200)-3600) * time.Second)
			spell(ctx, r, least, most)
		}
		in.ahead(0)
	}
}
