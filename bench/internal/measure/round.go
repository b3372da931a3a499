package measure

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// run is one call of [Run].
type run struct {
	place  *place
	o      Options
	report *Report
	values map[string][]float64 // of the rounds
}

// samples is how many commits and pickups a round measures.
const samples = 50

// round measures everything once, nextrun and plain SQL in turn, so that a busy machine hits both.
func (r *run) round(ctx context.Context, number int) error {
	for _, step := range []struct {
		what    string
		measure func(context.Context, *DB) error
	}{
		{"commits", r.commits},
		{"a burst by plain SQL", r.plainBurst},
		{"a burst", r.burst},
		{"every second, by plain SQL", r.plainPunctual},
		{"every second", r.punctual},
		{"jobs by plain SQL", r.plainJobs},
		{"jobs", r.jobs},
		{"pickup", r.pickup},
	} {
		if r.o.Progress != nil {
			r.o.Progress(fmt.Sprintf("round %d of %d: %s", number+1, r.o.Rounds, step.what))
		}
		if err := r.place.with(ctx, func(db *DB) error { return step.measure(ctx, db) }); err != nil {
			return fmt.Errorf("measure %s: %w", step.what, err)
		}
	}
	return nil
}

func (r *run) note(name string, value float64) { r.values[name] = append(r.values[name], value) }

func (r *run) commits(ctx context.Context, db *DB) error {
	if err := r.describe(ctx, db); err != nil {
		return err
	}
	took, err := Commits(ctx, db, samples)
	if err == nil {
		r.noteLate("plain commit", took)
	}
	return err
}

// describe notes what the database is, once.
func (r *run) describe(ctx context.Context, db *DB) (err error) {
	if r.report.Version != "" {
		return nil
	}
	settings, err := db.Plain.Settings(ctx)
	if err != nil {
		return err
	}
	for _, s := range settings {
		r.report.Settings[s.Name] = s.Value
	}
	r.report.Version, err = db.Version(ctx)
	return err
}

// plainBatch is how many tasks plain SQL submits in a transaction on SQLite, where others could not write otherwise.
const plainBatch = 500

func (r *run) plainBurst(ctx context.Context, db *DB) error {
	batch := 0
	if r.place.file != "" {
		batch = plainBatch
	}
	b, err := PlainBurst(ctx, db, r.o.Tasks, batch)
	r.note("plain burst", Millis(b.All)[0])
	return err
}

func (r *run) burst(ctx context.Context, db *DB) error {
	b, err := RunBurst(ctx, db, r.o.Tasks)
	r.note("first", Millis(b.First)[0])
	r.note("burst", Millis(b.All)[0])
	return err
}

// noteLate notes the median and the 99th percentile.
func (r *run) noteLate(name string, late []time.Duration) {
	values := Millis(late...)
	slices.Sort(values)
	r.note(name, Quantile(values, 0.5))
	r.note(name+" p99", Quantile(values, 0.99))
}

func (r *run) plainPunctual(ctx context.Context, db *DB) error {
	late, err := PlainPunctual(ctx, db, r.o.Ticks)
	if err == nil {
		r.noteLate("plain late", late)
	}
	return err
}

func (r *run) punctual(ctx context.Context, db *DB) error {
	late, err := Punctual(ctx, db, r.o.Ticks, 0)
	if err == nil {
		r.noteLate("late", late)
	}
	return err
}

func (r *run) plainJobs(ctx context.Context, db *DB) error {
	took, err := PlainJobs(ctx, db, r.o.Jobs)
	r.note("plain jobs", float64(r.o.Jobs)/took.Seconds())
	return err
}

func (r *run) jobs(ctx context.Context, db *DB) error {
	took, err := RunJobs(ctx, db, r.o.Jobs)
	r.note("jobs", float64(r.o.Jobs)/took.Seconds())
	return err
}

func (r *run) pickup(ctx context.Context, db *DB) error {
	took, err := Pickup(ctx, db, samples)
	if err == nil {
		r.noteLate("pickup", took)
	}
	return err
}

// figures makes the figures of all rounds.
func (r *run) figures() {
	rates := func(name string) {
		for _, millis := range r.values[name] {
			r.note(name+" rate", float64(r.o.Tasks)/millis*1000)
		}
	}
	rates("burst")
	rates("plain burst")
	for _, f := range []struct{ name, unit, ours, plain string }{
		{"commit of one row", "ms", "", "plain commit"},
		{"commit of one row, 99th percentile", "ms", "", "plain commit p99"},
		{fmt.Sprintf("burst of %d tasks, first job committed", r.o.Tasks), "ms", "first", "plain burst"},
		{fmt.Sprintf("burst of %d tasks, all jobs committed", r.o.Tasks), "ms", "burst", "plain burst"},
		{"tasks submitted in a burst", "tasks/s", "burst rate", "plain burst rate"},
		{"one task every second, due to committed", "ms", "late", "plain late"},
		{"one task every second, 99th percentile", "ms", "late p99", "plain late p99"},
		{fmt.Sprintf("%d jobs run, %d at a time", r.o.Jobs, Pool), "jobs/s", "jobs", "plain jobs"},
		{"job committed to handler begun", "ms", "pickup", ""},
		{"job committed to handler begun, 99th percentile", "ms", "pickup p99", ""},
	} {
		figure := Figure{Name: f.name, Unit: f.unit, Ours: r.spread(f.ours), Plain: r.spread(f.plain)}
		if figure.Ours != nil && figure.Plain != nil {
			if figure.Share = figure.Ours.Median / figure.Plain.Median; f.unit == "ms" {
				figure.Share = 1 / figure.Share
			}
		}
		r.report.Figures = append(r.report.Figures, figure)
	}
}

func (r *run) spread(name string) *Spread {
	if name == "" {
		return nil
	}
	s := SpreadOf(slices.Clone(r.values[name]))
	return &s
}
