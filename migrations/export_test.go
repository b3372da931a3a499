package migrations

// MismatchError is what a table that was there before is refused with.
type MismatchError = mismatchError
