package sqlite

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Table reads the rows by position.
func (*dialect) Table(n int, columns []sqldb.Field) string {
	var b strings.Builder
	b.WriteString("(SELECT ")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		if c.Kind == sqldb.FieldText {
			fmt.Fprintf(&b, "CAST(unhex(value->>%d) AS TEXT) AS %s", i, c.Name)
		} else {
			fmt.Fprintf(&b, "value->>%d AS %s", i, c.Name)
		}
	}
	fmt.Fprintf(&b, " FROM json_each($%d))", n)
	return b.String()
}

// Encode writes a JSON array of arrays. Texts are in hexadecimal, so that bytes
// stay as they are which are not UTF-8 and which JSON could not carry.
func (*dialect) Encode(columns []sqldb.Field, n int, values func(i int) []any) (string, error) {
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
			case sqldb.IsNull(v):
				b = append(b, "null"...)
			case ok && columns[j].Kind == sqldb.FieldText:
				b = append(hex.AppendEncode(append(b, '"'), []byte(text)), '"')
			default:
				if b, err = sqldb.AppendValue(b, v); err != nil {
					return "", fmt.Errorf("%s: %w", columns[j].Name, err)
				}
			}
		}
		b = append(b, ']')
	}
	return string(append(b, ']')), nil
}
