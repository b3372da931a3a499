package calendar

import (
	"errors"
	"strings"
	"testing"
)

func TestErrorsTellThePlaceAndWhatWasMeant(t *testing.T) {
	for _, c := range []struct{ timer, caret, msg string }{
		// the caret stands under the byte at which the trouble starts
		{"Mon *-*-* 25:00", "          ^", "hour 25 is not in 0..23"},
		{"Mo *-*-* 02:00", "^", `"Mo" is not a weekday or a name such as daily; did you mean "Mon"?`},
		{"evry 15m", "^", `did you mean "every"?`},
		{"24:00", "^", "midnight is 00:00, at the start of a day"},
		{"*-*-1,32", "      ^", "day 32 is not in 1..31"},
		{"2200-01-01", "^", "year 2200 is not in 1970..2199"},
		{"*-*~29", "    ^", "a month may have 28 days only"},
		{"*:5..3", "  ^", "minute 5..3 ends before it starts; write two, as in 22..23,0..5"},
		{"Fri..Mon 12:00", "^", "the range ends before it starts, as a week runs from Mon to Sun; write two, as in Fri..Sun,Mon"},
		{"*:55/10", "  ^", "minute 55/10 repeats beyond 59 at once"},
		{"*:0/0", "    ^", "a repetition must be greater than 0"},
		{"*:0:0..0.5", "    ^", "a range shorter than a second needs a repetition"},
		{"*/5:00", " ^", "it needs a start, as 0/5 in a time or 1/5 in a date"},
		{"*-*-L", "    ^", "the last day of a month is ~1, as in *-*~1"},
		{"? 12:00", "^", "is for cron expressions"},
		{"12", "  ^", "expected `-` or `~` in a date or `:` in a time, found the end"},
		{"15m", "^", `did you mean "every 15m"?`},
		{"daily 12:00", "     ^", `daily stands alone; a time of day is a calendar event, such as "*-*-* 02:00"`},
		{" daily", "^", "a timer does not start with a space"},
		{"", "^", "the timer is empty; an example is *-*-* 02:00"},
		{"12:00 é é", "     ^", `found " "`},
		{"@9999999999", "^", "must not go beyond the year 2199"},
		// zones
		{"12:00 europe/berlin", "      ^", `unknown time zone "europe/berlin"; did you mean "Europe/Berlin"?`},
		{"12:00 CEST", "      ^", `did you mean "Europe/Berlin"?`},
		{"12:00 +2:00", "      ^", `"+2:00" is not an offset from UTC of up to 18 hours; write it like +02:00`},
		{"12:00 Local", "      ^", `"Local" is not the name of a time zone`},
		{"12:00 Europe/Berln", "      ^", `unknown time zone "Europe/Berln"; did you mean "Europe/Berlin"?`},
		// what other programs know
		{"H 2 * * *", "^", `"H" is no minute`},
		{"@reboot", "^", "no timer elapses when a machine starts; have the service manager"},
		{"FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9", "^", `an RRULE is not a timer; write a calendar event, such as "Mon *-*-1..7 09:00"`},
		// everyday words
		{"every day 02:00", "            ^", `":00" is not a unit: s, m, h, days, weeks, months, quarters or years; a time of day is a calendar event, such as "*-*-* 02:00"`},
		{"every day at 25", "          ^", "expected `from` and a time, a zone, or the end of the timer"},
		// cron
		{"0 2 * * * Europe/Berlin", "          ^", "the zone of a cron expression stands in front, as in CRON_TZ=Europe/Berlin 0 2 * * *"},
		{"*/5 * * * * /usr/bin/backup -v", "            ^", "a timer has no command; a handler runs it"},
		{"0 2 * *", "       ^", "a cron expression has 5 to 7 fields, this one has 4"},
		{"1,,2 * * * *", "  ^", "the minute is missing"},
		{"0 0 * * MOM", "        ^", `"MOM" is no weekday; did you mean "MON"?`},
		{"0 0 * * 5#6", "          ^", "expected 1 to 5 after `#`"},
		{"0 0 L-3 * *", "    ^", "stands alone"},
		{"*/0 * * * *", "  ^", "expected a step of at least 1"},
		{"30-10 * * * *", "^", "the range 30-10 ends before it starts"},
		{"0 8 * * FRI-SUN", "        ^", `the range FRI-SUN ends before it starts; did you mean "FRI-7"?`},
		{"0~30 2 * * *", "^", "~ is a random time of cronie; write a time, and give the task a jitter"},
		{"@midnight", "^", `did you mean "@daily"?`},
		{"@every 5m", "^", `did you mean "every 5m"?`},
		{"@daily x", "       ^", "expected the end of the timer"},
		// intervals
		{"every", "     ^", "expected a unit"},
		{"every 0m", "      ^", "an interval must be positive; use a number of at least 1"},
		{"every 5 M", "        ^", `did you mean "months"?`},
		{"every 1d2h", "        ^", "only hours, minutes and seconds can be added up"},
		{"every 300 years", "      ^", "at most 230 years"},
		{"every 9223372036854775807s", "      ^", "at most 7253280000 seconds"},
		{"every 9999999999999h1s", "      ^", "at most"},
		{"every 15m from", "              ^", "expected a time such as"},
		{"every 15m from 2026-02-30", "               ^", "expected a time such as"},
		{"every 15m from 2300-01-01", "               ^", "must start in the years 1970 to 2199"},
	} {
		_, err := Parse(c.timer)
		var wrong *ParseError
		if !errors.As(err, &wrong) {
			t.Errorf("Parse(%q) = %v, want a *ParseError", c.timer, err)
			continue
		}
		if want := c.timer + "\n" + c.caret; wrong.Caret() != want {
			t.Errorf("Parse(%q) points at\n%s\nwant\n%s", c.timer, wrong.Caret(), want)
		}
		if !strings.Contains(wrong.Msg, c.msg) {
			t.Errorf("Parse(%q): %s\nwant %s", c.timer, wrong.Msg, c.msg)
		}
		if wrong.Timer != c.timer || !strings.Contains(err.Error(), wrong.Msg) {
			t.Errorf("Parse(%q): %v", c.timer, err)
		}
	}
}

