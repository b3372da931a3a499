package migrations

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed snapshot/*.json
var snapshots embed.FS

// snapshot is the schema that the migrations make of an empty database. It is
// made by `make snapshot`, and a test compares it with such a database.
type snapshot struct {
	Version int64    `json:"version"` // of the newest migration
	Files   string   `json:"files"`   // checksum of the migrations
	Server  string   `json:"server"`  // major version of PostgreSQL, which prints views in its own way
	Objects []object `json:"objects"`
}

// expected is the embedded snapshot of a dialect.
func expected(dialect Dialect) (snapshot, error) {
	var s snapshot
	text, err := snapshots.ReadFile("snapshot/" + string(dialect) + ".json")
	if err != nil {
		return s, fmt.Errorf("read the expected schema: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read the expected schema: %w", err)
	}
	return s, nil
}

// Snapshot describes the schema of a database in which nextrun has created all
// its tables. Only `make snapshot` calls it; [Migrator.Check] compares databases
// with the result. found is a second database, in which all tables that may exist
// before nextrun did exist. What it lacks, nextrun makes only in its own tables. bare
// is one without the tables of jobs.
func (m *Migrator) Snapshot(ctx context.Context, found, bare *Migrator) ([]byte, error) {
	s, err := m.describe(ctx)
	if err != nil {
		return nil, err
	}
	shared, err := found.inspect(ctx, found.db)
	if err != nil {
		return nil, err
	}
	for i, o := range s.Objects {
		same := func(f object) bool {
			return f.Kind == o.Kind && f.Table == o.Table && f.Name == o.Name && (o.Kind == kindTable || f.Text == o.Text)
		}
		s.Objects[i].Own = !slices.ContainsFunc(shared, same)
	}
	without, err := bare.inspect(ctx, bare.db)
	if err != nil {
		return nil, err
	}
	s.Objects = withShapes(s.Objects, without)
	sortObjects(s.Objects)
	return s.json()
}

// withShapes marks the objects that are not the same without the tables of jobs, and
// adds those that only such a database has.
func withShapes(objects, without []object) []object {
	key := func(o object) string { return o.key() + "\x00" + o.Text + "\x00" + o.Default }
	keys := func(list []object) map[string]bool {
		set := map[string]bool{}
		for _, o := range list {
			set[key(o)] = true
		}
		return set
	}
	with, bare := keys(objects), keys(without)
	for i, o := range objects {
		if !bare[key(o)] {
			objects[i].Jobs = onlyWith
		}
	}
	for _, o := range without {
		if !with[key(o)] {
			o.Jobs = onlyWithout
			objects = append(objects, o)
		}
	}
	return objects
}

func sortObjects(objects []object) {
	slices.SortFunc(objects, func(a, b object) int {
		return strings.Compare(a.Table+"\x00"+a.Kind+"\x00"+a.Name+"\x00"+a.Jobs, b.Table+"\x00"+b.Kind+"\x00"+b.Name+"\x00"+b.Jobs)
	})
}

func (m *Migrator) describe(ctx context.Context) (snapshot, error) {
	var s snapshot
	var err error
	if s.Version, err = m.Version(ctx); err != nil {
		return s, err
	}
	if s.Files, err = m.checksum(); err != nil {
		return s, err
	}
	if s.Server, err = m.server(ctx, m.db); err != nil {
		return s, err
	}
	if s.Objects, err = m.inspect(ctx, m.db); err != nil {
		return s, err
	}
	sortObjects(s.Objects)
	return s, nil
}

// checksum is that of the migrations of the dialect.
func (m *Migrator) checksum() (string, error) {
	known, err := m.known()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, a := range known {
		text, err := fs.ReadFile(m.files, string(m.dialect)+"/"+a.Name)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", a.Name, err)
		}
		fmt.Fprintf(hash, "%s %d\n%s", a.Name, len(text), text)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]), nil
}

// server is the major version of PostgreSQL, empty for SQLite.
func (m *Migrator) server(ctx context.Context, q querier) (string, error) {
	if m.dialect == SQLite {
		return "", nil
	}
	rows, err := q.QueryContext(ctx, "SELECT current_setting('server_version_num')::int / 10000")
	if err != nil {
		return "", fmt.Errorf("ask for the server's version: %w", err)
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	var version string
	for rows.Next() {
		if err := rows.Scan(&version); err != nil {
			return "", fmt.Errorf("ask for the server's version: %w", err)
		}
	}
	return version, rows.Err()
}

// json is the snapshot with one object on a line, for short diffs.
func (s snapshot) json() ([]byte, error) {
	lines := make([]string, len(s.Objects))
	for i, o := range s.Objects {
		var line strings.Builder
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(o); err != nil {
			return nil, err
		}
		lines[i] = "  " + strings.TrimSpace(line.String())
	}
	return fmt.Appendf(nil, "{\"version\": %d, \"files\": %q, \"server\": %q, \"objects\": [\n%s\n]}\n",
		s.Version, s.Files, s.Server, strings.Join(lines, ",\n")), nil
}
