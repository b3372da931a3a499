package sqldb

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// table reads the rows by position.
func (*sqlite) table(n int, columns []Field) string {
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
func (*sqlite) encode(columns []Field, n int, values func(i int) []any) (string, error) {
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
