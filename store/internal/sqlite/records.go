package sqlite

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Table reads the rows by position. With the type of a column, the planner uses the order of an index for a text that is
// equal to that column.
func (*dialect) Table(n int, columns []sqldb.Field) string {
	var b strings.Builder
	b.WriteString("(SELECT ")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		if c.Kind == sqldb.FieldText {
			fmt.Fprintf(&b, "CAST(value->>%d AS TEXT) AS %s", i, c.Name)
		} else {
			fmt.Fprintf(&b, "value->>%d AS %s", i, c.Name)
		}
	}
	fmt.Fprintf(&b, " FROM jsonb_each(CAST($%d AS BLOB)))", n)
	return b.String()
}

// The types of elements of JSONB; see "The SQLite JSONB Format" in SQLite's documentation.
const (
	jsonNull, jsonTrue, jsonFalse, jsonInt = 0, 1, 2, 3
	jsonRawText, jsonArray                 = 10, 11
)

// Encode writes an array of arrays as JSONB, which SQLite need not parse. Texts are raw, so that bytes
// stay as they are which are not UTF-8 and which JSON could not carry.
func (*dialect) Encode(columns []sqldb.Field, n int, values func(i int) []any) (string, error) {
	var all, row []byte
	for i := range n {
		row = row[:0]
		for j, v := range values(i) {
			var err error
			if row, err = appendElement(row, v); err != nil {
				return "", fmt.Errorf("%s: %w", columns[j].Name, err)
			}
		}
		all = append(appendHeader(all, jsonArray, len(row)), row...)
	}
	return string(append(appendHeader(nil, jsonArray, len(all)), all...)), nil
}

func appendElement(to []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(to, jsonNull), nil
	case string:
		return append(appendHeader(to, jsonRawText, len(v)), v...), nil
	case time.Time:
		text := sqldb.Timestamp(v).String()
		if text == "" {
			return append(to, jsonNull), nil
		}
		return append(appendHeader(to, jsonRawText, len(text)), text...), nil
	case int:
		return appendElement(to, int64(v))
	case int64:
		digits := strconv.FormatInt(v, 10)
		return append(appendHeader(to, jsonInt, len(digits)), digits...), nil
	case bool:
		if v {
			return append(to, jsonTrue), nil
		}
		return append(to, jsonFalse), nil
	}
	return nil, fmt.Errorf("a record cannot hold a %T", value)
}

// appendHeader writes the header of an element with so many bytes.
func appendHeader(to []byte, kind byte, size int) []byte {
	switch {
	case size < 12:
		return append(to, byte(size)<<4|kind)
	case size < 1<<8:
		return append(to, 12<<4|kind, byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(to, 13<<4|kind), uint16(size))
	}
	return binary.BigEndian.AppendUint32(append(to, 14<<4|kind), uint32(size))
}
