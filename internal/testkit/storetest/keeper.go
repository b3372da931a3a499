package storetest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// keeper is a running scripts/with-postgres, which keeps a server until its
// standard input ends: with this process at the latest, however that ends.
type keeper struct {
	url     string
	command *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Reader
}

// startKeeper returns once the server accepts connections. Its error is what
// the script had to say.
func startKeeper(environment []string) (*keeper, error) {
	script, err := scriptPath()
	if err != nil {
		return nil, err
	}
	messages, err := unlinkedFile()
	if err != nil {
		return nil, err
	}
	defer func() { _ = messages.Close() }() // the script has its own handle

	command := exec.Command(script)
	command.Env = environment
	command.Stderr = messages
	// Control-C and a kill of our process group are for us; the end of its
	// input then tells the script to clean up.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	orders, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", script, err)
	}
	answers, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", script, err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", script, err)
	}
	k := &keeper{command: command, orders: orders, answers: bufio.NewReader(answers)}
	k.url, err = k.answer()
	if err != nil {
		err = errors.Join(err, k.close())
		said, _ := io.ReadAll(io.NewSectionReader(messages, 0, 1<<20))
		return nil, fmt.Errorf("%s: %w\n%s", script, err, said)
	}
	return k, nil
}

// order sends one line and expects an answer.
func (k *keeper) order(line, expected string) error {
	if _, err := io.WriteString(k.orders, line+"\n"); err != nil {
		return fmt.Errorf("tell with-postgres to %s: %w", line, err)
	}
	answer, err := k.answer()
	if err != nil {
		return err
	}
	if answer != expected {
		return fmt.Errorf("told with-postgres to %s: %s", line, answer)
	}
	return nil
}

func (k *keeper) answer() (string, error) {
	line, err := k.answers.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("with-postgres ended without an answer: %w", err)
	}
	return strings.TrimSuffix(line, "\n"), nil
}

// close removes the server and waits until it is gone.
func (k *keeper) close() error {
	closed := k.orders.Close()
	_, drained := io.Copy(io.Discard, k.answers)
	return errors.Join(closed, drained, k.command.Wait())
}

// unlinkedFile is a temporary file that nobody has to remove. As a program's
// output it needs no goroutine, which a buffer would.
func unlinkedFile() (*os.File, error) {
	file, err := os.CreateTemp("", "nextrun-messages")
	if err != nil {
		return nil, fmt.Errorf("temporary file for messages: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("remove temporary file: %w", err), file.Close())
	}
	return file, nil
}

// A test may change its directory before it asks for a database.
var startDirectory, errStartDirectory = os.Getwd()

// scriptPath finds the script in the module that the test runs in.
func scriptPath() (string, error) {
	if errStartDirectory != nil {
		return "", fmt.Errorf("find scripts/with-postgres: %w", errStartDirectory)
	}
	for dir := startDirectory; ; dir = filepath.Dir(dir) {
		script := filepath.Join(dir, "scripts", "with-postgres")
		if info, err := os.Stat(script); err == nil && info.Mode().IsRegular() {
			return script, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no scripts/with-postgres above %s: run the tests in nextrun's checkout or set %s",
				startDirectory, ServerVariable)
		}
	}
}
