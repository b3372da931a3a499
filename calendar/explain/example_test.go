package explain_test

import (
	"fmt"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
)

func ExampleSchedule() {
	for _, timer := range []string{"*-*~1 02:00 Europe/Berlin", "*/5 9-17 * * 1-5", "every 2 weeks"} {
		s, err := calendar.Parse(timer)
		if err != nil {
			panic(err)
		}
		fmt.Println(explain.Schedule(s))
	}
	// Output:
	// at 02:00 on the last day of every month, Europe/Berlin time
	// every 5 minutes from 09:00 to 17:59 on Mondays to Fridays, UTC
	// every 2 weeks, counted from 1970-01-01 00:00, UTC
}

func ExampleLint() {
	s, err := calendar.Parse("*-*-29 02:30 Europe/Berlin")
	if err != nil {
		panic(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, f := range explain.Lint(s, at) {
		fmt.Println(f.Code+":", f.Message)
	}
	// Output:
	// short-months: day 29 does not exist in February of most years
	// dst-moved: 2026-03-29 02:30 does not exist and elapses at 03:30
}
