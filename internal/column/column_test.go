package column_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/column"
)

type row struct {
	text     string
	truth    bool
	number   int
	seconds  time.Duration
	at       time.Time
	count    *int
	deadline *time.Duration
}

// A value that is read from one row and written to another is there, and so is its absence.
func TestFieldsKeepValues(t *testing.T) {
	t.Parallel()
	zero, hour := 0, time.Hour
	full := row{"x", true, -1, time.Minute, time.Unix(5, 1000).UTC(), &zero, &hour}
	for name, c := range map[string]struct {
		field column.Field[row]
		full  string
		null  bool // of an empty row
	}{
		"text":            {column.TextIn(func(r *row) *string { return &r.text }), "x", false},
		"text or null":    {column.TextOrNull(func(r *row) *string { return &r.text }), "x", true},
		"JSON":            {column.JSONIn(func(r *row) *string { return &r.text }), "x", false},
		"truth":           {column.TruthIn(func(r *row) *bool { return &r.truth }), "true", false},
		"number":          {column.NumberIn(func(r *row) *int { return &r.number }), "-1", false},
		"count or null":   {column.CountOrNull(func(r *row) *int { return &r.number }), "-1", true},
		"seconds":         {column.SecondsIn(func(r *row) *time.Duration { return &r.seconds }), "60", false},
		"seconds or null": {column.SecondsOrNull(func(r *row) *time.Duration { return &r.seconds }), "60", true},
		"time":            {column.TimeIn(func(r *row) *time.Time { return &r.at }), "1970-01-01T00:00:05.000001Z", true},
		"count or nil":    {column.Pointer(func(r *row) **int { return &r.count }, column.CountIn), "0", true},
		"seconds or nil":  {column.Pointer(func(r *row) **time.Duration { return &r.deadline }, column.SecondsIn), "3600", true},
	} {
		value, none := c.field.Get(&full), c.field.Get(&row{})
		if value.Null || value.String() != c.full || none.Null != c.null || value.Kind != c.field.Kind || none.Kind != c.field.Kind {
			t.Errorf("%s: %+v of a full row, %+v of an empty one", name, value, none)
		}
		var other row
		if c.field.Set(&other, value); c.field.Get(&other) != value {
			t.Errorf("%s: wrote %+v, read %+v", name, value, c.field.Get(&other))
		}
		if c.field.Set(&other, none); c.field.Get(&other) != none {
			t.Errorf("%s: wrote %+v, read %+v", name, none, c.field.Get(&other))
		}
	}
}
