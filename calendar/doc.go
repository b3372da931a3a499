// Package calendar says when a timer elapses.
//
// A timer is a text of at most 254 bytes in one of three notations. Parse recognizes the notation
// and compiles the timer to a [Schedule], which answers two questions: when is the next elapse
// after a time, and when was the last one before a time. A schedule is a set of instants: its
// answers do not depend on earlier questions, on the machine's clock, or on its zone. The package
// needs no database, no goroutine and no configuration.
//
//	*-*-* 02:00 Europe/Berlin                   calendar event: at 02:00 every day
//	30 4 * * 1-5                                cron expression: at 04:30 on weekdays
//	every 36h from 2026-01-31T02:00:00Z         interval
//
// # Calendar events
//
// All that systemd.time(7) describes under "Calendar Events", with the same normal form:
//
//	[weekdays] [[year-]month-day] [hour:minute[:second]] [zone]
//
//	Mon..Fri *-*-* 09:00        weekdays: names or their first three letters; lists, ranges
//	*-*-1,15 12:00              lists
//	*-1..3-* 12:00              ranges; between weekdays, a dash will do
//	*:0/15                      repetitions: from minute 0 every 15 minutes; 9..17/2 has an end
//	*-*~1 12:00                 days from the end of the month, 1 to 28: the last day
//	Mon *-*~7/1                 the last Monday: a Monday among the last seven days
//	2026-12-24                  a date without a time is midnight
//	12:00:00.5                  seconds may have fractions, down to the microsecond
//	@1798761600                 seconds since 1970-01-01T00:00:00Z: once
//	*-*-* 02:00 +01:00          a fixed offset from UTC instead of a zone; Z is UTC
//	weekly Asia/Tokyo           minutely, hourly, daily, weekly, monthly, quarterly,
//	                            semiannually, yearly
//
// A day elapses when the weekday, the year, the month and the day of the month match. Years have
// four digits or two: 70 to 99 mean 1970 to 1999, 00 to 69 mean 2000 to 2069. A range or a
// repetition starts again from its first value in every hour, day, month or year: *:0/7 elapses at
// minutes 0, 7, ... 56 of every hour.
//
// Two defects of systemd are not copied. Up to version 258, it misses the first elapse of such a
// repetition after the last hour of a day, a month or a year (systemd issue 40260). And it refuses
// lists of three days from the end of the month that reach beyond the 22nd.
//
// # Cron expressions
//
// What gronx accepts. A timer with five words or more is a cron expression:
//
//	[CRON_TZ=zone] [second] minute hour day-of-month month weekday [year]
//
//	*/5 9-17 * * MON-FRI        steps, ranges, names
//	0 2 L * *                   the last day of the month
//	0 2 15W * *                 the workday nearest to the 15th, in the same month
//	0 2 * * 5L                  the last Friday
//	0 2 * * 1#2                 the second Monday
//	0 0 1 1 * 2030              a sixth field of four digits is a year; with any other sixth
//	                            field, the first one holds the seconds
//	CRON_TZ=Asia/Tokyo @daily   @yearly, @monthly, @weekly, @daily, @hourly, @5minutes, ...
//	                            @30minutes, @everysecond
//
// When both the day of the month and the weekday are restricted, a day elapses when one of them
// matches. When one of them starts with a star (*/2 or *,5), both must match. gronx silently ignores parts
// that can never match; this package refuses them: junk behind L, W and #, numbers out of range,
// the name of a month among weekdays.
//
// # Intervals
//
//	every 15m                                   s, m, h or seconds, minutes, hours; 1h30m
//	every 2 weeks                               days, weeks, months, quarters, years
//	every month from 2026-01-31T02:00:00Z       the first elapse
//	every 1 day from 2026-03-01 02:00 Europe/Berlin    local time, with a zone behind it
//
// The k-th elapse is counted from the first one, so that nothing drifts: monthly from 31 January
// elapses on 28 February, then on 31 March. Seconds, minutes and hours have a fixed length; days
// and longer units count on the clock of the zone. Without `from`, an interval starts at the anchor
// given to [ParseAt], or else at 1970-01-01T00:00:00Z.
//
// # Several timers
//
// A timer may be several, with semicolons between them. It elapses whenever one of them does, and once
// where several elapse at the same time. Each has its own notation and zone:
//
//	Mon..Fri 08:30 Europe/Berlin; Sat 10:00 Europe/Berlin
//	0 2 * * *; every 6h from 2026-01-31T05:00:00Z
//
// # Zones and changes of the clock
//
// A timer without a zone is in UTC. Zones have the names of the zone database, which is compiled
// in; if the machine has one, that comes first, as everywhere in Go. Paths are refused, and so are
// names that mean something else on every machine, such as Local.
//
// The zone of a calendar event may also be an offset from UTC of up to 18 hours: Z, +2, +02, +0200,
// +02:00, +020000 or +02:00:00, and the same with a minus. Its normal form is +02:00, or UTC if it is
// zero. Such a clock is never set forward or back. systemd knows no such zones; they are those of
// calev, the library of Docspell.
//
// Where a clock is set forward or back, a timer neither loses nor repeats an elapse (RFC 5545,
// section 3.3.5):
//
//   - A local time that does not exist elapses at the instant given by the offset before the
//     change: 02:30 elapses when the clock shows 03:30. When another elapse falls on the same
//     instant, the two are one elapse.
//   - A local time that occurs twice elapses once, the first time. A timer that elapses in every
//     hour (the hour is *, or a list of all 24) elapses the second time too, so that "every 15
//     minutes" never pauses.
//
// # Limits
//
// Elapses lie in the years 1970 to 2199. The zero [time.Time] means never. Parsing, Next and Prev
// take constant time of well below a millisecond for every timer, however hostile. Next and Prev do
// not allocate.
package calendar
