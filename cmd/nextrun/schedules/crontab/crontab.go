// Package crontab reads and writes crontabs, as crontab(5) describes them.
package crontab

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
)

// Kind is the format of crontabs.
type Kind struct{}

// Name implements [schedules.Kind].
func (Kind) Name() string { return "crontab" }

// Read implements [schedules.Kind]. A directory is one like /etc/cron.d: its files
// have a column of users, and cron passes over some names.
func (Kind) Read(paths []string, o schedules.Options) (items []schedules.Item, err error) {
	for _, path := range paths {
		if info, err := os.Stat(path); path != "-" && err == nil && info.IsDir() {
			list, err := readDirectory(path, o)
			if err != nil {
				return nil, err
			}
			items = append(items, list...)
			continue
		}
		list, err := readFile(path, o)
		if err != nil {
			return nil, err
		}
		items = append(items, list...)
	}
	return items, nil
}

func readFile(path string, o schedules.Options) ([]schedules.Item, error) {
	text, err := schedules.ReadFile(path, o)
	if err != nil {
		return nil, err
	}
	if absolute, err := filepath.Abs(path); err == nil && path != "-" {
		o.System = o.System || absolute == "/etc/crontab" || filepath.Base(filepath.Dir(absolute)) == "cron.d"
	}
	return Parse(path, text, o), nil
}

// seen are the names that cron reads in /etc/cron.d.
var seen = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func readDirectory(dir string, o schedules.Options) (items []schedules.Item, err error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	o.System = true
	for _, f := range list {
		path := filepath.Join(dir, f.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
			items = append(items, schedules.Unreadable(path, err))
		case !info.Mode().IsRegular():
		case !seen.MatchString(f.Name()):
			items = append(items, schedules.Item{
				File: path, Source: f.Name(),
				Refused: "cron does not read a file of such a name either",
			})
		default:
			more, err := readFile(path, o)
			if err != nil {
				more = []schedules.Item{schedules.Unreadable(path, err)}
			}
			items = append(items, more...)
		}
	}
	return items, nil
}

// Parse reads a crontab. path is its name in the report.
func Parse(path, text string, o schedules.Options) []schedules.Item {
	r := reader{path: path, options: o, zone: o.Zone, shell: "/bin/sh"}
	for line := range strings.SplitSeq(text, "\n") {
		r.line++
		if len(r.items) == schedules.MaxItems {
			return append(r.items, schedules.TooMany(path, r.line))
		}
		r.read(strings.TrimSpace(line))
	}
	return r.items
}

// reader holds what earlier lines set for later ones, and the results.
type reader struct {
	path    string
	options schedules.Options
	line    int
	zone    string
	shell   string
	home    string
	env     []string
	items   []schedules.Item
}

func (r *reader) add(item schedules.Item) {
	item.File, item.Line = r.path, r.line
	r.items = append(r.items, item)
}

func (r *reader) note(source, format string, args ...any) {
	r.add(schedules.Item{Source: source, Changed: []string{fmt.Sprintf(format, args...)}})
}

var assignment = regexp.MustCompile(`^(?:"([^"]+)"|'([^']+)'|([A-Za-z_][A-Za-z0-9_]*))\s*=\s*(.*)$`)

func (r *reader) read(line string) {
	if line == "" || line[0] == '#' {
		return
	}
	if err := schedules.CheckText(line); err != nil {
		r.add(schedules.Item{Source: schedules.Shorten(line), Refused: err.Error()})
		return
	}
	if m := assignment.FindStringSubmatch(line); m != nil {
		r.assign(m[1]+m[2]+m[3], unquote(m[4]))
		return
	}
	item := schedules.Item{Source: schedules.Shorten(line)}
	r.command(line, &item)
	r.add(item)
}

func unquote(value string) string {
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}

// assign reads an environment setting. Some have a meaning for cron itself.
func (r *reader) assign(name, value string) {
	switch name {
	case "CRON_TZ":
		r.zone = cmp.Or(value, r.options.Zone)
		if value != "" {
			r.note(name, "the lines below elapse in the zone %s, as with cronie; Debian's cron ignores CRON_TZ", value)
		}
		return
	case "SHELL":
		r.shell = value
		return
	case "MAILTO", "MAILFROM":
		if value != "" {
			r.note(name, "%s: nextrun sends no mail; output goes to the job's log", name)
		}
		return
	case "RANDOM_DELAY":
		r.note(name, "%s: give the tasks a jitter instead", name)
		return
	case "HOME":
		r.home = value
	}
	r.env = slices.DeleteFunc(slices.Clone(r.env), func(e string) bool { return strings.HasPrefix(e, name+"=") })
	r.env = append(r.env, name+"="+value)
}
