package migrations

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/migrations/internal/shape"
	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// ErrDrift is wrapped by a [*DriftError].
var ErrDrift = errors.New("the database's schema differs from what its migrations made")

// DriftError is returned by [Migrator.Check] when all migrations are applied, but
// something of the schema is missing or different: somebody has changed it, or an
// early state of a migration made it.
type DriftError struct{ Differences []Difference }

// Error names each difference with the remedy.
func (e *DriftError) Error() string {
	list := make([]string, len(e.Differences))
	for i, d := range e.Differences {
		list[i] = d.String()
	}
	return ErrDrift.Error() + ": " + strings.Join(list, "; ")
}

// Unwrap returns [ErrDrift].
func (e *DriftError) Unwrap() error { return ErrDrift }

// Breaks reports whether a table or a column is missing, so that statements of
// nextrun fail.
func (e *DriftError) Breaks() bool { return slices.ContainsFunc(e.Differences, Difference.breaks) }

// Lacks reports whether a whole table is missing.
func (e *DriftError) Lacks(table string) bool {
	return slices.ContainsFunc(e.Differences, func(d Difference) bool {
		return d.Kind == shape.Table && d.Name == table && d.Problem == isMissing
	})
}

// Difference is one object that is not as the migrations make it.
type Difference struct {
	Kind    string // table, column, constraint, index, trigger, function or view
	Table   string // empty for functions
	Name    string
	Problem string
	Remedy  string
	want    shape.Object
}

// String names the object, the problem and the remedy.
func (d Difference) String() string { return d.Object() + " " + d.Problem + "; " + d.Remedy }

// Object names the kind, the table and the object.
func (d Difference) Object() string {
	switch {
	case d.Kind == shape.Column:
		return "column " + d.Table + "." + d.Name
	case d.Table == "" || d.Table == d.Name:
		return d.Kind + " " + d.Name
	}
	return d.Kind + " " + d.Name + " on " + d.Table
}

func (d Difference) breaks() bool {
	return d.Problem == isMissing && (d.Kind == shape.Table || d.Kind == shape.Column)
}

const (
	isMissing  = "is missing"
	isLeftOver = "is not of this version"
	isOther    = "is different"
	noDefault  = "has no default"
)

//go:embed snapshot/*.json
var snapshots embed.FS

// expected is the schema that the migrations make of an empty database.
func expected(dialect Dialect) (shape.Snapshot, error) {
	text, err := snapshots.ReadFile("snapshot/" + string(dialect) + ".json")
	if err != nil {
		return shape.Snapshot{}, fmt.Errorf("read the expected schema: %w", err)
	}
	return shape.Parse(text)
}

// Drift compares the database with the schema that this version expects, and
// returns the differences. Additions of other programs do not count. While
// migrations are pending it returns none.
func (m *Migrator) Drift(ctx context.Context) ([]Difference, error) {
	want, err := expected(m.dialect)
	if err != nil {
		return nil, err
	}
	if version, err := m.Version(ctx); err != nil || version != want.Version {
		return nil, err
	}
	// A migration is being written, and the snapshot does not have it yet.
	if files, err := m.files.Checksum(); err != nil || files != want.Files {
		return nil, err
	}
	found, err := recorded(ctx, m.db)
	if err != nil {
		return nil, err
	}
	return differences(ctx, m.db, m.dialect, want, found)
}

// differences compares what q sees with the expected schema.
func differences(ctx context.Context, q tables.Querier, dialect Dialect, want shape.Snapshot, found map[string]bool) ([]Difference, error) {
	server, err := shape.Server(ctx, q, dialect)
	if err != nil {
		return nil, err
	}
	have, err := shape.Inspect(ctx, q, dialect)
	if err != nil {
		return nil, err
	}
	c := comparison{dialect: dialect, found: found, have: map[string]shape.Object{}, sameServer: server == want.Server}
	for _, o := range have {
		c.have[o.Key()] = o
	}
	return c.differences(want.Objects), nil
}

