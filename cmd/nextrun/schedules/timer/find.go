package timer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
)

// finder finds units in directories. The first directory that has one wins, as
// /etc/systemd/system goes before /usr/lib/systemd/system.
type finder struct {
	dirs    []string
	options schedules.Options
}

// masked is a unit that a link to /dev/null disables.
var errMasked = errors.New("it is masked: a link to /dev/null")

// load reads a unit with its drop-ins. It returns nil if no directory has it.
func (f *finder) load(name string) (*unit, error) {
	u := &unit{name: name}
	template := templateOf(name)
	for _, candidate := range []string{name, template} {
		path := f.path(candidate)
		if path == "" {
			continue
		}
		if target, err := filepath.EvalSymlinks(path); err == nil && target == os.DevNull {
			u.files = []string{path}
			return u, errMasked
		}
		if err := f.read(u, path); err != nil {
			return nil, err
		}
		for _, dropIn := range f.dropIns(name, template) {
			if err := f.read(u, dropIn); err != nil {
				return nil, err
			}
		}
		return u, nil
	}
	return nil, nil //nolint:nilnil // there is no such unit, and nothing failed
}

func (f *finder) read(u *unit, path string) error {
	text, err := schedules.ReadFile(path, f.options)
	if err == nil {
		u.parse(path, text)
	}
	return err
}

// path is the file of a unit, empty if there is none.
func (f *finder) path(name string) string {
	if name == "" {
		return ""
	}
	for _, dir := range f.dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}

// dirOf is the first directory that has an entry of a name, even a link that leads nowhere.
func (f *finder) dirOf(name string) string {
	for _, dir := range f.dirs {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return dir
		}
	}
	return ""
}

// dropIns are the files NAME.d/*.conf of a unit, of its template, of the beginnings of
// its name up to each dash, and of its type. Of those with the same name, the most
// special one counts; they are read in the order of their names.
func (f *finder) dropIns(name, template string) (paths []string) {
	suffix := filepath.Ext(name)
	dirs := []string{name + ".d"}
	if template != "" {
		dirs = append(dirs, template+".d")
	}
	stem := strings.TrimSuffix(name, suffix)
	for i := len(stem) - 1; i > 0; i-- {
		if stem[i-1] == '-' {
			dirs = append(dirs, stem[:i]+suffix+".d")
		}
	}
	dirs = append(dirs, strings.TrimPrefix(suffix, ".")+".d")
	byName := map[string]string{}
	for _, d := range dirs {
		for _, dir := range f.dirs {
			found, _ := filepath.Glob(filepath.Join(escapeGlob(filepath.Join(dir, d)), "*.conf"))
			for _, path := range found {
				if _, has := byName[filepath.Base(path)]; !has {
					byName[filepath.Base(path)] = path
				}
			}
		}
	}
	for _, path := range byName {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	return slices.DeleteFunc(paths, func(path string) bool {
		target, err := filepath.EvalSymlinks(path)
		return err == nil && target == os.DevNull
	})
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// timersIn are the names of the timers of a directory: its files, and the links that
// `systemctl enable` makes for the instances of a template.
func timersIn(dir string) (names []string, err error) {
	add := func(list []fs.DirEntry) {
		for _, f := range list {
			if !f.IsDir() && strings.HasSuffix(f.Name(), ".timer") && !slices.Contains(names, f.Name()) {
				names = append(names, f.Name())
			}
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	add(list)
	for _, f := range list {
		if f.IsDir() && (strings.HasSuffix(f.Name(), ".wants") || strings.HasSuffix(f.Name(), ".requires")) {
			more, err := os.ReadDir(filepath.Join(dir, f.Name()))
			if err != nil {
				return nil, err
			}
			add(slices.DeleteFunc(more, func(f fs.DirEntry) bool { template := templateOf(f.Name()); return template == "" }))
		}
	}
	slices.Sort(names)
	return names, nil
}
