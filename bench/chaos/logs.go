//go:build linux

package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

// logsOf are the logs of the processes and servers of a run.
func logsOf(dir string) fs.FS { return logs{os.DirFS(dir)} }

// logs shows the files of a directory whose names end with .log, and those of servers.
type logs struct{ fs.FS }

// ReadDir implements [fs.ReadDirFS].
func (l logs) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(l.FS, name)
	var kept []fs.DirEntry
	for _, e := range list {
		isLog := filepath.Ext(e.Name()) == ".log" || e.Name() == "log"
		if isLog || name == "." && e.IsDir() {
			kept = append(kept, e)
		}
	}
	return kept, err
}
