package migrations

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

//go:embed postgres/*.sql sqlite/*.sql
var files embed.FS

// file is a migration.
type file struct {
	version int64 // the number that its name begins with
	name    string
	text    string
	oldest  int64 // the least number whose programs may run with it
}

// embedded are those of this program.
func embedded(dialect Dialect) (list []file) {
	entries, _ := files.ReadDir(string(dialect)) // of another dialect there are none
	for _, entry := range entries {
		text, _ := files.ReadFile(string(dialect) + "/" + entry.Name()) // it is there
		list = append(list, newFile(entry.Name(), string(text)))
	}
	return list
}

// newFile reads the version from the name of a file, and from its text which programs it lets run: of the first all.
func newFile(name, text string) file {
	f := file{name: name, text: text, oldest: 1}
	_, _ = fmt.Sscanf(name, "%d_", &f.version)
	if _, line, found := strings.Cut(text, "\n-- oldest: "); found {
		_, _ = fmt.Sscanf(line, "%d", &f.oldest)
	}
	return f
}

// number is that of the program: of the newest migration that it knows.
func (m *Migrator) number() int64 { return m.files[len(m.files)-1].version }

// madeBy is the row of nextrun_found that has the checksum of a file that was applied.
func (f file) madeBy() string {
	sum := sha256.Sum256([]byte(f.text))
	return "made by " + hex.EncodeToString(sum[:8])
}

// oldestIs begins the rows of nextrun_found that say which programs may run.
const oldestIs = "oldest "

// record is the statement that keeps what a program has to know of the file that does not have it; the first one, which makes
// the table, does it itself.
func (f file) record() string {
	if f.version == 1 {
		return ""
	}
	return fmt.Sprintf("\nINSERT INTO nextrun_found (name) VALUES ('%s'), ('%s%d %s');\n", f.madeBy(), oldestIs, f.oldest, f.name)
}

// suits returns why this program cannot run on a database that has a schema.
func (m *Migrator) suits(s state) error {
	for _, f := range m.files {
		if f.version <= s.version && !s.found[f.madeBy()] {
			return ErrOther
		}
	}
	if oldest := oldestOf(s); oldest > m.number() {
		return fmt.Errorf("%w: it has migration %d, which needs programs that know migration %d at least, and this one knows %d; install a newer nextrun",
			ErrNewer, s.version, oldest, m.number())
	}
	return nil
}

// oldestOf is the least number whose programs may run on a database.
func oldestOf(s state) int64 {
	oldest := int64(1)
	for name := range s.found {
		if rest, is := strings.CutPrefix(name, oldestIs); is {
			var n int64
			_, _ = fmt.Sscan(rest, &n)
			oldest = max(oldest, n)
		}
	}
	return oldest
}

// newer are the migrations of a database that this program does not know.
func (m *Migrator) newer(s state) (list []Status) {
	for name := range s.found {
		rest, is := strings.CutPrefix(name, oldestIs)
		_, name, _ := strings.Cut(rest, " ")
		if f := newFile(name, ""); is && f.version > m.number() {
			list = append(list, Status{Applied: Applied{Version: f.version, Name: f.name}, Done: true, Newer: true})
		}
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.Version, b.Version) })
	return list
}

// ShutsOut is what [Migrator.Up] would do to programs that run: those that know less migrations than Below could
// not be started any more. No program that runs now knows more than Known. 0: there is nothing that shuts out.
type ShutsOut struct{ Below, Known int64 }

// All reports whether no program that runs now could be started again.
func (o ShutsOut) All() bool { return o.Below > o.Known }

// ShutsOut says which programs [Migrator.Up] would shut out.
func (m *Migrator) ShutsOut(ctx context.Context) (out ShutsOut, err error) {
	s, err := m.state(ctx)
	if err != nil || s.version == 0 {
		return out, err
	}
	pending := slices.DeleteFunc(slices.Clone(m.files), func(f file) bool { return f.version <= s.version })
	if len(pending) == 0 {
		return out, nil
	}
	most := slices.MaxFunc(pending, func(a, b file) int { return cmp.Compare(a.oldest, b.oldest) })
	if most.oldest > oldestOf(s) {
		out = ShutsOut{Below: most.oldest, Known: s.version}
	}
	return out, nil
}
