package service

import "fmt"

// Guard turns a panic of somebody else's code into an error.
func Guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return call()
}
