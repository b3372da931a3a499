package main

import (
	"fmt"
	"strings"
	"time"
)

// Bytes of rows with their indexes, as docs/operations/sizing.md has them.
const (
	tickBytes = 200
	jobBytes  = 330 + 40 // with short args
	keptDays  = 30
)

// needs is what so many tasks need, computed from what a tick costs in the steady state. It is empty if that was not
// measured.
func (r *report) needs() string {
	of := func(figure string) float64 {
		for _, row := range r.Rows {
			if row.Group == "steady-postgresql" && row.Contender == ours && row.Figure == figure {
				return row.Spread.Median
			}
		}
		return 0
	}
	rate := of(ticksSecond)
	if rate == 0 {
		return ""
	}
	process, server, database, wal := of(cpuTick)/1e6, of(cpuServer)/1e6, of(databaseTime)/100/rate, of(walTick)
	var b strings.Builder
	fmt.Fprintf(&b, "A tick costs %s µs of processor time in the scheduler and %s µs in the server, %s µs in statements, and %s bytes of WAL.\n\n",
		number(process*1e6), number(server*1e6), number(database*1e6), number(wal))
	b.WriteString("| tasks | each | ticks a second | scheduler, of a core | server, of a core | WAL a day | rows of 30 days |\n|---|---|---|---|---|---|---|\n")
	for _, n := range []struct {
		tasks int
		every time.Duration
		name  string
	}{
		{1_000, time.Minute, "minute"}, {10_000, time.Minute, "minute"}, {100_000, time.Hour, "hour"},
		{1_000_000, 24 * time.Hour, "day"}, {1_000_000, time.Hour, "hour"}, {100_000, time.Minute, "minute"},
	} {
		ticks := float64(n.tasks) / n.every.Seconds()
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", grouped(n.tasks), n.name, number(ticks),
			percent(ticks*process), percent(ticks*server), size10(ticks*wal*86_400), size10(ticks*86_400*keptDays*(tickBytes+jobBytes)))
	}
	if database > 0 {
		fmt.Fprintf(&b, "\nThe ceiling of one connection that submits: 1 s / %s µs = %s ticks a second.\n", number(database*1e6), number(1/database))
	}
	return b.String()
}

// percent is a share, or that it is more than there is.
func percent(share float64) string {
	if share > 1 {
		return number(share) + " whole ones"
	}
	return number(share*100) + " %"
}

// size10 is a number of bytes.
func size10(bytes float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if bytes < 1000 {
			return number(bytes) + " " + unit
		}
		bytes /= 1000
	}
	return number(bytes) + " TB"
}
