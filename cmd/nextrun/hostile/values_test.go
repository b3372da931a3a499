package hostile_test

import "slices"

// value is a hostile one, as an SQL expression of a database.
type value struct{ name, sql string }

// values returns the hostile values for a column. Many are refused by its type, by a CHECK
// or by a trigger of nextrun, as they should be: the client tells.
func (d database) values(c column) []value {
	list := slices.Clone(everywhere)
	if d.isSQLite() {
		list = append(list, onSQLite...) // any value goes into any column
	} else {
		list = append(list, onPostgres[c.kind]...)
	}
	if c.null {
		list = append(list, value{"null", "NULL"})
	}
	return list
}

var everywhere = []value{
	{"empty", `''`},
	{"whitespace", `'  '`},
	{"negative", `-1`},
	{"2^31", `2147483648`},
	{"the largest integer", `2147483647`},
	{"2^63-1", `9223372036854775807`},
	{"-2^63", `-9223372036854775807-1`},
}

var onSQLite = []value{
	{"NUL in a text", `'a'||char(0)||'b'`},
	{"invalid UTF-8", `CAST(x'fffe80' AS text)`},
	{"blob", `x'00ff10'`},
	{"blob of text", `CAST('call' AS blob)`},
	{"10 MB", `replace(hex(zeroblob(5242880)), '00', 'ab')`},
	{"blob of 10 MB", `zeroblob(10485760)`},
	{"right-to-left", `char(0x202e)||char(0x645, 0x631)`},
	{"terminal control", `char(27)||'[31m'||char(7)||char(10)`},
	{"real", `1.5`},
	{"infinite real", `9e999`},
	{"negative infinite real", `-9e999`},
	{"the text infinity", `'infinity'`},
	{"the text NaN", `'NaN'`},
	{"year 294276", `'294276-12-31 23:59:59'`},
	{"4713 BC", `'-4713-01-01 00:00:00'`},
	{"the last time", `'9999-12-31 23:59:59.999999'`},
	{"the first time", `'0000-01-01 00:00:00.000000'`},
	{"no such day", `'2026-02-30 00:00:00.000000'`},
	{"time with zone", `'2026-03-01T05:00:00+14:00'`},
	{"JSON too deep", `replace(hex(zeroblob(50000)), '00', '[')`},
	{"quotes", `'''";--%s%n'`},
}

var onPostgres = map[kind][]value{
	text: {
		{"NUL in a text", `'a'||chr(0)||'b'`},
		{"10 MB", `repeat('ab', 5242880)`},
		{"254 characters", `repeat('x', 254)`},
		{"254 wide characters", `repeat('😀', 254)`},
		{"right-to-left", "'\u202e\u0645\u0631'"},
		{"terminal control", `E'\x1b[31m\x07\n'`},
		{"JSON too deep", `repeat('[', 50000)`},
		{"JSON NUL", `'{"a": "\u0000"}'`},
		{"quotes", `'''";--%s%n'`},
	},
	number: {{"not a number", `'NaN'`}, {"infinity", `'infinity'`}, {"zero", `0`}, {"the smallest integer", `-2147483648`}},
	moment: {
		{"infinity", `'infinity'`}, {"-infinity", `'-infinity'`}, {"year 294276", `'294276-12-31 23:59:59'`},
		{"4713 BC", `'4713-01-01 00:00:00 BC'`}, {"the last time", `'9999-12-31 23:59:59.999999'`},
		{"the first time", `'0001-01-01 00:00:00'`}, {"one second later", `'10000-01-01 00:00:00'`},
	},
	truth: {{"false", `false`}, {"true", `true`}},
	other: {
		{"JSON list", `'[]'`}, {"JSON null", `'null'`}, {"JSON text", `'"x"'`}, {"JSON number", `'1e400'`}, {"no elements", `'{}'`},
		{"10 MB", `('"'||repeat('ab', 5242880)||'"')::json`}, {"JSON too deep", `(repeat('[', 5000)||repeat(']', 5000))::json`},
		{"bytes", `'\x00ff10'`}, {"elements", `'{NULL,""}'`}, {"a state", `'failed'`},
	},
}

// known are cells that went wrong once, as "table.column = value". They come first in every
// run.
var known = []string{
	// Commands that list rows failed for all of them.
	"scheduler_lock.pid = quotes",
	"scheduler_lock.token = quotes",
	"scheduler_lock.acquired = infinite real",
	"periodic_tick.decided = infinite real",
	"periodic_tick.missed = quotes",
	"joblog.counter = quotes",
	"outbox_message.created = infinity",
}

// knownFirst puts the known cells of a list first.
func knownFirst(list []*cell) {
	first := func(c *cell) int {
		if slices.Contains(known, c.String()) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b *cell) int { return first(a) - first(b) })
}
