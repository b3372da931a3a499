package schedules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/nextrun/nextrun/internal/text"
)

// MaxFile is the greatest size of a file.
const MaxFile = 64 << 20

// ReadFile reads a file; - is standard input. It removes a byte order mark and the
// carriage returns at ends of lines.
func ReadFile(path string, o Options) (string, error) {
	from := o.Stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer file.Close() //nolint:errcheck // it was only read
		from = file
	}
	content, err := io.ReadAll(io.LimitReader(from, MaxFile+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	if len(content) > MaxFile {
		return "", fmt.Errorf("%s has more than %d MiB", path, MaxFile>>20)
	}
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	return string(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))), nil
}

// ErrNotText is the error of text that no column can hold.
var ErrNotText = errors.New("it is not UTF-8 text, or has a NUL character")

// CheckText returns [ErrNotText] for text that no column can hold.
func CheckText(content string) error {
	if !text.Valid(content) {
		return ErrNotText
	}
	return nil
}

// Shorten makes one line of at most 80 characters of a text.
func Shorten(content string) string { return text.FirstLine(strings.ToValidUTF8(content, "?")) }
