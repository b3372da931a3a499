//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

import (
	"errors"
	"os"
)

// lockFile fails: leases decide.
func lockFile(*os.File, bool) error { return errors.ErrUnsupported }
