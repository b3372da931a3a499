package store

import "database/sql"

// rowInt is a number of a row that anybody may have written: columns of SQLite
// take any value, and what is no whole number reads as 0, without ok, so that one
// bad row never fails a batch.
type rowInt struct {
	n  int
	ok bool
}

// Scan implements [database/sql.Scanner].
func (i *rowInt) Scan(src any) error {
	var n sql.Null[int]
	if n.Scan(src) != nil {
		n = sql.Null[int]{}
	}
	i.n, i.ok = n.V, n.Valid
	return nil
}

// rowBool is a truth value of such a row; what is none reads as false.
type rowBool bool

// Scan implements [database/sql.Scanner].
func (b *rowBool) Scan(src any) error {
	var is sql.NullBool
	*b = rowBool(is.Scan(src) == nil && is.Bool)
	return nil
}

// rowText is a text of such a row; NULL reads as empty.
type rowText string

// Scan implements [database/sql.Scanner].
func (t *rowText) Scan(src any) error {
	var text sql.NullString
	err := text.Scan(src)
	*t = rowText(text.String)
	return err
}
