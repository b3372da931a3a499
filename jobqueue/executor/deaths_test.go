package executor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// workers is the table worker, as the executors of a test see it in the time of a bubble.
type workers struct {
	Store
	mu     sync.Mutex
	beats  map[string]int64
	busy   map[string]bool // have jobs
	locked map[string]bool // somebody holds the row
	down   bool
}

var errAway = errors.New("the database is away")

func (s *workers) Beat(_ context.Context, who exchange.Service, seen map[string]int64) (map[string]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down || s.locked[who.Worker] {
		return nil, errAway
	}
	s.beats[who.Worker]++
	others := map[string]int64{}
	for id := range s.busy {
		beat, before := s.beats[id], seen[id]
		if id != who.Worker && !(s.locked[id] && before == beat) {
			others[id] = beat
		}
	}
	return others, nil
}

func (s *workers) Leave(context.Context, string) error { return nil }

func (s *workers) Fault(error) service.Fault { return service.FaultDatabase }

func (s *workers) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// process is an executor of which only the watch runs.
type process struct {
	*Executor
	kill func()
	gone chan struct{}
}

func (s *workers) process(t *testing.T, name string, busy bool) process {
	t.Helper()
	e, err := New(s, Config{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	if busy {
		s.works(e)
	}
	ctx, kill := context.WithCancel(t.Context())
	p := process{e, kill, make(chan struct{})}
	go func() { defer close(p.gone); e.keepBeating(ctx) }()
	t.Cleanup(func() { kill(); <-p.gone })
	return p
}

// works gives an executor a job, as a claim does.
func (s *workers) works(e *Executor) {
	s.set(func() { s.busy[e.worker] = true })
	e.busy.Store(true)
	e.stir()
}

// dead are the workers that a process has found dead since it was last asked.
func (p process) dead() []string {
	return slices.Sorted(maps.Keys(p.inbox.open().dead))
}

// bubble has a worker with a job and an observer, after a minute.
func bubble(t *testing.T, test func(t *testing.T, s *workers, worker, observer process)) {
	synctest.Test(t, func(t *testing.T) {
		s := &workers{beats: map[string]int64{}, busy: map[string]bool{}, locked: map[string]bool{}}
		worker, observer := s.process(t, "worker", true), s.process(t, "observer", false)
		pass(time.Minute)
		test(t, s, worker, observer)
	})
}

// pass lets time of a bubble pass.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the time of synctest

func (p process) wantNobodyDead(t *testing.T) {
	t.Helper()
	if dead := p.dead(); len(dead) > 0 {
		t.Errorf("%s are taken for dead", dead)
	}
}

// The jobs of a killed worker can be taken within 12 s, whenever it is killed.
func TestKilledWorkerIsFoundWithin12Seconds(t *testing.T) {
	for late := time.Duration(0); late < 2*time.Second; late += 170 * time.Millisecond {
		bubble(t, func(t *testing.T, _ *workers, worker, observer process) {
			pass(late)
			worker.kill()
			pass(7500 * time.Millisecond)
			observer.wantNobodyDead(t)
			pass(4100 * time.Millisecond)
			if dead := observer.dead(); !slices.Equal(dead, []string{worker.worker}) {
				t.Errorf("killed %s after its start: dead are %q after 11.6 s", time.Minute+late, dead)
			}
			pass(13 * time.Second) // it was not taken over, as its row was held
			if dead := observer.dead(); len(dead) != 1 {
				t.Errorf("later dead are %q", dead)
			}
		})
	}
}

// A database that is away, and somebody who holds the row of a worker, keep it from beating.
func TestWhoCannotBeatIsNotDead(t *testing.T) {
	for name, keep := range map[string]func(s *workers, worker string, from bool){
		"outage":     func(s *workers, _ string, from bool) { s.down = from },
		"locked row": func(s *workers, worker string, from bool) { s.locked[worker] = from },
	} {
		bubble(t, func(t *testing.T, s *workers, worker, observer process) {
			for _, long := range []time.Duration{3 * time.Second, 11500 * time.Millisecond, time.Minute, time.Hour} {
				s.set(func() { keep(s, worker.worker, true) })
				pass(long)
				s.set(func() { keep(s, worker.worker, false) })
				pass(time.Minute)
				t.Log(name, long)
				observer.wantNobodyDead(t)
				worker.wantNobodyDead(t)
			}
		})
	}
}

// An idle worker beats every 30 s. One that claims a job just before its beat would be missed has not been silent.
func TestIdleWorkerThatClaimsIsNotDead(t *testing.T) {
	bubble(t, func(t *testing.T, s *workers, _, observer process) {
		idle := s.process(t, "idle", false)
		for wait := range 40 {
			s.set(func() { delete(s.busy, idle.worker) })
			idle.busy.Store(false)
			pass(time.Minute + time.Duration(wait)*time.Second)
			s.works(idle.Executor)
			pass(20 * time.Second)
			observer.wantNobodyDead(t)
		}
	})
}

func TestWatch(t *testing.T) {
	const w = "w"
	second := func(n float64) time.Time {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n * float64(time.Second)))
	}
	type look struct {
		at   float64
		beat int64 // 0: it has no jobs, or its row is held
	}
	steady := func(beats ...int64) (list []look) {
		for i, b := range beats {
			list = append(list, look{float64(2 * i), b})
		}
		return list
	}
	for name, c := range map[string]struct {
		looks []look
		dead  int // at which look, from 1; 0: at none
	}{
		"six looks":           {steady(7, 7, 7, 7, 7, 7), 6},
		"five looks":          {steady(7, 7, 7, 7, 7), 0},
		"it beats":            {steady(7, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9), 0},
		"it beats, then not":  {steady(7, 7, 7, 8, 8, 8, 8, 8, 8), 9},
		"no jobs meanwhile":   {steady(7, 7, 7, 0, 7, 7, 7, 7, 7), 0},
		"its row is gone":     {steady(-1, -1, -1, -1, -1, -1), 6},
		"its row is back":     {steady(-1, -1, -1, -1, -1, 1), 0},
		"the observer slept":  {[]look{{0, 7}, {2, 7}, {4, 7}, {6, 7}, {8, 7}, {3600, 7}, {3602, 7}, {3604, 7}, {3606, 7}, {3608, 7}}, 0},
		"a gap of 4 s":        {[]look{{0, 7}, {4, 7}, {8, 7}, {12, 7}, {16, 7}, {20, 7}}, 6},
		"a gap of a bit more": {[]look{{0, 7}, {2, 7}, {4, 7}, {6, 7}, {8, 7}, {12.1, 7}}, 0},
	} {
		var watch deathWatch
		found := 0
		for i, l := range c.looks {
			beats := map[string]int64{}
			if l.beat != 0 {
				beats[w] = l.beat
			}
			if dead := watch.look(second(l.at), beats); len(dead) > 0 && found == 0 {
				found = i + 1
				if dead[w] != l.beat {
					t.Errorf("%s: dead at the beat %d", name, dead[w])
				}
			}
		}
		if found != c.dead {
			t.Errorf("%s: dead at look %d, want %d", name, found, c.dead)
		}
	}
}
