package store_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/storetest"
	"github.com/nextrun/nextrun/internal/storetest/migrated"
)

// renewed removes, for a role, what is left of the last kill.
var renewed = map[string]string{
	"leader":   "DELETE FROM periodic_task",
	"executor": "DELETE FROM joblog; DELETE FROM job",
	"relay":    "DELETE FROM outbox_message; DELETE FROM event_store; DELETE FROM event_aggregate",
}

// BenchmarkRecovery measures how long after the SIGKILL of a process another one has taken
// over what it held: a mark, the lock, a job, a topic. In each round five processes of each
// role are killed, one after the other, each beside an heir in a database of their own, which
// has run for at least three seconds.
func BenchmarkRecovery(b *testing.B) {
	for _, kind := range []string{"sqlite", "postgres"} {
		b.Run(kind, func(b *testing.B) {
			var all []*remains
			for range 5 {
				for _, role := range slices.Sorted(maps.Keys(roles)) {
					all = append(all, &remains{d: migrated.New(b, kind), role: role})
				}
			}
			times := map[string][]time.Duration{}
			for b.Loop() {
				for _, r := range all {
					r.begin()
				}
				for _, r := range all {
					r.canJudge()
				}
				for _, r := range all {
					pass(b, rand.N(400*time.Millisecond)) // at any phase of the heir's looks
					took := r.kill()
					times[r.role] = append(times[r.role], took)
				}
			}
			b.ReportMetric(0, "ns/op")
			for role, list := range times {
				slices.Sort(list)
				b.ReportMetric(list[len(list)/2].Seconds(), role+"-s-median")
				b.ReportMetric(list[(len(list)*99+99)/100-1].Seconds(), role+"-s-p99")
			}
			b.ReportMetric(float64(len(times["leader"])), "kills-each")
		})
	}
}

// remains are what a process of a role leaves to an heir.
type remains struct {
	d     *migrated.Database
	role  string
	dead  *holder
	taken <-chan struct{}
	stop  func()
}

// begin starts both.
func (r *remains) begin() {
	if r.stop != nil {
		r.stop()
	}
	r.d.Exec(renewed[r.role])
	r.d.Exec(work[r.role])
	before := livingWorkers(r.d, "holder")
	r.dead = startHolder(r.d, r.d.URL, r.role, false)
	until(r.d, "the holder shows that it lives", func() bool { return livingWorkers(r.d, "holder") > before })
	r.taken, r.stop = heirs[r.role](r.d)
}

// canJudge waits until the heir on PostgreSQL has had a session for three seconds: before, it
// takes nobody for dead.
func (r *remains) canJudge() {
	if r.d.Kind != storetest.Postgres {
		return
	}
	until(r.d, "the heir has had its session for three seconds", func() bool {
		return r.d.One(`SELECT EXISTS (SELECT 1 FROM worker_session WHERE worker NOT LIKE 'holder@%'
			AND since < (now() AT TIME ZONE 'UTC') - interval '3 seconds')`) == "true"
	})
}

// kill ends the process and returns how long it took the heir to take over.
func (r *remains) kill() time.Duration {
	begun := time.Now()
	r.dead.kill()
	select {
	case <-r.taken:
	case <-after():
		r.d.Fatalf("nobody took over from the %s", r.role)
	}
	return time.Since(begun)
}

// pass lets time pass, for what happens in other processes.
func pass(b *testing.B, d time.Duration) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), d)
	defer cancel()
	<-ctx.Done()
}
