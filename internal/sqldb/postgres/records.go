package postgres

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Table unnests the parts of the array, one for each column, and casts their texts.
// That costs PostgreSQL half of what JSON would. The limit makes the planner expect
// few rows: a tenth of a limit whose value it does not know. If it expected many, it
// might read a table of a hundred thousand rows instead of using the index.
func (*dialect) Table(n int, columns []sqldb.Field) string {
	var names, casts, parts strings.Builder
	array, rows := fmt.Sprintf("($%d::text[])", n), fmt.Sprintf("cardinality($%d::text[]) / %d", n, len(columns))
	for i, c := range columns {
		if i > 0 {
			names.WriteString(", ")
			casts.WriteString(", ")
			parts.WriteString(", ")
		}
		names.WriteString(c.Name)
		fmt.Fprintf(&casts, "u.%s::%s", c.Name, c.Kind)
		fmt.Fprintf(&parts, "%s[%d * %s + 1 : %d * %s]", array, i, rows, i+1, rows)
	}
	return fmt.Sprintf("(SELECT %s FROM unnest(%s) AS u (%s) LIMIT (SELECT 1000000000))", &casts, &parts, &names)
}

// Encode writes an array of texts, one column after the other.
func (*dialect) Encode(columns []sqldb.Field, n int, values func(i int) []any) (string, error) {
	parts := make([][]byte, len(columns))
	for i := range n {
		for j, v := range values(i) {
			var err error
			if parts[j], err = appendElement(parts[j], v); err != nil {
				return "", fmt.Errorf("%s: %w", columns[j].Name, err)
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
	case sqldb.IsNull(value):
		return append(to, "NULL"...), nil
	case !ok:
		return sqldb.AppendValue(to, value)
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
