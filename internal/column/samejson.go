package column

import (
	"encoding/json"
	"reflect"
	"strings"
)

// SameJSON reports whether texts are the same text, or the same JSON value apart
// from white space and the order of names.
func SameJSON(a, b string) bool {
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
