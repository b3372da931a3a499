package service

import (
	"context"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store/queues"
)

// queues looks at each queue of the configuration, and warns of those to which jobs
// cannot be submitted now: the scheduler starts all the same, lets the tasks of such
// a queue wait, and submits them as soon as the queue can be used.
func (s *services) queues(ctx context.Context, f *serviceFlags) error {
	if !f.kind.schedules {
		return nil
	}
	built, err := s.config.BuildQueues(s.db)
	if err != nil {
		return err
	}
	return ui.Queues(built).Check(ctx, func(name periodic.Sink, report queues.Report) error {
		log := s.log.WithFields(logrus.Fields{"queue": name, "type": report.Kind})
		for _, p := range append(report.Problems, report.Warnings...) {
			log.Warn("queue: " + p)
		}
		if len(report.Problems) == 0 {
			log.Info("queue can be used")
		}
		return nil
	})
}
