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
// before nextrun did exist. What it lacks, nextrun makes only in its own tables.
func (m *Migrator) Snapshot(ctx context.Context, found *Migrator) ([]byte, error) {
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
	return s.json()
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
	slices.SortFunc(s.Objects, func(a, b object) int {
		return strings.Compare(a.Table+"\x00"+a.Kind+"\x00"+a.Name, b.Table+"\x00"+b.Kind+"\x00"+b.Name)
	})
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
