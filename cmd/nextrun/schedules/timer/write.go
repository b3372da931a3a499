package timer

import (
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/convert"
	"github.com/nextrun/nextrun/periodic"
)

// Write implements [schedules.Kind]: a .timer and a .service for each task.
func (Kind) Write(tasks []schedules.Export, _ schedules.Options) (files []schedules.File, items []schedules.Item) {
	used := map[string]bool{}
	for i := range tasks {
		item := schedules.NewExport(&tasks[i])
		more := units(&tasks[i], &item, used)
		files, items = append(files, more...), append(items, item)
	}
	return files, items
}

func units(e *schedules.Export, item *schedules.Item, used map[string]bool) []schedules.File {
	t := &e.Task
	p, why := e.Program()
	if why != "" {
		item.Refuse(why)
		return nil
	}
	name := schedules.Name(t.ID)
	if name == "" || used[name] {
		item.Refuse("its id cannot name a unit, or another task has that name already")
		return nil
	}
	triggers, err := triggersOf(t.Timer, item)
	if err != nil {
		item.Refuse(err.Error())
		return nil
	}
	used[name] = true
	if name != t.ID {
		item.Change(fmt.Sprintf("the units are named %s", name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# written by nextrun export timer\n[Unit]\nDescription=%s\n\n[Timer]\n", literal(describe(t)))
	b.WriteString(triggers)
	if t.Catchup != periodic.CatchupNone {
		b.WriteString("Persistent=true\n")
	}
	if t.Jitter > 0 {
		fmt.Fprintf(&b, "RandomizedDelaySec=%d\n", t.Jitter/time.Second)
	}
	b.WriteString("AccuracySec=1s\n")
	var service []schedules.File
	if argv := p.Command; len(argv) == 4 && argv[0] == "systemctl" && argv[1] == "start" && argv[2] == "--wait" {
		fmt.Fprintf(&b, "Unit=%s\n", literal(argv[3]))
	} else {
		service = []schedules.File{{Name: name + ".service", Text: serviceOf(t, p)}}
	}
	if t.Enabled {
		b.WriteString("\n[Install]\nWantedBy=timers.target\n")
	} else {
		item.Change("it is not enabled: the timer has no section Install")
	}
	policiesLost(t, item)
	return append([]schedules.File{{Name: name + ".timer", Text: b.String()}}, service...)
}

func describe(t *periodic.Task) string {
	if t.Summary != "" {
		return t.Summary
	}
	return t.ID
}

// triggersOf are the lines that make the timer elapse.
func triggersOf(text string, item *schedules.Item) (string, error) {
	if d, ok := convert.Every(text); ok {
		item.Change("the interval counts from the last start, and drifts")
		return fmt.Sprintf("OnActiveSec=%[1]d\nOnUnitActiveSec=%[1]d\n", d/time.Second), nil
	}
	lines, err := convert.Events(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, line := range lines {
		if _, err := inZone(line, ""); err != nil {
			return "", err
		}
		if back, err := inZone(line, "Etc/GMT-14"); err == nil && back != line && !strings.HasPrefix(line, "@") {
			line += " UTC" // without a zone, systemd takes that of the machine
		}
		fmt.Fprintf(&b, "OnCalendar=%s\n", line)
	}
	return b.String(), nil
}

func serviceOf(t *periodic.Task, p schedules.CommandPayload) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# written by nextrun export timer\n[Unit]\nDescription=%s\n\n[Service]\nType=oneshot\n", literal(describe(t)))
	words := make([]string, len(p.Command))
	for i, word := range p.Command {
		words[i] = quote(word)
	}
	fmt.Fprintf(&b, "ExecStart=:%s\n", strings.Join(words, " ")) // the colon: variables stay as they are
	if p.Dir != "" {
		fmt.Fprintf(&b, "WorkingDirectory=%s\n", literal(p.Dir))
	}
	for _, pair := range p.Env {
		fmt.Fprintf(&b, "Environment=%s\n", quote(pair))
	}
	if t.Timeout > 0 {
		fmt.Fprintf(&b, "TimeoutStartSec=%d\n", t.Timeout/time.Second)
	}
	return b.String()
}

func policiesLost(t *periodic.Task, item *schedules.Item) {
	switch t.Overlap {
	case periodic.OverlapSkip:
	case periodic.OverlapAllow, periodic.OverlapQueue, periodic.OverlapReplace:
		item.Change(fmt.Sprintf("overlap is %s: systemd skips a tick while the service runs", t.Overlap))
	}
	if t.Catchup == periodic.CatchupAll {
		item.Change("catchup is all: systemd catches up on one")
	}
	item.Lose("jitter", "timeout")
}

// literal keeps specifiers from being expanded.
func literal(text string) string {
	return strings.NewReplacer("%", "%%", "\n", " ").Replace(text)
}

// quote is a word of ExecStart or Environment.
func quote(word string) string {
	word = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, `"`, `\"`, "%", "%%").Replace(word)
	if word == "" || strings.ContainsAny(word, " '\";") {
		return `"` + word + `"`
	}
	return word
}
