package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// workers is the directory beside the database in which each worker that watches has a
// file, locked for as long as its process lives. The system gives the lock up with the
// process, however that ends. A file that nobody has locked is that of a worker that has
// ended.
//
// WAL mode binds all users of a database to one kernel, and so are these locks; a file
// names its kernel, and tells others nothing. Where files cannot be made or locked, leases
// decide.
type workers struct{ dir string }

// forgetAfter is how long the file of a worker that has ended stays.
const forgetAfter = time.Hour

// lookLater is when to look again for a directory that cannot be read.
const lookLater = 3 * time.Second

// The names of files: the boot id, and what follows it.
const (
	madeSuffix  = ".new"   // it is not locked yet
	endedSuffix = ".ended" // the worker has ended
)

// workersOf returns the directory of a database.
func workersOf(path string) workers {
	if path == "" {
		return workers{}
	}
	if name, err := filepath.EvalSymlinks(path); err == nil {
		path = name
	}
	return workers{dir: path + "-workers"}
}

// show makes the file of a worker and returns what removes it, nil if there is none.
func (w workers) show(worker string) (end func(), err error) {
	if w.dir == "" || kernel() == "" {
		return nil, nil
	}
	database, err := os.Stat(strings.TrimSuffix(w.dir, "-workers"))
	if err != nil {
		return nil, err
	}
	mode := database.Mode().Perm()
	name := filepath.Join(w.dir, service.BootID())
	f, err := w.make(name+madeSuffix, mode)
	if err != nil {
		return nil, err
	}
	w.tidy(time.Now(), f.Name())
	if err = lockFile(f, true); err == nil {
		_, err = f.WriteString(worker + "\n" + kernel() + "\n")
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return func() {
		_ = os.Remove(name)
		_ = f.Close()
		_ = os.Remove(w.dir) // unless there are others
	}, nil
}

// make makes a file, and the directory. Another worker that ends may remove that again.
func (w workers) make(name string, mode os.FileMode) (f *os.File, err error) {
	for range 10 {
		if err = os.Mkdir(w.dir, 0o700); err == nil {
			err = os.Chmod(w.dir, mode|mode&0o444>>2) // who may read the database may enter
		}
		if err == nil || errors.Is(err, os.ErrExist) {
			f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		}
		if !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	return f, err
}

// list returns the workers whose processes have ended, or those whose processes live.
func (w workers) list(ended bool) ([]string, error) {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), madeSuffix) {
			continue
		}
		if worker, lives := readWorker(filepath.Join(w.dir, e.Name())); worker != "" && lives != ended {
			list = append(list, worker)
		}
	}
	return list, nil
}

// readWorker reads a file, and reports whether its worker lives; of one that is not known,
// it returns no name.
func readWorker(name string) (worker string, lives bool) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return "", false
	}
	defer f.Close() //nolint:errcheck // it was only read
	switch err := lockFile(f, false); {
	case errors.Is(err, errors.ErrUnsupported):
		return "", false
	case err != nil: // its worker has it
		lives = true
	}
	text := make([]byte, 1024)
	n, _ := f.Read(text)
	lines := strings.Split(string(text[:n]), "\n")
	if len(lines) != 3 || lines[1] != kernel() {
		return "", false
	}
	if _, err := os.Stat(name); err != nil { // it was removed as the worker stopped
		return "", false
	}
	return lines[0], lives
}

// tidy removes the files of workers that ended long ago, but not a file of our own.
func (w workers) tidy(now time.Time, own string) {
	entries, _ := os.ReadDir(w.dir)
	for _, e := range entries {
		name := filepath.Join(w.dir, e.Name())
		info, err := e.Info()
		if err != nil || name == own {
			continue
		}
		old := now.Sub(info.ModTime()) > forgetAfter
		if strings.HasSuffix(name, madeSuffix) && !old {
			continue // somebody is about to lock it
		}
		switch worker, lives := readWorker(name); {
		case old && (strings.HasSuffix(name, endedSuffix) || strings.HasSuffix(name, madeSuffix)):
			_ = os.Remove(name)
		case worker != "" && !lives && !strings.HasSuffix(name, endedSuffix):
			if os.Chtimes(name, now, now) == nil {
				_ = os.Rename(name, name+endedSuffix)
			}
		}
	}
}

// kernel tells the kernel on which this process runs from others, and from itself before
// it was started again. It is empty where that is not known.
var kernel = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id") // Linux
	if err == nil {
		return strings.TrimSpace(string(id))
	}
	host, _ := os.Hostname()
	return host
})

// Ended implements [sqldb.Dialect].
func (d *dialect) Ended(context.Context) ([]string, time.Duration, error) {
	list, err := d.workers.list(true)
	if err != nil {
		return nil, lookLater, nil //nolint:nilerr // there is no directory, or none to read: leases decide
	}
	return list, 0, nil
}

// Living implements [sqldb.Dialect].
func (d *dialect) Living(context.Context) ([]string, error) {
	list, err := d.workers.list(false)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return list, err
}
