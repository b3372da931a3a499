// Package crontab reads crontabs, as crontab(5) describes them, and reports what
// nextrun cannot express.
package crontab

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/calendar"
)

// Options say how a crontab is read.
type Options struct {
	// Zone is the time zone of the machine. CRON_TZ in the crontab overrides it.
	// Empty: UTC.
	Zone string
	// Prefix is put before all ids: with NAME, backup becomes NAME-backup.
	// Empty: no prefix.
	Prefix string
	// System is true if a user name precedes each command, as in /etc/crontab and
	// /etc/cron.d.
	System bool
}

// Entry is a command of a crontab.
type Entry struct {
	Line    int
	ID      string   // from the name of the command; unique in the crontab
	Timer   string   // a cron expression with its zone
	Shell   string   // runs Command: SHELL -c COMMAND
	Command string   // one text, for the shell
	Env     []string // NAME=value
}

// Problem is something that nextrun cannot express.
type Problem struct {
	Line    int
	Text    string
	LeftOut bool // the line has no entry because of it
}

// Parse reads a crontab.
func Parse(text string, options Options) ([]Entry, []Problem) {
	r := reader{options: options, zone: options.Zone, shell: "/bin/sh", ids: map[string]bool{}}
	for line := range strings.SplitSeq(text, "\n") {
		r.line++
		r.read(strings.TrimSpace(line))
	}
	return r.entries, r.problems
}

// reader holds what earlier lines set for later ones, and the results.
type reader struct {
	options  Options
	line     int
	zone     string
	shell    string
	env      []string
	ids      map[string]bool
	entries  []Entry
	problems []Problem
}

func (r *reader) problem(leftOut bool, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.line, fmt.Sprintf(format, args...), leftOut})
}

var assignment = regexp.MustCompile(`^(?:"([^"]+)"|'([^']+)'|([A-Za-z_][A-Za-z0-9_]*))\s*=\s*(.*)$`)

func (r *reader) read(line string) {
	if line == "" || line[0] == '#' {
		return
	}
	if m := assignment.FindStringSubmatch(line); m != nil {
		r.assign(m[1]+m[2]+m[3], unquote(m[4]))
		return
	}
	r.command(line)
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
	case "SHELL":
		r.shell = value
	case "MAILTO", "MAILFROM":
		r.problem(false, "%s: nextrun sends no mail; output goes to the job's log", name)
	case "RANDOM_DELAY":
		r.problem(false, "%s: give the tasks a jitter instead", name)
	default:
		r.env = slices.DeleteFunc(slices.Clone(r.env), func(e string) bool { return strings.HasPrefix(e, name+"=") })
		r.env = append(r.env, name+"="+value)
	}
}

// nicknames are the names of crontab(5) as cron expressions.
var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

func (r *reader) command(line string) {
	fields := 5
	if line[0] == '@' {
		fields = 1
	}
	if r.options.System {
		fields++
	}
	words, command := cutFields(line, fields)
	if command == "" {
		r.problem(true, "this is no line of a crontab; use times and a command")
		return
	}
	if r.options.System {
		r.problem(false, "the command will run as the user of the executor, not as %s", words[fields-1])
		words = words[:fields-1]
	}
	expression := strings.Join(words, " ")
	if words[0] == "@reboot" {
		r.problem(true, "@reboot: no timer elapses when a machine starts; use the service manager, such as systemd")
		return
	}
	if nickname, ok := nicknames[words[0]]; ok {
		expression = nickname
	}
	timer := expression
	if r.zone != "" && r.zone != "UTC" {
		timer = "CRON_TZ=" + r.zone + " " + expression
	}
	if _, err := calendar.Parse(timer); err != nil {
		r.problem(true, "%v", err)
		return
	}
	if user := firstWord(command); !r.options.System && slices.Contains(usualUsers, user) {
		r.problem(false, "%q would be run as a program; if it is the user, as in /etc/crontab, import with --system", user)
	}
	command, stdin := cutInput(command)
	if stdin {
		r.problem(true, "%% in the command: nextrun has no input for commands; use a script")
		return
	}
	r.entries = append(r.entries, Entry{
		Line: r.line, ID: r.id(command), Timer: timer, Shell: r.shell, Command: command, Env: r.env,
	})
}

// usualUsers are common names in the user column of /etc/crontab. They are not
// names of programs.
var usualUsers = []string{"root", "daemon", "nobody", "www-data"}

func firstWord(text string) string {
	word, _, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	return word
}

// cutFields returns the first n fields of a line and what follows them.
func cutFields(line string, n int) (fields []string, rest string) {
	for rest = line; len(fields) < n && rest != ""; {
		end := strings.IndexAny(rest, " \t")
		if end < 0 {
			end = len(rest)
		}
		fields = append(fields, rest[:end])
		rest = strings.TrimLeft(rest[end:], " \t")
	}
	return fields, rest
}

// cutInput removes the backslashes before percent signs. It reports whether there
// is a percent sign without a backslash: the text after that is input.
func cutInput(command string) (clean string, input bool) {
	var b strings.Builder
	for i := 0; i < len(command); i++ {
		switch {
		case command[i] == '\\' && i+1 < len(command) && command[i+1] == '%':
			i++
		case command[i] == '%':
			return "", true
		}
		b.WriteByte(command[i])
	}
	return b.String(), false
}

// id makes a unique id from the name of the command.
func (r *reader) id(command string) string {
	name := strings.Trim(oddInID.ReplaceAllString(nameOf(command), ""), "-.")
	if name == "" {
		name = "cron"
	}
	name = name[:min(len(name), 200)]
	if r.options.Prefix != "" {
		name = r.options.Prefix + "-" + name
	}
	id := name
	for n := 2; r.ids[id]; n++ {
		id = fmt.Sprintf("%s-%d", name, n)
	}
	r.ids[id] = true
	return id
}
