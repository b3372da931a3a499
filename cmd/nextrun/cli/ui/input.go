package ui

import (
	"fmt"
	"io"
	"os"
)

// FromStdin replaces the text of a flag by standard input if it is "-".
func FromStdin(stdin io.Reader, flag *string) error {
	if *flag != "-" {
		return nil
	}
	text, err := io.ReadAll(stdin)
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	*flag = string(text)
	return nil
}

// ReadFile reads a file; - is standard input.
func ReadFile(stdin io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}
