package migrations

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// Difference is one object that is not as the migrations make it.
type Difference struct {
	Kind    string // table, column, constraint, index, trigger, function or view
	Table   string // empty for functions
	Name    string
	Problem string
	Remedy  string
	want    object
}

// String names the object, the problem and the remedy.
func (d Difference) String() string { return d.Object() + " " + d.Problem + "; " + d.Remedy }

// Object names the kind, the table and the object.
func (d Difference) Object() string {
	switch {
	case d.Kind == kindColumn:
		return "column " + d.Table + "." + d.Name
	case d.Table == "" || d.Table == d.Name:
		return d.Kind + " " + d.Name
	}
	return d.Kind + " " + d.Name + " on " + d.Table
}

func (d Difference) breaks() bool {
	return d.Problem == isMissing && (d.Kind == kindTable || d.Kind == kindColumn)
}

const (
	isMissing  = "is missing"
	isLeftOver = "is not of this version"
	isOther    = "is different"
	noDefault  = "has no default"
)

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
	if files, err := m.checksum(); err != nil || files != want.Files {
		return nil, err
	}
	found, err := m.recorded(ctx)
	if err != nil {
		return nil, err
	}
	return m.differences(ctx, m.db, want, found)
}

// differences compares what q sees with the expected schema.
func (m *Migrator) differences(ctx context.Context, q querier, want snapshot, found map[string]bool) ([]Difference, error) {
	server, err := m.server(ctx, q)
	if err != nil {
		return nil, err
	}
	have, err := m.inspect(ctx, q)
	if err != nil {
		return nil, err
	}
	c := comparison{dialect: m.dialect, found: found, have: map[string]object{}, sameServer: server == want.Server}
	for _, o := range have {
		c.have[o.key()] = o
	}
	return c.differences(want.Objects), nil
}

func (o object) key() string { return o.Kind + "\x00" + o.Table + "\x00" + strings.ToLower(o.Name) }

// comparison is a database that is compared with the expected objects.
type comparison struct {
	dialect    Dialect
	found      map[string]bool
	have       map[string]object
	sameServer bool
}

func (c comparison) differences(want []object) (list []Difference) {
	known := map[string]bool{}
	for _, w := range want {
		if c.found[WithoutJobs] && w.Jobs == onlyWith || !c.found[WithoutJobs] && w.Jobs == onlyWithout {
			continue
		}
		known[w.key()] = true
		if w.Own && w.Kind != kindColumn && c.foundTableOf(w) {
			continue
		}
		if problem := c.problem(w); problem != "" {
			list = append(list, Difference{Kind: w.Kind, Table: w.Table, Name: w.Name, Problem: problem, want: w})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.have)) {
		o := c.have[key]
		named := o.Kind == kindTrigger || o.Kind == kindFunction || o.Kind == kindIndex
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
func (c comparison) foundTableOf(w object) bool {
	found := len(c.found)
	if c.found[WithoutJobs] {
		found--
	}
	return c.found[w.Table] || w.Kind == kindFunction && found > 0
}

// problem is what is wrong with an expected object, empty if nothing is.
func (c comparison) problem(w object) string {
	o, exists := c.have[w.key()]
	switch {
	case !exists && w.Kind == kindConstraint && c.hasKey(w):
		return ""
	case !exists:
		return isMissing
	case w.Kind == kindTable || w.Kind == kindView && !c.sameServer:
		return ""
	case w.Kind == kindColumn && c.found[w.Table] && !isOurs(w.Table, w.Name):
		return "" // Up compared it before the first migration, with what nextrun needs
	case !sameText(o.Text, w.Text):
		return isOther
	case w.Default != "" && o.Default == "":
		return noDefault
	}
	return ""
}

// hasKey reports whether a table has the primary key w by another name: PostgreSQL
// chooses the name, and its first choice may be taken.
func (c comparison) hasKey(w object) bool {
	if !strings.HasPrefix(w.Text, "PRIMARY KEY") {
		return false
	}
	for _, o := range c.have {
		if o.Kind == w.Kind && o.Table == w.Table && sameText(o.Text, w.Text) {
			return true
		}
	}
	return false
}

// isOurs reports whether nextrun adds a column to a table that it finds.
func isOurs(table, name string) bool {
	i := slices.IndexFunc(tables[table], func(c column) bool { return c.Name == name })
	return i >= 0 && tables[table][i].ours
}

// withoutMembers leaves out the columns and other parts of a view that is reported
// itself. On SQLite it also leaves out the columns of a missing table, which come
// with the table.
func (c comparison) withoutMembers(list []Difference) []Difference {
	gone, views := map[string]bool{}, map[string]bool{}
	for _, d := range list {
		gone[d.Table] = gone[d.Table] || d.Kind == kindTable || d.Kind == kindView
		views[d.Table] = views[d.Table] || d.Kind == kindView
	}
	return slices.DeleteFunc(list, func(d Difference) bool {
		member := d.Kind != kindTable && d.Kind != kindView
		return member && views[d.Table] || member && gone[d.Table] && d.Problem == isMissing && c.dialect == SQLite && d.Kind == kindColumn
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
