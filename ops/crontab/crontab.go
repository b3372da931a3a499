// Package crontab translates crontabs, as crontab(5) describes them, into tasks and the handlers that run their
// commands.
package crontab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/periodic"
)

// Options say how a crontab is read.
type Options struct {
	Zone   string // of times without a CRON_TZ; empty: UTC
	System bool   // a user name precedes each command, as in /etc/crontab
	Prefix string // begins all ids: PREFIX-backup; empty: none
}

// Crontab is what a crontab comes to.
type Crontab struct {
	Tasks    []periodic.Task                    // each names the handler of its own id
	Handlers map[string]*handlers.CommandConfig // by that id
	Notes    []Note
}

// Note says of a line what is not as it was with cron.
type Note struct {
	Line    int
	Source  string // the line, shortened
	Text    string
	LeftOut bool // the line has no task
}

// maxVariables bounds the variables of all handlers, each of which has those that are set above its line.
const maxVariables = 1_000_000

// ErrVariables is the error of [Parse] for a crontab with too many variables.
var ErrVariables = errors.New("its commands have more than a million variables in all; split the file")

// Parse reads a crontab. The error is that of ctx, or [ErrVariables].
func Parse(ctx context.Context, content string, o Options) (Crontab, error) {
	r := reader{
		Crontab: Crontab{Handlers: map[string]*handlers.CommandConfig{}}, options: o, zone: o.Zone, shell: "/bin/sh",
		set: map[string]int{}, numbers: map[string]int{}, users: map[string]bool{},
	}
	for line := range strings.Lines(strings.TrimPrefix(content, "\ufeff")) {
		if r.line++; ctx.Err() != nil {
			return r.Crontab, ctx.Err()
		}
		if r.read(strings.TrimSpace(line)); r.variables > maxVariables {
			return r.Crontab, ErrVariables
		}
	}
	return r.Crontab, nil
}

// reader holds the results, and what earlier lines set for later ones.
type reader struct {
	Crontab
	options   Options
	line      int
	source    string // the line, shortened
	zone      string
	shell     string
	home      string
	env       []string       // NAME=value
	set       map[string]int // their places in env by name
	shared    bool           // a handler has env
	variables int            // of all handlers
	numbers   map[string]int // how often a name was given
	users     map[string]bool
}

func (r *reader) note(format string, args ...any) {
	r.Notes = append(r.Notes, Note{Line: r.line, Source: r.source, Text: fmt.Sprintf(format, args...)})
}

func (r *reader) leaveOut(why string) {
	r.Notes = append(r.Notes, Note{r.line, r.source, why, true})
}

var assignment = regexp.MustCompile(`^(?:"([^"]+)"|'([^']+)'|([A-Za-z_][A-Za-z0-9_]*))\s*=\s*(.*)$`)

func (r *reader) read(line string) {
	if line == "" || line[0] == '#' {
		return
	}
	r.source = text.FirstLine(strings.ToValidUTF8(line, "?"))
	if !text.Valid(line) {
		r.leaveOut("it is not UTF-8 text, or has a NUL character")
		return
	}
	if m := assignment.FindStringSubmatch(line); m != nil {
		r.assign(m[1]+m[2]+m[3], unquote(m[4]))
		return
	}
	if timer, command, err := r.split(line); err != nil {
		r.leaveOut(err.Error())
	} else {
		r.add(timer, command)
	}
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
			r.note("the lines below elapse in the zone %s, as with cronie; Debian's cron ignores CRON_TZ", value)
		}
		return
	case "SHELL":
		r.shell = value
		return
	case "MAILTO", "MAILFROM":
		if value != "" {
			r.note("nextrun sends no mail; output goes to the job's log")
		}
		return
	case "RANDOM_DELAY":
		r.note("give the tasks a jitter instead")
		return
	case "HOME":
		r.home = value
	}
	if strings.Contains(value, "${") {
		r.note("left out: nextrun would put a variable or a file of its own into the value; write it in the configuration file")
		return
	}
	if r.shared {
		r.env, r.shared = slices.Clone(r.env), false
	}
	place, is := r.set[name]
	if !is {
		place = len(r.env)
		r.set[name], r.env = place, append(r.env, "")
	}
	r.env[place] = name + "=" + value
}

// add makes the task and the handler of a line.
func (r *reader) add(timer, command string) {
	id := r.id(command)
	task := periodic.NewTask(id, id, timer)
	task.Summary = text.FirstLine(command)
	task.Catchup = periodic.CatchupNone // cron forgets what fell due while it did not run
	r.Tasks = append(r.Tasks, task)
	r.Handlers[id] = &handlers.CommandConfig{Argv: []string{r.shell, "-c", command}, Env: r.env, Dir: r.home}
	r.shared, r.variables = true, r.variables+len(r.env)
}

// id is the name of a command, with a number if an earlier line has it.
func (r *reader) id(command string) string {
	name := nameOf(command)
	if r.options.Prefix != "" {
		name = r.options.Prefix + "-" + name
	}
	for {
		r.numbers[name]++
		id := name
		if n := r.numbers[name]; n > 1 {
			id = fmt.Sprintf("%s-%d", name, n)
		}
		if _, taken := r.Handlers[id]; !taken {
			return id
		}
	}
}
