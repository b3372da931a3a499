package store

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// records are rows handed to the database as one parameter, so that a
// statement has the same text and the same number of parameters whatever the
// number of rows. Use sql as a table expression in FROM and give param for the
// placeholder it was made for.
type records struct {
	sql   string
	param string
}

// newRecords makes the records of n rows; row i has the values that values(i)
// returns, in the order of the columns: texts, times, integers, truth values.
// Zero times and nil are NULL.
func (db *DB) newRecords(placeholder int, columns []field, n int, values func(i int) []any) (records, error) {
	param, err := db.dialect.encode(columns, n, values)
	if err != nil {
		return records{}, fmt.Errorf("encode rows: %w", err)
	}
	return records{sql: db.dialect.records(placeholder, columns), param: param}, nil
}

// texts makes records of one column, value, of texts.
func (db *DB) texts(placeholder int, values []string) (records, error) {
	return db.newRecords(placeholder, []field{{"value", fieldText}}, len(values), func(i int) []any { return []any{values[i]} })
}

// nullable returns nil for an empty text, which records write as NULL.
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// records takes the array's parts, each of which is a column, as columns of
// text, and casts them. That costs PostgreSQL half of what JSON would. The limit
// makes them count as few: of one that it does not know PostgreSQL expects a
// tenth. For all of them it would rather read a whole table of a hundred thousand
// rows than find them by their ids.
func (*postgres) records(n int, columns []field) string {
	var names, casts, parts strings.Builder
	array, rows := fmt.Sprintf("($%d::text[])", n), fmt.Sprintf("cardinality($%d::text[]) / %d", n, len(columns))
	for i, c := range columns {
		if i > 0 {
			names.WriteString(", ")
			casts.WriteString(", ")
			parts.WriteString(", ")
		}
		names.WriteString(c.name)
		fmt.Fprintf(&casts, "u.%s::%s", c.name, c.kind)
		fmt.Fprintf(&parts, "%s[%d * %s + 1 : %d * %s]", array, i, rows, i+1, rows)
	}
	return fmt.Sprintf("(SELECT %s FROM unnest(%s) AS u (%s) LIMIT (SELECT 1000000000))", &casts, &parts, &names)
}

// encode writes an array of texts, one column after the other.
func (*postgres) encode(columns []field, n int, values func(i int) []any) (string, error) {
	parts := make([][]byte, len(columns))
	for i := range n {
		for j, v := range values(i) {
			var err error
			if parts[j], err = appendElement(parts[j], v); err != nil {
				return "", fmt.Errorf("%s: %w", columns[j].name, err)
			}
			parts[j] = append(parts[j], ',')
			if i == 0 { // the others will be about as long
				parts[j] = slices.Grow(parts[j], (n-1)*(len(parts[j])+4))
			}
		}
	}
	var array strings.Builder
	array.WriteByte('{')
	for i, part := range parts {
		if i == len(parts)-1 {
			part = bytes.TrimSuffix(part, []byte{','})
		}
		array.Grow((len(parts) - i) * (len(part) + 1))
		array.Write(part)
	}
	array.WriteByte('}')
	return array.String(), nil
}

// appendElement writes a value as an element of an array; see "Array Input and
// Output Syntax" in PostgreSQL's manual.
func appendElement(to []byte, value any) ([]byte, error) {
	text, ok := value.(string)
	switch {
	case isNull(value):
		return append(to, "NULL"...), nil
	case !ok:
		return appendValue(to, value)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	to = append(to, '"')
	if !strings.ContainsAny(text, `"\`) {
		return append(append(to, text...), '"'), nil
	}
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			to = append(to, '\\')
		}
		to = append(to, text[i])
	}
	return append(to, '"'), nil
}

// records reads the rows by position.
func (*sqlite) records(n int, columns []field) string {
	var b strings.Builder
	b.WriteString("(SELECT ")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		if c.kind == fieldText {
			fmt.Fprintf(&b, "CAST(unhex(value->>%d) AS TEXT) AS %s", i, c.name)
		} else {
			fmt.Fprintf(&b, "value->>%d AS %s", i, c.name)
		}
	}
	fmt.Fprintf(&b, " FROM json_each($%d))", n)
	return b.String()
}

// encode writes a JSON array of arrays. Texts are in hexadecimal, so that bytes
// stay as they are which are not UTF-8 and which JSON could not carry.
func (*sqlite) encode(columns []field, n int, values func(i int) []any) (string, error) {
	b := []byte{'['}
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		for j, v := range values(i) {
			if j > 0 {
				b = append(b, ',')
			}
			var err error
			switch text, ok := v.(string); {
			case isNull(v):
				b = append(b, "null"...)
			case ok && columns[j].kind == fieldText:
				b = append(hex.AppendEncode(append(b, '"'), []byte(text)), '"')
			default:
				if b, err = appendValue(b, v); err != nil {
					return "", fmt.Errorf("%s: %w", columns[j].name, err)
				}
			}
		}
		b = append(b, ']')
	}
	return string(append(b, ']')), nil
}

// isNull reports whether a value of a record stands for NULL.
func isNull(value any) bool {
	at, ok := value.(time.Time)
	return value == nil || ok && at.IsZero()
}

// appendValue writes a value that looks the same in an array of PostgreSQL and
// in JSON.
func appendValue(to []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case time.Time:
		return append(Timestamp(v).appendTo(append(to, '"')), '"'), nil
	case int:
		return strconv.AppendInt(to, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(to, v, 10), nil
	case bool:
		return strconv.AppendBool(to, v), nil
	}
	return nil, fmt.Errorf("a record cannot hold a %T", value)
}
