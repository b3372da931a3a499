package ical

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	ics "github.com/arran4/golang-ical"

	"github.com/nextrun/nextrun/internal/text"
)

// event has the properties of a VEVENT by their names, which are in upper case as those of their parameters are.
// Those without a value are not there.
type event struct {
	properties map[string][]*ics.BaseProperty
	err        error // it cannot be read
}

// text is the value of a property; empty: it has none.
func (e *event) text(name string) string {
	if list := e.properties[name]; len(list) > 0 {
		return list[0].Value
	}
	return ""
}

// reason is the summary, as long as the column takes it.
func (e *event) reason() string {
	runes := []rune(strings.Join(strings.Fields(strings.ReplaceAll(strings.ToValidUTF8(e.text("SUMMARY"), "?"), "\x00", "")), " "))
	return string(runes[:min(len(runes), 254)])
}

var errOpen = errors.New("it, or a component in it, has no END")

// parser reads the lines of a file after unfolding.
type parser struct {
	events []*event
	in     bool // the last one has not ended
	nested int  // components that have begun in it
}

// parse reads the events of a file.
func parse(ctx context.Context, content string) ([]*event, error) {
	var p parser
	lines := ics.NewCalendarStream(strings.NewReader(strings.TrimPrefix(content, "\ufeff")))
	for ctx.Err() == nil {
		line, end := lines.ReadLine() // the last line may come with io.EOF; there are no other errors
		if line != nil {
			if err := p.line(string(*line)); err != nil {
				return nil, err
			}
		}
		if end != nil {
			break
		}
	}
	if len(p.events) == 0 && ctx.Err() == nil {
		return nil, errors.New("there is no event (BEGIN:VEVENT) in it; is it an iCalendar file?")
	}
	return p.events, ctx.Err()
}

// line reads a line. The error is about the whole file.
func (p *parser) line(line string) error {
	last := &event{}
	if p.in {
		last = p.events[len(p.events)-1]
	}
	property, err := propertyOf(line)
	if err != nil {
		if p.nested == 0 {
			last.err = err
		}
		return nil
	}
	switch name, value := property.IANAToken, strings.ToUpper(property.Value); {
	case name == "BEGIN" && value == "VEVENT":
		p.events, p.in, p.nested = append(p.events, &event{map[string][]*ics.BaseProperty{}, errOpen}), true, 0
	case name == "BEGIN" && p.in:
		p.nested++
	case name == "END" && value != "VEVENT" && p.nested > 0:
		p.nested--
	case name == "END":
		if value == "VEVENT" && p.nested == 0 && errors.Is(last.err, errOpen) {
			last.err = nil
		}
		p.in, p.nested = false, 0
	case value == "" || p.nested > 0:
	case p.in:
		last.properties[name] = append(last.properties[name], property)
	case name == "METHOD" && value == "CANCEL", name == "CALSCALE" && value != "GREGORIAN":
		return fmt.Errorf("%s:%s is not supported", name, value)
	}
	return nil
}

var (
	nameOfLine   = regexp.MustCompile(`^[A-Za-z0-9-]+`)
	lastOfParams = regexp.MustCompile(`^([^":]*?);+:`) // separators with nothing behind them
)

// propertyOf reads a line. Separators at the end of the value are no part of it.
func propertyOf(line string) (*ics.BaseProperty, error) {
	name := nameOfLine.FindString(line)
	p, err := ics.ParseProperty(ics.ContentLine(lastOfParams.ReplaceAllString(strings.ToUpper(name)+line[len(name):], "$1:")))
	if err == nil && (p == nil || name == "") {
		err = errors.New("it has no name, or no value")
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text.FirstLine(strings.ToValidUTF8(line, "?")), err)
	}
	parameters := map[string][]string{}
	for key, values := range p.ICalParameters {
		key = strings.ToUpper(strings.Trim(key, "; "))
		parameters[key] = append(parameters[key], values...)
	}
	p.ICalParameters, p.Value = parameters, strings.Trim(p.Value, " \t;,")
	return p, nil
}
