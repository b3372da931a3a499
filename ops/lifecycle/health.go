package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// State is the state of a stage.
type State string

// The states of a stage.
const (
	Up     State = "up"
	Down   State = "down"   // not yet, or no more
	Failed State = "failed" // or unhealthy
)

// StageHealth is the state of a stage.
type StageHealth struct {
	Stage string `json:"stage"`
	State State  `json:"state"`
	Error string `json:"error,omitempty"`
}

// Report is the health of a process.
type Report struct {
	Healthy bool          `json:"healthy"` // all is up, and neither starting nor stopping
	Stages  []StageHealth `json:"stages"`
	LogLost int64         `json:"log_lines_lost,omitempty"` // how many lines of the log nobody took
}

// Health reports on every stage, in order, within four seconds: a stage that has not answered by then is failed.
func (p *Process) Health(ctx context.Context) Report {
	stages, sick := p.look(ctx)
	report := Report{Healthy: p.started.Load() && sick == nil, Stages: stages}
	if p.cfg.LogLost != nil {
		report.LogLost = p.cfg.LogLost()
	}
	return report
}

func (p *Process) snapshot() (stages []Stage, done int, failed *StageError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.stages), p.done, p.failed
}

// look reports on every stage. sick is the first failure of one that should be up; nil: all are well.
func (p *Process) look(ctx context.Context) (report []StageHealth, sick *StageError) {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	stages, done, failed := p.snapshot()
	answers := make([]error, done)
	var asked sync.WaitGroup
	for i := range stages[:done] {
		asked.Go(func() { answers[i] = stages[i].ask(ctx) })
	}
	asked.Wait()
	for i, one := range stages {
		state, err := Down, error(nil)
		switch {
		case i >= done && failed != nil && failed.Stage == one.Name:
			err = failed.Err
		case i < done:
			state, err = Up, answers[i]
		}
		text := ""
		if err != nil {
			state, text = Failed, err.Error()
		}
		report = append(report, StageHealth{one.Name, state, text})
		if sick == nil && state != Up {
			sick = &StageError{one.Name, "start", err}
		}
	}
	return report, sick
}

// ask asks a stage about its health, without waiting for what does not answer: one question is on its way at most.
func (one *Stage) ask(ctx context.Context) error {
	if one.Health == nil {
		return nil
	}
	select {
	case answer := <-one.question.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
		defer cancel()
		return nil, one.Health(ctx)
	}):
		return answer.Err
	case <-ctx.Done():
		return fmt.Errorf("it has not answered for %s", healthTimeout)
	}
}

// stuck reports whether a service has stopped working, though it has not ended.
func (p *Process) stuck(ctx context.Context) bool {
	stages, done, _ := p.snapshot()
	return slices.ContainsFunc(stages[:done], func(one Stage) bool {
		return one.service != nil && errors.Is(one.Health(ctx), service.ErrStalled)
	})
}

// How long services may take to become healthy after all of them have started, and how often that is looked at: soon, then
// more rarely.
const (
	startTimeout = 30 * time.Second
	leastLook    = 10 * time.Millisecond
	mostLook     = 500 * time.Millisecond
)

// awaitHealth waits until all stages are healthy. It returns the first one that is
// not when the patience or ctx ends, or a service has ended.
func (p *Process) awaitHealth(ctx context.Context) *StageError {
	patience := time.NewTimer(startTimeout)
	defer patience.Stop()
	for pause := leastLook; ; pause = min(2*pause, mostLook) {
		_, sick := p.look(ctx)
		if sick == nil {
			return nil
		}
		select {
		case <-time.After(pause):
			continue
		case <-ctx.Done():
			sick.Err = ctx.Err()
		case <-p.ended:
			_, sick = p.look(ctx)
		case <-patience.C:
			sick.Err = fmt.Errorf("not healthy after %s: %w", startTimeout, sick.Err)
		}
		return sick
	}
}
