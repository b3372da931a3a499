package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/taskdb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// Of two schedulers that prepare the same tasks one stays behind: it does next to nothing, and
// goes on at once when the other is gone.
func TestAheadOneOfTwoStaysBehind(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', '*:*:*', 'allow')")
		f.once()
		var mu sync.Mutex
		var late []time.Duration
		observe := func(c *scheduler.Config) {
			c.Observe = func(e scheduler.Event) {
				if e.Kind == scheduler.EventTick {
					mu.Lock()
					defer mu.Unlock()
					late = append(late, e.Tick.Decided.Sub(e.Tick.Due))
				}
			}
		}
		first, second := &hooked{Store: f.db.Periodic()}, &hooked{Store: f.db.Periodic()}
		stopFirst, stopSecond := f.run(unwatched{first}, rarely, observe), f.run(unwatched{second}, rarely, observe)
		pass(40*time.Second + 500*time.Millisecond)
		before := [2]int64{first.updates.Load(), second.updates.Load()}
		pass(15 * time.Second)
		stop, goOn := stopFirst, stopSecond
		took := [2]int64{first.updates.Load() - before[0], second.updates.Load() - before[1]}
		if took[1] > took[0] {
			stop, goOn = stopSecond, stopFirst
		}
		if min(took[0], took[1]) > 2 {
			f.Errorf("the transactions of the two in 15 s: %v", took)
		}
		stop()
		pass(10 * time.Second)
		goOn()
		slices.Sort(late)
		if n := len(late); n < 65 || late[n-3] > 2*time.Millisecond || late[n-1] > 110*time.Millisecond {
			f.Errorf("%d ticks were decided at most %v after their due", n, late[max(0, n-4):])
		}
		f.guarantees()
	})
}

// preceded is a store that says that another scheduler goes first, and whether it is at work.
type preceded struct {
	taskdb.Store
	works bool
}

func (preceded) Precedes(context.Context, string, []periodic.Sink) (bool, error) { return true, nil }

func (p preceded) Locked(context.Context, time.Duration, taskdb.Exclude) ([]taskdb.LockedTask, error) {
	if p.works {
		return []taskdb.LockedTask{{ID: "another"}}, nil
	}
	return nil, nil
}

// A scheduler leaves the first tick to one that is known to go first. If that one does nothing,
// it takes the tick 100 ms later, and the next ones on time. While that one has locked due tasks,
// it waits for three quarters of a second more.
func TestAheadBehindAnotherThatIsKnown(t *testing.T) {
	for _, works := range []bool{false, true} {
		least := 100 * time.Millisecond
		if works {
			least = 850 * time.Millisecond
		}
		t.Run(fmt.Sprint("it works: ", works), func(t *testing.T) {
			bubble(t, func(f *fixture) {
				f.exec("INSERT INTO periodic_task (id, task, timer, overlap) VALUES ('report', 'backup', '*:*:*', 'allow')")
				f.once()
				var mu sync.Mutex
				var late []time.Duration
				stop := f.run(unwatched{preceded{f.db.Periodic(), works}}, rarely, func(c *scheduler.Config) {
					c.Observe = func(e scheduler.Event) {
						if e.Kind == scheduler.EventTick {
							mu.Lock()
							defer mu.Unlock()
							late = append(late, e.Tick.Decided.Sub(e.Tick.Due))
						}
					}
				})
				pass(20 * time.Second)
				stop()
				if len(late) < 15 || late[0] < least || late[0] > least+10*time.Millisecond || slices.Max(late[2:]) > 2*time.Millisecond {
					f.Errorf("the ticks were decided %v after their due", late)
				}
				f.guarantees()
			})
		})
	}
}
