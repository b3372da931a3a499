package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/store"
)

// Defaults and bounds of [Options].
const (
	DefaultRounds  = 3
	DefaultTasks   = 1000
	DefaultJobs    = 2000
	DefaultTicks   = 10
	DefaultTimeout = 10 * time.Minute

	MostRounds = 100
	MostTasks  = 100_000
	MostJobs   = 100_000
	MostTicks  = 600
)

// Options are what [Run] measures. The zero value is good.
type Options struct {
	Rounds  int           // 1 to 100; 0: 3
	Tasks   int           // that are due at the same time, 1 to 100,000; 0: 1,000
	Jobs    int           // that an executor runs, 1 to 100,000; 0: 2,000
	Ticks   int           // of a task that is due every second, in each round, 1 to 600; 0: 10
	Timeout time.Duration // of the whole run; 0: 10 minutes
	// Progress, if not nil, is called with the name of each measurement before it begins.
	Progress func(text string)
}

// Validate returns an error that names every field that is out of bounds.
func (o Options) Validate() error {
	o = o.withDefaults()
	p := &service.Check{Config: "measure.Options"}
	service.Within(p, "Rounds", o.Rounds, 1, MostRounds)
	service.Within(p, "Tasks", o.Tasks, 1, MostTasks)
	service.Within(p, "Jobs", o.Jobs, 1, MostJobs)
	service.Within(p, "Ticks", o.Ticks, 1, MostTicks)
	service.Within(p, "Timeout", o.Timeout, time.Second, 24*time.Hour)
	return p.Err()
}

func (o Options) withDefaults() Options {
	service.SetDefault(&o.Rounds, DefaultRounds)
	service.SetDefault(&o.Tasks, DefaultTasks)
	service.SetDefault(&o.Jobs, DefaultJobs)
	service.SetDefault(&o.Ticks, DefaultTicks)
	service.SetDefault(&o.Timeout, DefaultTimeout)
	return o
}

// Report is what [Run] has measured.
type Report struct {
	Database string            `json:"database"` // PostgreSQL or SQLite
	Version  string            `json:"version"`
	Settings map[string]string `json:"settings"`
	CPUs     int               `json:"cpus"` // of this machine; PostgreSQL may be on another one
	Rounds   int               `json:"rounds"`
	Figures  []Figure          `json:"figures"`
	// Left are schemas, or ends of files, of other runs: they go on, or crashed.
	Left []string `json:"left"`
}

// Figure is one thing that was measured, of the rounds.
type Figure struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`  // ms, tasks/s or jobs/s
	Ours  *Spread `json:"ours"`  // nil: there is only the plain figure
	Plain *Spread `json:"plain"` // of plain SQL that does the least for the same; nil: there is none
	// Share is how much of the speed of plain SQL is reached, 1 being all, by the medians; 0: there is nothing to compare.
	Share float64 `json:"share"`
}

// Run measures in a schema of its own of a PostgreSQL database, or in a file beside that of SQLite, and removes it: also
// when ctx ends. It touches nothing else, except that schedulers and executors of the same PostgreSQL database are woken,
// and find nothing.
func Run(ctx context.Context, databaseURL string, options store.Options, o Options) (report *Report, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	limited, cancel := context.WithTimeoutCause(ctx, o.Timeout, errTimeout)
	defer cancel()
	p, err := find(limited, databaseURL, options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	r := &run{place: p, o: o, values: map[string][]float64{}, report: &Report{
		Database: p.kindOf(), Settings: map[string]string{}, CPUs: runtime.NumCPU(), Rounds: o.Rounds,
	}}
	if r.report.Left, err = p.left(limited); err != nil {
		return nil, err
	}
	for i := range o.Rounds {
		if err := r.round(limited, i); err != nil {
			if errors.Is(context.Cause(limited), errTimeout) {
				return nil, fmt.Errorf("round %d of %d did not end within the timeout of %s; measure less, or raise the timeout", i+1, o.Rounds, o.Timeout)
			}
			return nil, err
		}
	}
	r.figures()
	return r.report, nil
}

var errTimeout = errors.New("the timeout of the run")
