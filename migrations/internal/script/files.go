// Package script has the SQL files of the migrations as texts: which there are, and
// how they read for a database. It knows no connection.
//
// They are templates as of text/template, over what was there before nextrun:
//
//	schema                  the schema of PostgreSQL, quoted
//	found "job"             the table was there before nextrun
//	found "joblog.counter"  so was that column
//	file                    the name in nextrun_found of the files that make the schema
//	foundNames              all such names
//	withoutDefault "job"    expected columns that have no default of their own
package script

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// Files are the SQL files of a dialect.
type Files struct {
	FS      fs.FS // with a folder for each dialect
	Dialect tables.Dialect
}

// File is a migration.
type File struct {
	Version int64
	Name    string
}

// Known lists the files, oldest first.
func (f Files) Known() ([]File, error) {
	paths, err := fs.Glob(f.FS, string(f.Dialect)+"/*.sql")
	if err != nil {
		return nil, err
	}
	var list []File
	for _, path := range paths {
		name := strings.TrimPrefix(path, string(f.Dialect)+"/")
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number: %w", path, err)
		}
		list = append(list, File{Version: version, Name: name})
	}
	return list, nil
}

// MadeBy begins the row of nextrun_found that has the checksum of the files that made the schema.
const MadeBy = "made by "

// Made is that row of these files.
func (f Files) Made() (string, error) {
	sum, err := f.Checksum()
	return MadeBy + sum, err
}

// Checksum is that of all files.
func (f Files) Checksum() (string, error) {
	known, err := f.Known()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, a := range known {
		text, err := fs.ReadFile(f.FS, string(f.Dialect)+"/"+a.Name)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", a.Name, err)
		}
		fmt.Fprintf(hash, "%s %d\n%s", a.Name, len(text), text)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]), nil
}
