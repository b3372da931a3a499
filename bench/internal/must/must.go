// Package must lets commands that measure or test go on without a look at each error: they panic, and [Try] tells why.
package must

import (
	"errors"
	"runtime"
)

// Nil panics if there is an error.
func Nil(err error) {
	if err != nil {
		panic(err)
	}
}

// Get is a value, unless there is an error, with which it panics.
func Get[T any](value T, err error) T {
	Nil(err)
	return value
}

// Try does something and returns the error with which it panics.
func Try(do func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			var ok bool
			if err, ok = p.(error); !ok || errors.As(err, new(runtime.Error)) {
				panic(p)
			}
		}
	}()
	do()
	return nil
}
