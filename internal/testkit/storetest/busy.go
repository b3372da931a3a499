package storetest

import (
	"errors"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Insist does something until the database is not too busy for it, as a loop does that goes on after an error.
func Insist(do func() error) error {
	err := do()
	for n := 0; n < 50 && errors.Is(err, sqldb.ErrBusy); n++ {
		err = do()
	}
	return err
}
