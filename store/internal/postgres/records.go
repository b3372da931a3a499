package postgres

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Table unnests the arrays of the columns, which are elements of one array of texts: read as arrays of their
// types they cost PostgreSQL far less than JSON, or casts of each value, would. The limit makes the planner expect
// few rows: a tenth of a limit whose value it does not know. If it expected many, it
// might read a table of a hundred thousand rows instead of using the index.
func (*dialect) Table(n int, columns []sqldb.Field) string {
	var names, arrays strings.Builder
	for i, c := range columns {
		if i > 0 {
			names.WriteString(", ")
			arrays.WriteString(", ")
		}
		names.WriteString(c.Name)
		fmt.Fprintf(&arrays, "($%d::text[])[%d]::%s[]", n, i+1, c.Kind)
	}
	return fmt.Sprintf("(SELECT %s FROM unnest(%s) AS u (%[1]s) LIMIT (SELECT 1000000000))", &names, &arrays)
}

// Encode writes an array whose elements are the arrays of the columns.
func (*dialect) Encode(columns []sqldb.Field, n int, values func(i int) []any) (string, error) {
	parts := make([][]byte, len(columns))
	for i := range n {
		for j, v := range values(i) {
			if i > 0 {
				parts[j] = append(parts[j], ',')
			}
			var err error
			if parts[j], err = appendElement(parts[j], v); err != nil {
				return "", fmt.Errorf("%s: %w", columns[j].Name, err)
			}
			if i == 0 { // the others will be about as long
				parts[j] = slices.Grow(parts[j], (n-1)*(len(parts[j])+4))
			}
		}
	}
	size := 2
	for _, part := range parts {
		size += len(part) + len(`,"{}"`)
	}
	array := make([]byte, 0, size)
	for i, part := range parts {
		array = append(append(append(array, "{,"[min(i, 1)]), `"{`...), escaped(part)...)
		array = append(array, `}"`...)
	}
	return string(append(array, '}')), nil
}

// escaped is a text as it stands between quotes in an array.
func escaped(text []byte) []byte {
	if !bytes.ContainsAny(text, `"\`) {
		return text
	}
	to := make([]byte, 0, len(text)+len(text)/4)
	for _, b := range text {
		if b == '"' || b == '\\' {
			to = append(to, '\\')
		}
		to = append(to, b)
	}
	return to
}

// appendElement writes a value as an element of an array; see "Array Input and
// Output Syntax" in PostgreSQL's manual.
func appendElement(to []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(to, "NULL"...), nil
	case string:
		if isPlain(v) {
			return append(to, v...), nil
		}
		to = append(to, '"')
		return append(append(to, escaped([]byte(strings.ToValidUTF8(v, "\uFFFD")))...), '"'), nil
	case time.Time:
		if v.IsZero() {
			return append(to, "NULL"...), nil
		}
		return append(to, sqldb.Timestamp(v).String()...), nil
	case int:
		return strconv.AppendInt(to, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(to, v, 10), nil
	case bool:
		return strconv.AppendBool(to, v), nil
	}
	return nil, fmt.Errorf("a record cannot hold a %T", value)
}

// isPlain reports whether a text needs no quotes in an array.
func isPlain(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '-', c == '_', c == '.', c == '@', c == ':', c == '/':
		default:
			return false
		}
	}
	return text != "" && !strings.EqualFold(text, "NULL")
}
