package shape

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// Snapshot is the schema that the migrations make of an empty database. It is
// made by `make snapshot`, and a test compares it with such a database.
type Snapshot struct {
	Version int64    `json:"version"` // of the newest migration
	Files   string   `json:"files"`   // checksum of the migrations
	Server  string   `json:"server"`  // major version of PostgreSQL, which prints views in its own way
	Objects []Object `json:"objects"`
}

// Parse reads a snapshot.
func Parse(text []byte) (Snapshot, error) {
	var s Snapshot
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read the expected schema: %w", err)
	}
	return s, nil
}

// Mark says of each object of a snapshot in which databases it is expected. shared is
// what a database has in which all tables that may exist before nextrun did exist: what
// it lacks, nextrun makes only in its own tables. bare is one without the tables of jobs.
func (s *Snapshot) Mark(shared, bare []Object) {
	for i, o := range s.Objects {
		same := func(f Object) bool {
			return f.Kind == o.Kind && f.Table == o.Table && f.Name == o.Name && (o.Kind == Table || f.Text == o.Text)
		}
		s.Objects[i].Own = !slices.ContainsFunc(shared, same)
	}
	s.Objects = withShapes(s.Objects, bare)
	slices.SortFunc(s.Objects, func(a, b Object) int {
		return strings.Compare(a.Table+"\x00"+a.Kind+"\x00"+a.Name+"\x00"+a.Jobs, b.Table+"\x00"+b.Kind+"\x00"+b.Name+"\x00"+b.Jobs)
	})
}

// withShapes marks the objects that are not the same without the tables of jobs, and
// adds those that only such a database has.
func withShapes(objects, without []Object) []Object {
	key := func(o Object) string { return o.Key() + "\x00" + o.Text + "\x00" + o.Default }
	keys := func(list []Object) map[string]bool {
		set := map[string]bool{}
		for _, o := range list {
			set[key(o)] = true
		}
		return set
	}
	with, bare := keys(objects), keys(without)
	for i, o := range objects {
		if !bare[key(o)] {
			objects[i].Jobs = OnlyWith
		}
	}
	for _, o := range without {
		if !with[key(o)] {
			o.Jobs = OnlyWithout
			objects = append(objects, o)
		}
	}
	return objects
}

// Server is the major version of PostgreSQL, empty for SQLite.
func Server(ctx context.Context, q tables.Querier, dialect tables.Dialect) (string, error) {
	if dialect == tables.SQLite {
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

// JSON is the snapshot with one object on a line, for short diffs.
func (s Snapshot) JSON() ([]byte, error) {
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
