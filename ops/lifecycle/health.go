package lifecycle

import (
	"context"
	"fmt"
	"time"
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
}

// Health reports on every stage, in order.
func (p *Process) Health(ctx context.Context) Report {
	stages, sick := p.stages.health(ctx)
	return Report{p.started.Load() && sick == nil, stages}
}

// health reports on every stage. sick is the first failure of one that should be up; nil: all are well.
func (s *stages) health(ctx context.Context) (report []StageHealth, sick *StageError) {
	list, done, failed := s.snapshot()
	report = make([]StageHealth, len(list))
	for i, one := range list {
		report[i] = StageHealth{Stage: one.Name, State: Down}
		var err error
		switch {
		case i >= done && failed != nil && failed.Stage == one.Name:
			err = failed.Err
		case i < done:
			report[i].State = Up
			if one.Health != nil {
				err = one.Health(ctx)
			}
		}
		if err != nil {
			report[i].State, report[i].Error = Failed, err.Error()
		}
		if sick == nil && report[i].State != Up {
			sick = &StageError{one.Name, "start", err}
		}
	}
	return report, sick
}

// How often the health is looked at during a start: soon, then more rarely.
const (
	leastLook = 10 * time.Millisecond
	mostLook  = 500 * time.Millisecond
)

// awaitHealth waits until all stages are healthy. It returns the first one that is
// not when the patience or ctx ends, or a service has ended.
func (p *Process) awaitHealth(ctx context.Context) *StageError {
	patience := time.NewTimer(p.cfg.StartTimeout)
	defer patience.Stop()
	for pause := leastLook; ; pause = min(2*pause, mostLook) {
		looking, cancel := context.WithTimeout(ctx, healthTimeout)
		_, sick := p.stages.health(looking)
		cancel()
		if sick == nil {
			return nil
		}
		select {
		case <-time.After(pause):
			continue
		case <-ctx.Done():
			sick.Err = ctx.Err()
		case <-p.ended:
			_, sick = p.stages.health(ctx)
		case <-patience.C:
			sick.Err = fmt.Errorf("not healthy after %s: %w", p.cfg.StartTimeout, sick.Err)
		}
		return sick
	}
}