// comparison is a database that is compared with the expected objects.
type comparison struct {
	dialect    Dialect
	found      map[string]bool
	have       map[string]shape.Object
	sameServer bool
}

func (c comparison) differences(want []shape.Object) (list []Difference) {
	known := map[string]bool{}
	for _, w := range want {
		if c.found[withoutJobs] && w.Jobs == shape.OnlyWith || !c.found[withoutJobs] && w.Jobs == shape.OnlyWithout {
			continue
		}
		known[w.Key()] = true
		if w.Own && w.Kind != shape.Column && c.foundTableOf(w) {
			continue
		}
		if problem := c.problem(w); problem != "" {
			list = append(list, Difference{Kind: w.Kind, Table: w.Table, Name: w.Name, Problem: problem, want: w})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.have)) {
		o := c.have[key]
		named := o.Kind == shape.Trigger || o.Kind == shape.Function || o.Kind == shape.Index
		if named && !known[key] {
			list = append(list, Difference{Kind: o.Kind, Table: o.Table, Name: o.Name, Problem: isLeftOver, want: o})
		}
	}
	list = c.withoutMembers(list)
	for i := range list {
		list[i].Remedy = c.remedy(list[i])
	}
	return list
}

// foundTableOf reports whether the table of an object was there before nextrun. A
// function names no table, so for it any such table counts.
func (c comparison) foundTableOf(w shape.Object) bool {
	found := len(c.found)
	if c.found[withoutJobs] {
		found--
	}
	return c.found[w.Table] || w.Kind == shape.Function && found > 0
}

// problem is what is wrong with an expected object, empty if nothing is.
func (c comparison) problem(w shape.Object) string {
	o, exists := c.have[w.Key()]
	switch {
	case !exists && w.Kind == shape.Constraint && c.hasKey(w):
		return ""
	case !exists:
		return isMissing
	case w.Kind == shape.Table || w.Kind == shape.View && !c.sameServer:
		return ""
	case w.Kind == shape.Column && c.found[w.Table] && !tables.IsOurs(w.Table, w.Name):
		return "" // Up compared it before the first migration, with what nextrun needs
	case !shape.SameText(o.Text, w.Text):
		return isOther
	case w.Default != "" && o.Default == "":
		return noDefault
	}
	return ""
}

// hasKey reports whether a table has the primary key w by another name: PostgreSQL
// chooses the name, and its first choice may be taken.
func (c comparison) hasKey(w shape.Object) bool {
	if !strings.HasPrefix(w.Text, "PRIMARY KEY") {
		return false
	}
	for _, o := range c.have {
		if o.Kind == w.Kind && o.Table == w.Table && shape.SameText(o.Text, w.Text) {
			return true
		}
	}
	return false
}

// withoutMembers leaves out the columns and other parts of a view that is reported
// itself. On SQLite it also leaves out the columns of a missing table, which come
// with the table.
func (c comparison) withoutMembers(list []Difference) []Difference {
	gone, views := map[string]bool{}, map[string]bool{}
	for _, d := range list {
		gone[d.Table] = gone[d.Table] || d.Kind == shape.Table || d.Kind == shape.View
		views[d.Table] = views[d.Table] || d.Kind == shape.View
	}
	return slices.DeleteFunc(list, func(d Difference) bool {
		member := d.Kind != shape.Table && d.Kind != shape.View
		return member && views[d.Table] || member && gone[d.Table] && d.Problem == isMissing && c.dialect == SQLite && d.Kind == shape.Column
	})
}

// remedy says what to do about a difference.
func (c comparison) remedy(d Difference) string {
	if len(c.statements(d)) > 0 {
		return "to repair it run: nextrun migrate up"
	}
	text := strings.TrimSpace(d.want.Text + " " + d.want.Default)
	if c.dialect == SQLite {
		return fmt.Sprintf("expected: %s. SQLite cannot change it in place: save the tasks (nextrun task export), "+
			"make the tables anew (nextrun migrate down, up), and restore them (nextrun task apply)", text)
	}
	return "expected: " + text + ". Change it by ALTER TABLE"
}
