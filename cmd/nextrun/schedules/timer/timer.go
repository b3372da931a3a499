// Package timer reads and writes timers of systemd, as systemd.timer(5) describes
// them, with the services that they start.
package timer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
)

// Kind is the format of timers.
type Kind struct{}

// Name implements [schedules.Kind].
func (Kind) Name() string { return "timer" }

var errNoName = errors.New("a timer is named after its file: name a file NAME.timer, or a directory, rather than standard input")

// Read implements [schedules.Kind]. A directory stands for all of its timers. Units
// and drop-ins are looked up in all directories that are named and in those of the
// files; the first one that has a unit counts.
func (Kind) Read(paths []string, o schedules.Options) (items []schedules.Item, err error) {
	f := &finder{options: o}
	var names []string
	named := map[string]bool{} // by the user, rather than found in a directory
	for _, path := range paths {
		if path == "-" {
			return nil, errNoName
		}
		info, err := os.Stat(path)
		switch template := templateOf(filepath.Base(path)); {
		case err == nil && info.IsDir():
			more, err := timersIn(path)
			if err != nil {
				return nil, err
			}
			f.add(path)
			names = append(names, more...)
		case err != nil && template == "":
			return nil, err
		case filepath.Ext(path) != ".timer":
			return nil, fmt.Errorf("%s is no timer: its name does not end with .timer", path)
		default:
			f.add(filepath.Dir(path))
			names, named[filepath.Base(path)] = append(names, filepath.Base(path)), true
		}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue // a directory in front has it, too
		}
		instances := slices.ContainsFunc(names, func(other string) bool { template := templateOf(other); return template == name })
		more, err := f.timer(name, instances)
		if err != nil && named[name] {
			return nil, err
		}
		if err != nil {
			more = []schedules.Item{schedules.Unreadable(filepath.Join(f.dirOf(name), name), err)}
		}
		items = append(items, more...)
	}
	return items, nil
}

func (f *finder) add(dir string) {
	if !slices.Contains(f.dirs, dir) {
		f.dirs = append(f.dirs, dir)
	}
}

// timer reads a timer. A template, of which instances are read as well, has none.
func (f *finder) timer(name string, instances bool) ([]schedules.Item, error) {
	u, err := f.load(name)
	if errors.Is(err, errMasked) {
		return []schedules.Item{{File: u.files[0], Source: name, Refused: err.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, fmt.Errorf("there is no %s, and no template for it; a link to it may lead nowhere", name)
	}
	if isTemplate(name) {
		if instances {
			return nil, nil
		}
		instance := strings.Replace(name, "@.", "@NAME.", 1)
		return []schedules.Item{{
			File: u.files[0], Source: name,
			Refused: "it is a template, which has no elapses; import its instances as " + filepath.Join(filepath.Dir(u.files[0]), instance),
		}}, nil
	}
	r := &reader{finder: f, unit: u}
	return r.read()
}
