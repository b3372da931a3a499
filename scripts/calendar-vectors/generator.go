package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// generator makes random timers, most of them valid.
type generator struct{ *rand.Rand }

func (g *generator) base() time.Time {
	return time.Unix(1_500_000_000+g.Int64N(500_000_000), 0).UTC()
}

func (g *generator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g *generator) one(in int) bool { return g.IntN(in) == 0 }

func (g *generator) timer() string {
	var parts []string
	if g.one(15) {
		parts = []string{g.pick("minutely", "hourly", "daily", "weekly", "monthly", "Quarterly", "semiannually",
			"semi-annually", "biannually", "bi-annually", "yearly", "annually", "anually", "dayly")}
	} else {
		if g.one(3) {
			parts = append(parts, g.weekdays())
		}
		if !g.one(4) {
			parts = append(parts, g.date())
		}
		if !g.one(4) {
			parts = append(parts, g.clock())
		}
		if g.one(60) {
			parts = []string{fmt.Sprintf("@%d", g.Int64N(9_000_000_000))}
		}
	}
	if g.one(4) {
		parts = append(parts, g.pick("UTC", "utc", "Asia/Tokyo", "Asia/Kolkata", "Africa/Nairobi", "America/Phoenix",
			"Etc/GMT+5", "Asia/Kathmandu", "Mars/Olympus"))
	}
	timer := strings.Join(parts, g.pick(" ", " ", " ", " ", "  "))
	if g.one(8) {
		timer = g.damage(timer)
	}
	return timer
}

// damage changes one byte.
func (g *generator) damage(timer string) string {
	const bytes = "0123456789*-~:/.,@ MonTueUTC"
	i := g.IntN(len(timer) + 1)
	b := bytes[g.IntN(len(bytes))]
	switch {
	case g.one(2) || i == len(timer):
		return timer[:i] + string(b) + timer[i:]
	case g.one(2):
		return timer[:i] + timer[i+1:]
	}
	return timer[:i] + string(b) + timer[i+1:]
}

func (g *generator) weekdays() string {
	var list []string
	for range 1 + g.IntN(3) {
		item := g.IntN(7)
		text := g.weekday(item)
		if g.one(3) {
			text += g.pick("..", "-") + g.weekday(g.after(item, 6))
		}
		list = append(list, text)
	}
	return strings.Join(list, ",") + g.pick("", "", "", ",")
}

func (g *generator) weekday(n int) string {
	name := time.Weekday((n + 1) % 7).String()
	return g.pick(name[:3], name[:3], name, strings.ToLower(name[:3]), strings.ToUpper(name))
}

// after returns a number from low to high, or now and then one that is too small.
func (g *generator) after(low, high int) int {
	if low >= high || g.one(20) {
		return g.IntN(high + 1)
	}
	return low + g.IntN(high-low+1)
}

func (g *generator) date() string {
	day := g.list(1, 31, false)
	dash := "-"
	if g.one(4) {
		dash, day = "~", g.list(1, 9, false)
	}
	date := g.list(1, 12, false) + dash + day
	switch g.IntN(5) {
	case 0:
		return date
	case 1:
		return g.list(2015, 2035, false) + "-" + date
	case 2:
		return fmt.Sprintf("%d-", g.IntN(110)) + date
	}
	return "*-" + date
}

func (g *generator) clock() string {
	clock := g.list(0, 23, false) + ":" + g.list(0, 59, false)
	if g.one(2) {
		clock += ":" + g.list(0, 59, g.one(4))
	}
	return clock
}

// list makes a star or up to three components.
func (g *generator) list(low, high int, fractions bool) string {
	if g.one(3) {
		return "*"
	}
	var list []string
	for range 1 + g.IntN(3)*g.IntN(2) {
		list = append(list, g.component(low, high, fractions))
	}
	return strings.Join(list, ",")
}

func (g *generator) component(low, high int, fractions bool) string {
	start := low + g.IntN(high-low+1)
	item := g.number(start, fractions)
	if g.one(4) {
		item += ".." + g.number(g.after(start, high), fractions)
	}
	if g.one(3) {
		item += "/" + g.number(g.after(1, max(high-start, 1)), fractions)
	}
	return item
}

func (g *generator) number(n int, fractions bool) string {
	text := fmt.Sprintf(g.pick("%d", "%02d"), n)
	if fractions && g.one(2) {
		text += fmt.Sprintf(".%0*d", 1+g.IntN(8), g.IntN(10))
	}
	return text
}
