package calendar_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
)

func ExampleParse() {
	s, err := calendar.Parse("Mon..Fri 2:30 Europe/Berlin")
	if err != nil {
		panic(err)
	}
	fmt.Println(s)
	at := time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC) // a Friday; the clock is set forward on Sunday
	for range 3 {
		at = s.Next(at)
		fmt.Println(at.Format(time.RFC3339), at.In(calendar.Location(s)).Format("Mon 15:04 MST"))
	}
	// Output:
	// Mon..Fri *-*-* 02:30:00 Europe/Berlin
	// 2026-03-30T00:30:00Z Mon 02:30 CEST
	// 2026-03-31T00:30:00Z Tue 02:30 CEST
	// 2026-04-01T00:30:00Z Wed 02:30 CEST
}

func ExampleParse_notations() {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, timer := range []string{
		"*-*~1 02:00",
		"0 2 L * *",
		"every 1 month from 2026-01-31T02:00:00Z",
	} {
		s, err := calendar.Parse(timer)
		if err != nil {
			panic(err)
		}
		first := s.Next(at)
		fmt.Println(first.Format(time.DateTime), s.Next(first).Format(time.DateTime), explain.Schedule(s))
	}
	// Output:
	// 2026-01-31 02:00:00 2026-02-28 02:00:00 at 02:00 on the last day of every month, UTC
	// 2026-01-31 02:00:00 2026-02-28 02:00:00 at 02:00 on the last day of every month, UTC
	// 2026-01-31 02:00:00 2026-02-28 02:00:00 every month, counted from 2026-01-31 02:00, UTC; on the last day of months that are too short
}

func ExampleParseAt() {
	created := time.Date(2026, 5, 4, 9, 7, 0, 0, time.UTC)
	s, err := calendar.ParseAt("every 15m", created)
	if err != nil {
		panic(err)
	}
	fmt.Println(s)
	fmt.Println(s.Next(created))
	// Output:
	// every 15m from 2026-05-04T09:07:00Z
	// 2026-05-04 09:22:00 +0000 UTC
}

func ExampleParseError() {
	_, err := calendar.Parse("Mon *-*-* 25:00")
	var wrong *calendar.ParseError
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Caret())
		fmt.Println(wrong.Msg)
	}
	// Output:
	// Mon *-*-* 25:00
	//           ^
	// hour 25 is not in 0..23
}
