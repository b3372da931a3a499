package check

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/store"
)

// The oldest versions that are good enough: of SQLite the first one without the
// WAL-reset bug.
const (
	goodSQLite   = "3.51.3"
	goodPostgres = "13"
)

// checkVersion names the version of the database.
func (r *report) checkVersion(ctx context.Context, db *store.DB) error {
	version, err := db.Version(ctx)
	if err != nil {
		return err
	}
	if strings.HasPrefix(db.URL(), "sqlite:") {
		r.checkSQLite(version)
	} else {
		r.checkPostgres(version)
	}
	return nil
}

// checkSQLite is about the library, whose version matters: programs with an
// older one must not write to a file that is in use.
func (r *report) checkSQLite(version string) {
	if olderVersion(version, goodSQLite) {
		r.add(levelWarning, "sqlite", "this program has SQLite %s; before %s a reset of the write-ahead log may corrupt the file",
			version, goodSQLite)
		return
	}
	r.add(levelOK, "sqlite", "library %s; do not write to the file with sqlite3 programs before %s while it is in use",
		version, goodSQLite)
}

func (r *report) checkPostgres(version string) {
	if olderVersion(version, goodPostgres) {
		r.add(levelWarning, "postgres", "the server is PostgreSQL %s; nextrun needs %s or newer", version, goodPostgres)
		return
	}
	r.add(levelOK, "postgres", "server %s", version)
}

// olderVersion reports whether version a, such as 3.40.1, is older than b.
func olderVersion(a, b string) bool {
	numbers := func(version string) []int {
		var list []int
		for part := range strings.SplitSeq(version, ".") {
			digits := strings.IndexFunc(part+" ", func(r rune) bool { return r < '0' || r > '9' })
			n, _ := strconv.Atoi(part[:digits]) // what is no number counts as 0
			list = append(list, n)
		}
		return list
	}
	return slices.Compare(numbers(a), numbers(b)) < 0
}

// checkDocspell finds out whether this database is Docspell's, and warns if Docspell
// writes into it in another zone.
func (r *report) checkDocspell(ctx context.Context, db *store.DB) (err error) {
	if r.docspell, err = docspell.In(db).IsHere(ctx); err != nil {
		return err
	}
	offset, err := docspell.In(db).Offset(ctx)
	if err == nil && offset != 0 {
		r.add(levelWarning, "docspell", "its executors write times that are %s off from UTC, which nextrun reads them as; "+
			"have Docspell run in UTC, see docs/docspell.md", text.Text(offset.Abs()))
	}
	return err
}
