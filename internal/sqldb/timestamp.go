package sqldb

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// timeFormat is how a time is written in both databases: UTC, microseconds,
// fixed width, so that SQLite's text comparison orders it.
const timeFormat = "2006-01-02 15:04:05.000000"

// Timestamp is a time as the tables hold it: UTC, without zone, microseconds.
// The zero value is SQL NULL.
type Timestamp time.Time

// Time returns the time in UTC; the zero time for NULL.
func (t Timestamp) Time() time.Time { return time.Time(t) }

// Value implements [driver.Valuer].
func (t Timestamp) Value() (driver.Value, error) {
	if time.Time(t).IsZero() {
		return nil, nil
	}
	return t.String(), nil
}

// String is the time as it is written to the database; empty for NULL.
func (t Timestamp) String() string {
	if time.Time(t).IsZero() {
		return ""
	}
	return time.Time(t).UTC().Format(timeFormat)
}

// firstTime and lastTime are the times that can be shown and written anywhere,
// in JSON for one.
var (
	firstTime = time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC)
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// Scan implements [database/sql.Scanner]. PostgreSQL's infinity and times after
// the year 9999 read as the last time, -infinity and times before the year 1 as
// the first.
func (t *Timestamp) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t = Timestamp{}
	case time.Time: // of a column without zone: its digits are UTC
		t.set(v)
	case []byte:
		return t.parse(string(v))
	case string:
		return t.parse(v)
	default:
		return fmt.Errorf("read a time: unexpected %T", src)
	}
	return nil
}

func (t *Timestamp) set(v time.Time) {
	switch v = v.UTC(); {
	case v.Year() > 9999:
		v = lastTime
	case v.Year() < 1:
		v = firstTime
	}
	*t = Timestamp(v)
}

func (t *Timestamp) parse(text string) error {
	switch text {
	case "infinity":
		*t = Timestamp(lastTime)
		return nil
	case "-infinity":
		*t = Timestamp(firstTime)
		return nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999Z07:00"} {
		if v, err := time.Parse(layout, text); err == nil {
			t.set(v)
			return nil
		}
	}
	return fmt.Errorf("read a time: %q is not of the form YYYY-MM-DD HH:MM:SS.ffffff", text)
}

// RowTime is a [Timestamp] of a row that anybody may have written: what is no
// time reads as NULL, so that one bad row never fails a batch.
type RowTime struct{ Timestamp }

// Scan implements [database/sql.Scanner].
func (t *RowTime) Scan(src any) error {
	if tooLong(src) || t.Timestamp.Scan(src) != nil {
		t.Timestamp = Timestamp{}
	}
	return nil
}

// Period are the bounds of a list of what has a time: from, to but not including until.
// Zero times are no bounds.
func Period(since, until time.Time) (from, to Timestamp) {
	if since.IsZero() {
		since = firstTime
	}
	if until.IsZero() {
		until = lastTime
	}
	return Timestamp(since), Timestamp(until)
}
