package periodic

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// compare returns the columns in which a row differs from the wanted task.
func compare(row, wanted *Task) []ColumnChange {
	var list []ColumnChange
	from, to := userColumns(row), userColumns(wanted)
	for i, column := range from {
		same := column.value == to[i].value
		if column.name == "args" {
			same = SameArgs(column.value, to[i].value)
		}
		if !same {
			list = append(list, ColumnChange{Column: column.name, From: column.value, To: to[i].value})
		}
	}
	return list
}

// textColumn is a column with its value as a text.
type textColumn struct{ name, value string }

// userColumns are the columns that users own, except id and nextrun.
func userColumns(t *Task) []textColumn {
	seconds := func(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
	moment := func(v time.Time) string {
		if v.IsZero() {
			return ""
		}
		return v.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
	}
	deadline := ""
	if t.Deadline != nil {
		deadline = seconds(*t.Deadline)
	}
	return []textColumn{
		{"enabled", strconv.FormatBool(t.Enabled)}, {"task", t.Task}, {"timer", t.Timer}, {"group", t.Group},
		{"args", t.Args}, {"subject", t.Subject}, {"submitter", t.Submitter},
		{"priority", strconv.Itoa(t.Priority)}, {"summary", t.Summary}, {"starts", moment(t.Starts)},
		{"ends", moment(t.Ends)}, {"overlap", string(t.Overlap)}, {"catchup", string(t.Catchup)},
		{"grace", seconds(t.Grace)}, {"deadline", deadline}, {"jitter", seconds(t.Jitter)}, {"sink", string(t.Sink)},
	}
}

// SameArgs reports whether args are the same text, or the same JSON value apart
// from white space and the order of names.
func SameArgs(a, b string) bool {
	if a == b {
		return true
	}
	valueA, okA := decodeJSON(a)
	valueB, okB := decodeJSON(b)
	return okA && okB && reflect.DeepEqual(valueA, valueB)
}

// decodeJSON decodes one JSON value, numbers as they are written.
func decodeJSON(text string) (value any, ok bool) {
	if !json.Valid([]byte(text)) {
		return nil, false
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	return value, err == nil
}
