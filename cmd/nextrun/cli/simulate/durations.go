package simulate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// lookAt is how many open jobs and ticks are read, lookBack of how many of the newest ticks of a task the median is.
const (
	lookAt   = 100_000
	lookBack = 50
)

// durations say how long the jobs of each task take.
type durations struct {
	of     map[string]time.Duration
	others time.Duration
	given  bool // others was
}

func (d durations) takes(t *periodic.Task, _ time.Time) time.Duration {
	if takes, ok := d.of[t.ID]; ok {
		return takes
	}
	return d.others
}

// unknown are the tasks whose jobs take an unknown time.
func (d durations) unknown(tasks []periodic.Task) (ids []string) {
	for i := range tasks {
		if _, ok := d.of[tasks[i].ID]; !ok && !d.given && tasks[i].Enabled {
			ids = append(ids, tasks[i].ID)
		}
	}
	return ids
}

// readDurations reads what --durations names.
func readDurations(ctx context.Context, db *store.DB, from string, tasks []periodic.Task) (durations, error) {
	if from == "median" {
		return medians(ctx, db, tasks)
	}
	if takes, err := ui.ParseSpan(from); err == nil {
		return durations{others: takes, given: true}, nil
	}
	return durationsFile(from)
}

// medians are how long the jobs of each task took that succeeded lately.
func medians(ctx context.Context, db *store.DB, tasks []periodic.Task) (durations, error) {
	ids := make([]string, len(tasks))
	for i := range tasks {
		ids[i] = tasks[i].ID
	}
	took, err := figures.Of(db).Took(ctx, ids, lookBack, jobqueue.Success)
	d := durations{of: map[string]time.Duration{}}
	for id, list := range took {
		slices.Sort(list)
		d.of[id] = list[len(list)/2]
	}
	return d, err
}

// durationsFile reads lines of an id and a duration.
func durationsFile(name string) (durations, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return durations{}, ui.Usagef("--durations %s: it is neither median, nor a duration such as 20m, nor a file", name)
	}
	if err != nil {
		return durations{}, err
	}
	defer file.Close() //nolint:errcheck // reading
	d := durations{of: map[string]time.Duration{}}
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		id, length := cutLast(strings.ReplaceAll(text, "\t", " "), " ")
		takes, err := ui.ParseSpan(length)
		if id = strings.TrimSpace(id); err != nil || id == "" || takes < 0 {
			return d, fmt.Errorf("%s:%d: %q: write the id of a task and a duration, such as nightly-backup 20m", name, n, text)
		}
		if id == "*" {
			d.others, d.given = takes, true
		} else {
			d.of[id] = takes
		}
	}
	return d, lines.Err()
}

// cutLast cuts a text at the last separator.
func cutLast(text, separator string) (before, after string) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):]
	}
	return text, ""
}