// An error says in words where the trouble is: nobody has to count bytes.
func TestErrorsSayWhere(t *testing.T) {
	for timer, want := range map[string]string{
		"Fry 10:00":              `timer "Fry 10:00": "Fry" is not`,
		"Mon 25:00":              `timer "Mon 25:00", at "25:00": hour 25`,
		"12:00:":                 `timer "12:00:", at its end: `,
		"":                       `timer "": the timer is empty`,
		strings.Repeat("1", 300): `timer "` + strings.Repeat("1", 64) + `...", at "` + strings.Repeat("1", 32) + `...": the timer has 300 bytes`,
	} {
		if _, err := Parse(timer); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %s", timer, err, want)
		}
	}
}

func TestLongTimersAreRefused(t *testing.T) {
	long := "*:" + strings.Repeat("1,", 125) + "12"
	if len(long) != MaxLength {
		t.Fatalf("the longest timer has %d bytes", len(long))
	}
	if _, err := Parse(long); err != nil {
		t.Errorf("a timer of %d bytes: %v", len(long), err)
	}
	_, err := Parse(long + "3")
	var wrong *ParseError
	if !errors.As(err, &wrong) || wrong.Offset != MaxLength || !strings.Contains(wrong.Msg, "255 bytes") {
		t.Errorf("a timer of %d bytes: %v", len(long)+1, err)
	}
}

func TestCaretIsFitForATerminal(t *testing.T) {
	e := &ParseError{Timer: "Mön\x1b[31m \xff x", Offset: 11}
	if want := "Mön?[31m \ufffd x\n          ^"; e.Caret() != want {
		t.Errorf("%q, want %q", e.Caret(), want)
	}
	for _, offset := range []int{-1, 100} {
		_ = (&ParseError{Timer: "x", Offset: offset}).Caret() // must not panic
	}
}
