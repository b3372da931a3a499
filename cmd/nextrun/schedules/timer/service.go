package timer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/periodic"
)

// service is the command for what a timer starts. If a handler cannot run the program
// as systemd does, it starts the unit by systemctl.
func (r *reader) service(name string, task *periodic.Task) (handlers.CommandConfig, error) {
	byName := func(why string) (handlers.CommandConfig, error) {
		r.change("%s; the handler starts %s by systemctl, on the machine of the executor", why, name)
		task.Summary = schedules.Shorten("systemctl start " + name)
		return handlers.CommandConfig{Argv: []string{"systemctl", "start", "--wait", name}}, nil
	}
	if !strings.HasSuffix(name, ".service") {
		return byName(fmt.Sprintf("%s is no service", name))
	}
	u, err := r.load(name)
	switch {
	case errors.Is(err, errMasked):
		return byName(name + " is masked")
	case err != nil:
		return handlers.CommandConfig{}, err
	case u == nil:
		return byName("there is no " + name + " in the directories that were named")
	}
	c, why := command(u)
	if why != "" {
		return byName(why)
	}
	s := serviceReader{r, u}
	s.limits(task)
	s.losses()
	task.Summary = schedules.Shorten(strings.Join(c.Argv, " "))
	return c, nil
}

// notCommands are settings that make more than one program of a service.
var notCommands = []string{"ExecStartPre", "ExecStartPost", "ExecCondition", "ExecStop", "ExecStopPost", "EnvironmentFile", "PassEnvironment", "LoadCredential", "SetCredential", "RootDirectory", "RootImage"}

// command is the program that a service runs. If it takes more than that, it says
// why.
func command(u *unit) (c handlers.CommandConfig, why string) {
	lines := u.list("ExecStart")
	if len(lines) != 1 {
		return c, fmt.Sprintf("%s has %d lines of ExecStart", u.name, len(lines))
	}
	for _, key := range notCommands {
		if list := u.list(key); len(list) > 0 {
			return c, fmt.Sprintf("%s has %s", u.name, key)
		}
	}
	prefixes, words, err := splitCommand(lines[0].value)
	if err != nil {
		return c, fmt.Sprintf("ExecStart: %v", err)
	}
	if strings.Contains(prefixes, "@") || slices.Contains(words, ";") || len(words) == 0 {
		return c, "ExecStart is more than a program and its arguments"
	}
	var unknown string
	for i := range words {
		if words[i], unknown = specifiers(words[i], u.name); unknown != "" {
			return c, fmt.Sprintf("ExecStart has the specifier %s", unknown)
		}
	}
	if c.Env, why = environment(u); why != "" {
		return c, why
	}
	c.Argv = words
	if !strings.Contains(prefixes, ":") {
		if c.Argv, unknown = variables(words, c.Env); unknown != "" {
			return c, fmt.Sprintf("ExecStart has the variable %s", unknown)
		}
	}
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return c, "ExecStart names no program"
	}
	dir, unknown := specifiers(strings.TrimPrefix(u.last("Service", "WorkingDirectory"), "-"), u.name)
	if unknown != "" || strings.HasPrefix(dir, "~") {
		return c, "WorkingDirectory depends on the user"
	}
	c.Dir = dir
	return c, ""
}

// environment are the variables of Environment=.
func environment(u *unit) (env []string, why string) {
	for _, s := range u.list("Environment") {
		_, words, err := splitCommand(quoteInside(s.value))
		if err != nil {
			return nil, fmt.Sprintf("Environment: %v", err)
		}
		for _, word := range words {
			pair, unknown := specifiers(word, u.name)
			name, _, found := strings.Cut(pair, "=")
			if unknown != "" || !found || !isVariable(name) {
				return nil, fmt.Sprintf("Environment has %q", word)
			}
			env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
			env = append(env, pair)
		}
	}
	return env, ""
}

// quoteInside keeps a leading word of Environment= from losing what looks like the
// prefixes of a program; variables have none.
func quoteInside(value string) string { return " " + value }

// serviceReader says what of a service has no equivalent.
type serviceReader struct {
	*reader
	service *unit
}

// limits reads how long the service may take to end.
func (s serviceReader) limits(task *periodic.Task) {
	key := "RuntimeMaxSec"
	if s.service.last("Service", "Type") == "oneshot" {
		key = "TimeoutStartSec"
	}
	text := s.service.last("Service", key)
	if key == "TimeoutStartSec" {
		text = cmp.Or(text, s.service.last("Service", "TimeoutSec"))
	}
	if text == "" || text == "infinity" || text == "0" {
		return
	}
	d, err := parseSpan(text)
	if err != nil || d > 365*24*time.Hour {
		s.change("%s: %q is no timeout of nextrun", key, text)
		return
	}
	task.Timeout = wholeSeconds(d)
}

// carried are settings of services that need no mention: they are carried over, or say
// nothing about what runs.
var carried = []string{
	"Type", "ExecStart", "Environment", "WorkingDirectory", "TimeoutStartSec", "TimeoutSec", "RuntimeMaxSec", "StandardOutput", "StandardError",
	"StandardInput", "SyslogIdentifier", "SyslogLevel", "SyslogFacility", "RemainAfterExit", "KillMode", "KillSignal", "SendSIGKILL", "TimeoutStopSec",
}

func (s serviceReader) losses() {
	if kind := s.service.last("Service", "Type"); kind != "" && !slices.Contains([]string{"oneshot", "simple", "exec"}, kind) {
		s.change("Type=%s: the job lasts until the program ends", kind)
	}
	prefixes, _, _ := splitCommand(s.service.list("ExecStart")[0].value)
	if strings.Contains(prefixes, "-") {
		s.change("the - before the program: an exit code other than 0 is a failure for nextrun")
	}
	if strings.ContainsAny(prefixes, "+!") {
		s.change("the + or ! before the program: it has the rights of the executor")
	}
	var lost []string
	for _, one := range s.service.all("Service") {
		switch {
		case one.value == "" || slices.Contains(carried, one.key) || slices.Contains(lost, one.key):
		case one.key == "User" || one.key == "DynamicUser":
			s.change("%s: the command will run as the user of the executor", one)
		default:
			lost = append(lost, one.key)
		}
	}
	if len(lost) > 0 {
		s.change("of %s not carried over: %s", s.service.name, strings.Join(lost, ", "))
	}
	for _, one := range s.service.all("Unit") {
		if strings.HasPrefix(one.key, "Condition") || strings.HasPrefix(one.key, "Assert") {
			s.change("%s: nextrun has no conditions; let the command check it", schedules.Shorten(one.String()))
		}
		if one.key == "OnFailure" {
			s.change("OnFailure=%s: use a hook, on_failure in the configuration file", one.value)
		}
	}
}
