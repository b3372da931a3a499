package periodic

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/column"
)

// Origin is a program, or a file, that declares tasks with [Tasks.Apply]: a row of
// periodic_origin. Its tasks have its name in their column origin.
type Origin struct {
	Name    string
	Version int64     // of the program that declared tasks last; 0: not known
	Since   time.Time // when the newest were declared

	// Declared are the tasks as they were declared last, their columns by their ids, as JSON.
	// What differs from it in a row, people have changed.
	Declared string
	// Digests are those of the sets of tasks that were declared, the newest last, as JSON.
	Digests string
}

// keptDigests is how many sets of tasks an origin remembers.
const keptDigests = 100

// declaredTasks are the columns of tasks as they were declared, by id and name.
type declaredTasks map[string]map[string]json.RawMessage

// declared are the tasks of a.
func (a *Apply) declared() (declaredTasks, error) {
	list := declaredTasks{}
	for i := range a.Tasks {
		columns := map[string]json.RawMessage{}
		for _, c := range userColumns() {
			text, err := json.Marshal(c.Get(&a.Tasks[i]).Any())
			if err != nil {
				return nil, fmt.Errorf("task %q: column %s: %w", a.Tasks[i].ID, c.Name, err)
			}
			columns[c.Name] = text
		}
		list[a.Tasks[i].ID] = columns
	}
	return list, nil
}

func (d declaredTasks) text() string {
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // texts that json.Marshal has made
	}
	return string(text)
}

// was reports whether a task was declared, and whether a value of it is as it was declared. A column that
// there was not then had its default.
func (d declaredTasks) was(id string, c Column, v column.Value) (known, same bool) {
	columns, known := d[id]
	if !known {
		return false, false
	}
	declared, ok := columns[c.Name]
	if !ok {
		standard := NewTask(id, "", "")
		return true, c.Get(&standard) == v
	}
	text, err := json.Marshal(v.Any())
	if err == nil && c.Kind == column.JSON {
		var a, b string
		if json.Unmarshal(declared, &a) == nil && json.Unmarshal(text, &b) == nil {
			return true, column.SameJSON(a, b)
		}
	}
	return true, err == nil && string(text) == string(declared)
}

// history are the digests of an origin, and what it declared last. What somebody has broken by hand counts as
// nothing.
func (o *Origin) history() (digests []string, declared declaredTasks) {
	_ = json.Unmarshal([]byte(o.Digests), &digests)
	if json.Unmarshal([]byte(o.Declared), &declared) != nil || declared == nil {
		declared = declaredTasks{}
	}
	return digests, declared
}

// outdates reports whether an origin holds something newer than a set of tasks of a version: that
// of a newer program, or, as far as versions do not tell, one that has replaced this very set.
func (o *Origin) outdates(version int64, digest string) bool {
	digests, _ := o.history()
	if version != o.Version || len(digests) == 0 {
		return version < o.Version
	}
	return digests[len(digests)-1] != digest && slices.Contains(digests, digest)
}

// next is the origin after a set of tasks was declared. declared is what it remembers of them.
func (o Origin) next(version int64, digest string, declared declaredTasks, now time.Time) Origin {
	digests, _ := o.history()
	if n := len(digests); n == 0 || digests[n-1] != digest {
		digests = append(slices.DeleteFunc(digests, func(d string) bool { return d == digest }), digest)
		o.Since = now
	}
	text, _ := json.Marshal(digests[max(0, len(digests)-keptDigests):]) // texts
	o.Version, o.Declared, o.Digests = max(o.Version, version), declared.text(), string(text)
	return o
}

// digestOf tells sets of tasks apart.
func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:32] }

// builtAt is the version of this program: the time of its commit, in seconds since 1970, which Go
// writes into the binary. It is 0 if Go did not.
func builtAt() int64 {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return 0
	}
	for _, s := range info.Settings {
		if at, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
			return max(at.Unix(), 0)
		}
	}
	return 0
}

// Origins manages the rows of periodic_origin: [Tasks] has them. It is safe for concurrent use.
type Origins struct{ store TaskStore }

// List lists the programs and files that declare tasks, by name.
func (s *Origins) List(ctx context.Context) (list []Origin, err error) {
	err = s.store.View(ctx, func(tx TaskTx) (err error) {
		list, err = tx.Origins(ctx)
		return err
	})
	return list, err
}

// ForgetVersion makes whatever an origin declares next the newest, whatever its version: to
// go back to an older program on purpose. Call it when the newer ones have ended, and start the
// older one after it. What people have changed in tasks is still known. It returns [ErrNotFound] for an
// origin that has declared nothing.
func (s *Origins) ForgetVersion(ctx context.Context, origin string) error {
	return s.store.Update(ctx, func(tx TaskTx) error {
		list, err := tx.Origins(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(o Origin) bool { return o.Name == origin })
		if i < 0 {
			return fmt.Errorf("origin %q: %w", origin, ErrNotFound)
		}
		o, err := tx.LockOrigin(ctx, origin)
		o.Version, o.Digests = 0, "[]"
		if err == nil {
			err = tx.SaveOrigin(ctx, o, nil)
		}
		return err
	})
}

// OriginError is returned by [Tasks.Apply] for a task that another program or file declares.
type OriginError struct{ Has, Wants string }

// Error names both, and the remedy.
func (e *OriginError) Error() string {
	if e.Wants == "" {
		return fmt.Sprintf("%q declares it (column origin); change it there, or name that origin", e.Has)
	}
	return fmt.Sprintf("%q declares it (column origin), and %q may not; use another id, or set the column origin to %[2]q first", e.Has, e.Wants)
}

// last is what the origin has declared last. Unless it is a dry run, those who apply tasks of the same origin
// wait from here on.
func (a *Apply) last(ctx context.Context, tx TaskTx) (last Origin, err error) {
	if a.Origin == "" {
		return last, nil
	}
	if !a.DryRun {
		return tx.LockOrigin(ctx, a.Origin)
	}
	list, err := tx.Origins(ctx)
	for _, o := range list {
		if o.Name == a.Origin {
			last = o
		}
	}
	return last, err
}

// remember is what the origin has declared, with the tasks that it has given up: as they are wanted again, one
// that was disabled with them is enabled.
func (p *applyPlan) remember(wanted declaredTasks) declaredTasks {
	for _, id := range p.pruned {
		if columns := p.before[id]; columns != nil {
			if p.Prune == PruneDisable {
				columns["enabled"] = json.RawMessage("false")
			}
			wanted[id] = columns
		}
	}
	return wanted
}
