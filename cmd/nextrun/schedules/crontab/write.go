package crontab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/convert"
	"github.com/nextrun/nextrun/periodic"
)

// Write implements [schedules.Kind]: one crontab. Debian's cron ignores CRON_TZ, so
// tasks in other zones than that of the machine (o.Zone) need another cron.
func (Kind) Write(tasks []schedules.Export, o schedules.Options) ([]schedules.File, []schedules.Item) {
	w := &writer{zone: o.Zone, shell: "/bin/sh", env: commonEnv(tasks)}
	w.WriteString("# written by nextrun export crontab\n")
	for _, pair := range w.env {
		name, value, _ := strings.Cut(pair, "=")
		fmt.Fprintf(w, "%s=%q\n", name, value)
	}
	for i := range tasks {
		item := schedules.NewExport(&tasks[i])
		w.task(&tasks[i], &item)
		w.items = append(w.items, item)
	}
	return []schedules.File{{Name: "crontab", Text: w.String()}}, w.items
}

// writer holds what earlier lines set for later ones.
type writer struct {
	strings.Builder
	zone, shell string
	env         []string
	items       []schedules.Item
}

// commonEnv are the variables of all tasks, if they all have the same. Otherwise each
// line exports its own.
func commonEnv(tasks []schedules.Export) []string {
	var common []string
	first := true
	for i := range tasks {
		p, why := tasks[i].Program()
		if why != "" {
			continue
		}
		if first {
			common, first = p.Env, false
		}
		if !slices.Equal(common, p.Env) || slices.ContainsFunc(p.Env, func(pair string) bool { return strings.ContainsAny(pair, "\n\"\\") }) {
			return nil
		}
	}
	return common
}

func (w *writer) task(e *schedules.Export, item *schedules.Item) {
	p, why := e.Program()
	if why != "" {
		item.Refuse(why)
		return
	}
	expression, zone, err := expressionOf(e.Task.Timer, item)
	if err != nil {
		item.Refuse(err.Error())
		return
	}
	shell, command := w.command(p)
	if strings.ContainsAny(command, "\n\x00") {
		item.Refuse("the command has several lines, and a crontab has one for each; use a script")
		return
	}
	if zone == "" {
		zone = "UTC"
	}
	if w.zone != zone {
		fmt.Fprintf(w, "CRON_TZ=%s\n", zone)
		w.zone = zone
	}
	if w.shell != shell {
		fmt.Fprintf(w, "SHELL=%s\n", shell)
		w.shell = shell
	}
	fmt.Fprintf(w, "# %s\n", strings.Map(oneLine, e.Task.ID))
	off := ""
	if !e.Task.Enabled {
		off = "#"
		item.Change("it is not enabled: the line is a comment")
	}
	fmt.Fprintf(w, "%s%s %s\n", off, expression, strings.ReplaceAll(command, "%", `\%`))
	if e.Task.Catchup != periodic.CatchupNone {
		item.Change("cron does not catch up on what fell due while it did not run")
	}
	if e.Task.Overlap != periodic.OverlapAllow {
		item.Change("cron starts the command although the one before still runs; use flock(1)")
	}
	item.Lose()
}

func oneLine(r rune) rune {
	if r < ' ' {
		return '?'
	}
	return r
}

// expressionOf is the cron expression for a timer.
func expressionOf(timer string, item *schedules.Item) (expression, zone string, err error) {
	if d, ok := convert.Every(timer); ok {
		if expression, ok := convert.CronInterval(d); ok {
			item.Change("the interval counts on the clock, not from the creation of the task")
			return expression, "UTC", nil
		}
		return "", "", fmt.Errorf("cron has no interval like %q", timer)
	}
	return convert.Cron(timer, "", Timer)
}

// command is what a line of a crontab runs, and the shell for it.
func (w *writer) command(p schedules.CommandPayload) (shell, command string) {
	shell = "/bin/sh"
	if argv := p.Command; len(argv) == 3 && argv[1] == "-c" && strings.HasPrefix(argv[0], "/") && !strings.ContainsAny(argv[0], " \t\n") {
		shell, command = argv[0], argv[2]
	} else {
		words := make([]string, len(argv))
		for i := range argv {
			words[i] = Quote(argv[i])
		}
		command = strings.Join(words, " ")
	}
	if p.Dir != "" && !slices.Contains(w.env, "HOME="+p.Dir) {
		command = "cd " + Quote(p.Dir) + " && " + command
	}
	if w.env == nil {
		for _, pair := range slices.Backward(p.Env) {
			name, value, _ := strings.Cut(pair, "=")
			command = "export " + name + "=" + Quote(value) + "; " + command
		}
	}
	return shell, command
}

// Quote is a word as a shell reads it.
func Quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, needsQuotes) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func needsQuotes(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	return !letter && !strings.ContainsRune("_-./:@,+=%", r)
}
