package ui

import (
	"encoding/json"

	"github.com/nextrun/nextrun/internal/column"
)

// Value is the value of a column for people; empty for NULL.
func (env *Env) Value(v column.Value) string {
	switch {
	case v.Null:
		return ""
	case v.Kind == column.Time:
		return env.Moment(v.Time)
	case v.Kind == column.Seconds:
		return Seconds(v.Duration())
	case v.Kind == column.JSON:
		return Shorten(v.Text)
	}
	return v.String()
}

// Object is a JSON object whose members have an order, for people who read it.
type Object [][2]any // names and values

// ColumnsOf are the columns of a row as the members of an object: durations in seconds, and
// null where they are NULL.
func ColumnsOf[T any](row *T, columns []column.Column[T]) Object {
	object := make(Object, 0, len(columns)+4)
	for _, c := range columns {
		object = append(object, [2]any{c.Name, c.Get(row).Any()})
	}
	return object
}

// MarshalJSON implements [json.Marshaler].
func (o Object) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, m := range o {
		name, err := json.Marshal(m[0])
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m[1])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}
