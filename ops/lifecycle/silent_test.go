package lifecycle

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A stage that never answers, as a database may that has fallen silent, keeps the others' states from nobody: the report
// comes in time, and one question is left behind, however often somebody asks.
func TestHealthOfASilentStage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		asked, answer := atomic.Int64{}, make(chan struct{})
		p.Add(Stage{Name: "database", Health: func(context.Context) error { asked.Add(1); <-answer; return nil }},
			Stage{Name: "scheduler", Health: func(context.Context) error { return nil }})
		if err := p.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.started.Store(true)
		for range 3 {
			begun := time.Now()
			report := p.Health(t.Context())
			if took := time.Since(begun); took != healthTimeout || report.Healthy {
				t.Errorf("healthy %v after %s", report.Healthy, took)
			}
			if database, scheduler := report.Stages[0], report.Stages[1]; database.State != Failed ||
				!strings.Contains(database.Error, "has not answered for 4s") || scheduler.State != Up {
				t.Errorf("the report is %+v", report)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the database was asked %d times", n)
		}
		close(answer)
		synctest.Wait()
		if !p.Health(t.Context()).Healthy {
			t.Error("it is not well again")
		}
	})
}
