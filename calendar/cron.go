package calendar

import (
	"cmp"
	"strings"

	"github.com/nextrun/nextrun/calendar/internal/elapse"
)

// cron is a cron expression in normal form, and what it compiles to.
type cron struct {
	elapse.Set
	text  string // upper case, names replaced by numbers
	zoned bool   // the zone was given
}

// String implements Schedule.
func (c *cron) String() string {
	if c.zoned {
		return zonePrefixes[0] + c.Zone.Name + " " + c.text
	}
	return c.text
}

// cronNames are the names that gronx knows.
var cronNames = map[string]string{
	"@yearly":      "0 0 1 1 *",
	"@annually":    "0 0 1 1 *",
	"@monthly":     "0 0 1 * *",
	"@weekly":      "0 0 * * 0",
	"@daily":       "0 0 * * *",
	"@hourly":      "0 * * * *",
	"@always":      "* * * * *",
	"@5minutes":    "*/5 * * * *",
	"@10minutes":   "*/10 * * * *",
	"@15minutes":   "*/15 * * * *",
	"@30minutes":   "0,30 * * * *",
	"@everysecond": "* * * * * *",
}

// parseCron reads [CRON_TZ=zone] expression. The expression is compiled once, to the same sets as a
// calendar event.
func parseCron(t text) (Schedule, error) {
	p := cronParser{text: t}
	words := t.words
	c := &cron{zoned: t.prefix > 0}
	z := elapse.UTC
	if c.zoned {
		var err error
		if z, err = p.zoneAt(words[0].at+t.prefix, words[0].text[t.prefix:]); err != nil {
			return nil, err
		}
		words = words[1:]
	}
	if len(words) > 0 && words[0].text[0] == '@' {
		expression, ok := cronNames[strings.ToLower(words[0].text)]
		if !ok || len(words) > 1 {
			return nil, p.unknownName(words)
		}
		words = cut(expression).words
	}
	if err := p.expression(words); err != nil {
		return nil, cmp.Or(p.behind(words), err)
	}
	c.text = strings.Join(p.normal, " ")
	c.Set = elapse.NewSet(p.rule(), p.clock(), z)
	return c, nil
}

// unknownName is the error for what starts with a name such as @reboot.
func (p *cronParser) unknownName(words []word) error {
	name := words[0]
	lower := strings.ToLower(name.text)
	var meant string
	switch {
	case cronNames[lower] != "":
		return p.failAt(words[1].at, "expected the end of the timer after %s", name.text)
	case lower == "@midnight":
		meant = "@daily"
	case lower == "@reboot" || lower == "@restart":
		return p.failAt(name.at, "no timer elapses when a machine starts; have the service manager start the program, such as a unit of systemd, or submit the task with `nextrun task run` there")
	case lower == "@every" && len(words) == 2:
		meant = "every " + words[1].text
	default:
		return p.failNear(name.at, name.text, []string{"@daily", "@hourly", "@weekly", "@monthly", "@yearly", "@annually", "@everysecond"},
			"unknown name %q", name.text)
	}
	return p.failMeant(name.at, meant, "unknown name %q", name.text)
}

// behind is the error for what does not belong at the end: a zone, where calendar events have
// theirs, or a command, as in a crontab.
func (p *cronParser) behind(words []word) error {
	if len(words) < 6 {
		return nil
	}
	if w := words[5]; strings.ContainsAny(w.text[:1], "/.~") {
		return p.failAt(w.at, "a timer has no command; a handler runs it")
	}
	last := words[len(words)-1]
	if _, err := elapse.ZoneNamed(last.text); err != nil && !(isLetter(last.text[0]) && strings.Contains(last.text, "/")) {
		return nil
	}
	return p.failAt(last.at, "the zone of a cron expression stands in front, as in %sEurope/Berlin 0 2 * * *", zonePrefixes[0])
}
