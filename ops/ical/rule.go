package ical

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// parts are those of rules for days.
var parts = []string{"FREQ", "UNTIL", "COUNT", "INTERVAL", "WKST", "BYSETPOS", "BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYDAY"}

// rule is the rule of an event, nil if it has none. It ends at a time.
func (e *event) rule(start, to time.Time) (*rrule.RRule, error) {
	list := e.properties["RRULE"]
	switch {
	case len(e.properties["EXRULE"]) > 0:
		return nil, errors.New("EXRULE is not supported")
	case len(list) == 0:
		return nil, nil
	case len(list) > 1:
		return nil, errors.New("it has several RRULE")
	}
	options, err := optionsOf(list[0].Value)
	if err == nil {
		options.Dtstart = start
		err = untilDay(options)
	}
	if err != nil {
		return nil, fmt.Errorf("RRULE:%s: %w", list[0].Value, err)
	}
	if options.Until.IsZero() || options.Until.After(to) {
		options.Until = slices.MaxFunc([]time.Time{to, start}, time.Time.Compare)
	}
	r, err := rrule.NewRRule(*options)
	if err != nil {
		return nil, fmt.Errorf("RRULE:%s: %w", list[0].Value, err)
	}
	if first, _ := r.Iterator()(); !first.Equal(start) {
		return nil, fmt.Errorf("RRULE:%s: DTSTART is not the first of its days", list[0].Value)
	}
	return r, nil
}

// optionsOf reads the parts of a rule. Those without a value mean nothing; those that the library would pass over,
// or not survive, are refused.
func optionsOf(value string) (*rrule.ROption, error) {
	has := map[string]string{}
	var kept []string
	for part := range strings.SplitSeq(strings.ToUpper(value), ";") {
		key, value, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), "=")
		if value = strings.Trim(value, ","); value == "" {
			continue
		}
		if has[key] != "" || !slices.Contains(parts, key) {
			return nil, fmt.Errorf("%s is there twice, or is not for days", key)
		}
		has[key], kept = value, append(kept, key+"="+value)
	}
	options, err := rrule.StrToROption(strings.Join(kept, ";"))
	if err != nil {
		return nil, err
	}
	most := 53 // of a weekday in a year
	if options.Freq == rrule.MONTHLY || has["BYMONTH"] != "" {
		most = 5
	}
	if options.Freq > rrule.MONTHLY || has["BYWEEKNO"] != "" {
		most = 0
	}
	switch {
	case options.Freq > rrule.DAILY:
		return nil, fmt.Errorf("%s is not for days", has["FREQ"])
	case has["COUNT"] != "" && (options.Count < 1 || has["UNTIL"] != ""):
		return nil, errors.New("COUNT is less than 1, or with UNTIL")
	case has["INTERVAL"] != "" && (options.Interval < 1 || options.Interval > 9999):
		return nil, errors.New("INTERVAL is not in 1..9999")
	case slices.ContainsFunc(options.Byweekday, func(d rrule.Weekday) bool { return d.N() > most || d.N() < -most }):
		return nil, errors.New("BYDAY has a number that is too great, or not possible here")
	}
	return options, nil
}

// untilDay makes UNTIL a day, which counts. A time of day in it is that of some zone: where the day depends on that, it
// is an error.
func untilDay(options *rrule.ROption) error {
	until := options.Until
	options.Until = until.Truncate(24 * time.Hour)
	if clock := until.Format("150405"); until.IsZero() || clock == "000000" || clock == "235959" {
		return nil
	}
	const ahead, behind = 14 * time.Hour, 12 * time.Hour // zones of UTC at most
	far := *options
	far.Until = until.Add(ahead)
	r, err := rrule.NewRRule(far)
	if err == nil && len(r.Between(until.Add(time.Second-behind), far.Until, true)) > 0 {
		err = errors.New("UNTIL has a time, and the day depends on its zone")
	}
	return err
}
