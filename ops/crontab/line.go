package crontab

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
)

// nicknames are the names of crontab(5) as cron expressions.
var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// usualUsers are common names in the user column of /etc/crontab. They are not names of programs.
var usualUsers = []string{"root", "daemon", "nobody", "www-data"}

// sixth finds a field of times where a command should begin.
var sixth = regexp.MustCompile(`^(?:[0-9*?,/-]+|(?i:(?:sun|mon|tue|wed|thu|fri|sat)[,-]?)+)$`)

// split splits a line with times and a command. The error says why cron refuses it or never runs it, or what
// nextrun cannot do.
func (r *reader) split(line string) (timer, command string, err error) {
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
		return "", "", errors.New("this is no line of a crontab; use times and a command")
	}
	next, _, _ := strings.Cut(strings.ReplaceAll(command, "\t", " "), " ")
	if r.options.System {
		next = words[fields-1]
	}
	if sixth.MatchString(next) {
		return "", "", fmt.Errorf("%q would be a sixth field of times; cron has five, and refuses the line or runs that as a command", next)
	}
	expression, err := expressionOf(words[:min(len(words), 5)])
	if err == nil {
		timer, err = timerOf(expression, r.zone)
	}
	if err != nil {
		return "", "", err
	}
	command, stdin := cutInput(command)
	if stdin {
		return "", "", errors.New("% in the command: nextrun has no input for commands; use a script")
	}
	r.differences(next, quiet)
	return timer, command, nil
}

// differences notes what is not as it was with a line. next is the user, or else the first word of the command.
func (r *reader) differences(next string, quiet bool) {
	if quiet {
		r.note("the - in front, which keeps some crons from logging the line, has no meaning")
	}
	switch {
	case r.users[next]: // said once
		return
	case r.options.System:
		r.note("commands of %s will run as the user of the executor", next)
	case slices.Contains(usualUsers, next):
		r.note("%q would be run as a program; if it is the user, as in /etc/crontab, translate with --system", next)
	default:
		return
	}
	r.users[next] = true
}

// expressionOf makes an expression of fields, or of a nickname.
func expressionOf(words []string) (string, error) {
	name := words[0]
	switch lower := strings.ToLower(name); {
	case name[0] != '@':
		return strings.Join(words, " "), nil
	case name == "@reboot":
		return "", errors.New("no timer elapses when a machine starts; use the service manager, such as systemd")
	case lower != name && (nicknames[lower] != "" || lower == "@reboot"):
		return "", fmt.Errorf("cron knows only %s, so this line has never run", lower)
	case nicknames[name] == "":
		return "", fmt.Errorf("cron knows no %s", name)
	}
	return nicknames[name], nil
}

var (
	// loneStep finds a step without a range, which nextrun knows and Vixie's cron refuses.
	loneStep = regexp.MustCompile(`(?:^|[ ,])([0-9A-Za-z]+/[0-9]+)`)
	// onlyOurs finds what nextrun knows in the fields of days, and Vixie's cron does not.
	onlyOurs = regexp.MustCompile(`[?#]|[0-9][LlWw]|(?:^|[ ,])[Ll](?:[ ,]|$)`)
)

// timerOf is the timer of a cron expression as Vixie's cron reads it, in a zone. UTC and none need no mention.
func timerOf(expression, zone string) (string, error) {
	if m := loneStep.FindStringSubmatch(expression); m != nil {
		return "", fmt.Errorf("%s: cron knows no step without a range, so this line has never run; write FIRST-LAST/STEP", m[1])
	}
	if strings.Contains(expression, "~") {
		return "", errors.New("~ is a random time of cronie; write a time, and give the task a jitter")
	}
	if onlyOurs.MatchString(expression) {
		return "", errors.New("cron knows no ?, L, W and #")
	}
	timer := allDays(expression)
	if zone != "" && zone != "UTC" {
		timer = "CRON_TZ=" + zone + " " + timer
	}
	schedule, err := calendar.Parse(timer)
	if err == nil && schedule.Next(time.Unix(0, 0)).IsZero() {
		err = fmt.Errorf("%q never elapses: there is no such day", expression)
	}
	return timer, err
}

// allDays writes a list of days that begins with a star as a star: for cron it restricts nothing, and lets the
// other field of days count alone.
func allDays(expression string) string {
	fields := strings.Fields(expression)
	for _, i := range []int{2, 4} {
		if strings.HasPrefix(fields[i], "*,") {
			fields[i] = "*"
		}
	}
	return strings.Join(fields, " ")
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

// cutInput removes the backslashes before percent signs. It reports whether there is a percent sign without a
// backslash: the text after that is input.
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
