package calendar

import (
	"cmp"
	"strings"

	"github.com/adhocore/gronx"

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

// zonePrefixes are what may stand in front of an expression; the first one is the normal form.
var zonePrefixes = [...]string{"CRON_TZ=", "TZ="}

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

// zonePrefix takes CRON_TZ=zone or TZ=zone apart.
func zonePrefix(text string) (zone string, ok bool) {
	for _, prefix := range zonePrefixes {
		if zone, ok := strings.CutPrefix(text, prefix); ok {
			return zone, true
		}
	}
	return "", false
}

// parseCron reads [CRON_TZ=zone] expression. The expression is compiled once, to the same sets as a
// calendar event. gronx only confirms that it is valid: it parses an expression again in every
// call.
func parseCron(t text) (Schedule, error) {
	p := cronParser{text: t}
	words := t.words
	c := &cron{}
	z := elapse.UTC
	if name, ok := zonePrefix(words[0].text); ok {
		var err error
		if z, err = p.zoneAt(words[0].at+len(words[0].text)-len(name), name); err != nil {
			return nil, err
		}
		c.zoned = true
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
		return nil, cmp.Or(p.zoneBehind(words), err)
	}
	c.text = strings.Join(p.normal, " ")
	if !gronx.IsValid(c.text) {
		return nil, p.failAt(0, "gronx does not accept this cron expression")
	}
	c.Set = elapse.NewSet(p.rule(), p.clock(), z)
	return c, nil
}
