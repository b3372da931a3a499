package crontab

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/periodic"
)

// Nicknames are the names of crontab(5) as cron expressions.
var Nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// command reads a line with times and a command.
func (r *reader) command(line string, item *schedules.Item) {
	fields := 5
	if line[0] == '@' {
		fields = 1
	}
	if r.options.System {
		fields++
	}
	line, quiet := strings.CutPrefix(line, "-")
	words, command := cutFields(line, fields)
	if command == "" {
		item.Refused = "this is no line of a crontab; use times and a command"
		return
	}
	if quiet {
		item.Change("the - in front, which keeps some crons from logging the line, has no meaning")
	}
	if r.options.System {
		item.Change(fmt.Sprintf("the command will run as the user of the executor, not as %s", words[fields-1]))
		words = words[:fields-1]
	}
	if item.Refused = notTimed(words[0]); item.Refused != "" {
		return
	}
	expression := strings.Join(words, " ")
	if nickname, ok := Nicknames[words[0]]; ok {
		expression = nickname
	}
	timer, err := Timer(expression, r.zone)
	if err != nil {
		item.Refused = err.Error()
		return
	}
	if user := firstWord(command); !r.options.System && slices.Contains(usualUsers, user) {
		item.Change(fmt.Sprintf("%q would be run as a program; if it is the user, as in /etc/crontab, import with --system", user))
	}
	command, stdin := cutInput(command)
	if stdin {
		item.Refused = "% in the command: nextrun has no input for commands; use a script"
		return
	}
	item.Entry = r.entry(timer, command)
}

// notTimed says why a name never elapses; empty: it is none, or it does.
func notTimed(name string) string {
	if name == "@reboot" {
		return "@reboot: no timer elapses when a machine starts; use the service manager, such as systemd"
	}
	if lower := strings.ToLower(name); lower != name && (Nicknames[lower] != "" || lower == "@reboot") {
		return fmt.Sprintf("%s: cron knows only %s, so this line has never run", name, lower)
	}
	return ""
}

func (r *reader) entry(timer, command string) *schedules.Entry {
	task := periodic.NewTask("", "", timer)
	task.Summary = schedules.Shorten(command)
	task.Catchup = periodic.CatchupNone // cron forgets what fell due while it did not run
	argv := []string{r.shell, "-c", command}
	names := []string{name(command)}
	if base := schedules.Name(filepath.Base(r.path)); r.path != "-" && base != "crontab" && base != "" {
		names = append(names, base+"-"+names[0]) // as two files of /etc/cron.d may run the same
	}
	return &schedules.Entry{
		Names: names, Origin: schedules.NewOrigin(r.options.Host, r.path), Task: task,
		Handler: &config.Handler{Command: &handlers.CommandConfig{Argv: argv, Env: r.env, Dir: r.home}},
		Payload: schedules.CommandPayload{Command: argv, Env: r.env, Dir: r.home},
	}
}

// loneStep finds a step without a range, which nextrun knows and Vixie's cron refuses.
var loneStep = regexp.MustCompile(`(?:^|[ ,])([0-9A-Za-z]+/[0-9]+)`)

// Timer is the timer of a cron expression as Vixie's cron reads it, in a zone. UTC
// and none need no mention.
func Timer(expression, zone string) (string, error) {
	if len(strings.Fields(expression)) != 5 {
		return "", fmt.Errorf("%q is no cron expression of five fields", expression)
	}
	if m := loneStep.FindStringSubmatch(expression); m != nil {
		return "", fmt.Errorf("%s: cron knows no step without a range, so this line has never run; write FIRST-LAST/STEP", m[1])
	}
	if strings.ContainsAny(expression, "?#LWlw") && onlyOurs.MatchString(expression) {
		return "", fmt.Errorf("%q: cron knows no ?, L, W and #", expression)
	}
	expression = allDays(expression)
	if zone != "" && zone != "UTC" {
		expression = "CRON_TZ=" + zone + " " + expression
	}
	_, err := calendar.Parse(expression)
	return expression, err
}

// allDays writes a list of days that begins with a star as a star: for cron it restricts
// nothing, and lets the other field of days count alone.
func allDays(expression string) string {
	fields := strings.Fields(expression)
	for _, i := range []int{2, 4} {
		if strings.HasPrefix(fields[i], "*,") {
			fields[i] = "*"
		}
	}
	return strings.Join(fields, " ")
}

// onlyOurs finds what nextrun knows in the fields of days, and Vixie's cron does not.
var onlyOurs = regexp.MustCompile(`[?#]|[0-9][LlWw]|(?:^|[ ,])[Ll](?:[ ,]|$)`)

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

// name is the id for a line, from the name of its command.
func name(command string) string {
	name := strings.Trim(oddInID.ReplaceAllString(nameOf(command), ""), "-.")
	if name == "" {
		return "cron"
	}
	return schedules.Name(name)
}
