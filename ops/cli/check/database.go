package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/ops/docspell"
)

// The oldest versions that are good enough: of SQLite the first one without the
// WAL-reset bug.
const (
	goodSQLite   = "3.51.3"
	goodPostgres = 13
)

// checkVersion names the version of the database. Programs with an older library than that of this one must not write to a
// file of SQLite that is in use.
func (r *report) checkVersion(ctx context.Context) error {
	version, err := r.db.Version(ctx)
	if err != nil {
		return err
	}
	if strings.HasPrefix(r.db.URL(), "sqlite:") {
		r.add(levelOK, "sqlite", "library %s; do not write to the file with sqlite3 programs before %s while it is in use", version, goodSQLite)
		return nil
	}
	level, more, major := levelOK, "", 0
	if _, err := fmt.Sscan(version, &major); err == nil && major < goodPostgres {
		level, more = levelWarning, fmt.Sprintf("; nextrun needs %d or newer", goodPostgres)
	}
	r.add(level, "postgres", "server %s%s", version, more)
	return nil
}

// addVersion says whether the schema is that of this program, or one of a newer program on which this one may run.
func (r *report) addVersion(ctx context.Context, m *migrations.Migrator) error {
	list, err := m.Status(ctx)
	if err != nil {
		return err
	}
	what := "of this version, and complete"
	if last := list[len(list)-1]; last.Newer {
		what = "of a newer version, up to " + last.Name + "; this version works on it, too"
	}
	r.add(levelOK, "schema", "%s", what)
	return nil
}

// checkSchema names what is missing.
func (r *report) checkSchema(ctx context.Context) error {
	m := migrations.Of(r.db)
	err := m.Check(ctx)
	missing, incomplete := errors.AsType[*migrations.MissingError](err)
	switch {
	case incomplete:
		for _, o := range missing.Objects {
			r.add(levelError, "schema", "%s is missing; nextrun migrate status prints the statement that makes it", o)
		}
		if missing.Breaks() {
			return errNoTables
		}
	case err != nil:
		r.undone("schema", err)
		return errNoTables
	default:
		if err := r.addVersion(ctx, m); err != nil {
			return err
		}
	}
	behind, err := m.Behind(ctx)
	if err != nil {
		return err
	}
	for _, remedy := range behind {
		r.add(levelError, "schema", "%s", remedy)
	}
	creators, err := m.Creators(ctx)
	if creators != "" {
		r.warn("schema", "%s", creators)
	}
	return err
}

// checkDocspell finds out whether this database is Docspell's, and warns if Docspell
// writes into it in another zone.
func (r *report) checkDocspell(ctx context.Context) (err error) {
	here := docspell.In(r.db)
	if r.docspell, err = here.IsHere(ctx); err != nil {
		return err
	}
	offset, err := here.Offset(ctx)
	if err == nil && offset != 0 {
		r.warn("docspell", "its executors write times that are %s off from UTC, which nextrun reads them as; "+
			"have Docspell run in UTC, see docs/docspell.md", text.Text(offset.Abs()))
	}
	return err
}
