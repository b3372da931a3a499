package sqldb

import "database/sql"

// RowInt is a number of a row that anybody may have written: columns of SQLite
// take any value. What is not a whole number reads as 0, without OK, so that one
// bad row never fails a batch.
type RowInt struct {
	N  int
	OK bool
}

// Scan implements [database/sql.Scanner].
func (i *RowInt) Scan(src any) error {
	var n sql.Null[int]
	if n.Scan(src) != nil {
		n = sql.Null[int]{}
	}
	i.N, i.OK = n.V, n.Valid
	return nil
}

// RowBool is a truth value of such a row; anything else reads as false.
type RowBool bool

// Scan implements [database/sql.Scanner].
func (b *RowBool) Scan(src any) error {
	var is sql.NullBool
	*b = RowBool(is.Scan(src) == nil && is.Bool)
	return nil
}

// RowText is a text of such a row; NULL reads as empty.
type RowText string

// Scan implements [database/sql.Scanner].
func (t *RowText) Scan(src any) error {
	var text sql.NullString
	err := text.Scan(src)
	*t = RowText(text.String)
	return err
}

// Deref returns the text of a column that may be NULL, which reads as empty.
func Deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// Set returns the values as the keys of a map.
func Set(values []string) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, v := range values {
		set[v] = true
	}
	return set
}
