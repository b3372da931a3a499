package sqldb

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
)

// refused is the class of an error that says that the file system does not let
// this user do something with the database.
func (f *sqliteFile) refused(what string) error {
	who := "this user"
	if u, err := user.Current(); err == nil {
		who = fmt.Sprintf("user %s (%s)", u.Username, u.Uid)
	}
	mode := func(path string) string {
		info, err := os.Stat(path)
		if err != nil {
			return "unknown"
		}
		return info.Mode().String()
	}
	return sentinel{fmt.Sprintf("%s cannot %s the database file %s (mode %s) or its directory (mode %s)",
		who, what, f.given, mode(f.path), mode(filepath.Dir(f.path))), ErrUnavailable}
}
