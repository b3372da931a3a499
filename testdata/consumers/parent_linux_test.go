package consumers_test

import (
	"os/exec"
	"syscall"
)

// tie has a process end with the tests, also when they are killed.
func tie(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
