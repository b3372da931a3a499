package schedules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/nextrun/nextrun/internal/text"
)

// MaxFile is the greatest size of a file.
const MaxFile = 64 << 20

// ReadFile reads a file; - is standard input. It removes a byte order mark and the
// carriage returns at ends of lines.
func ReadFile(path string, o Options) (string, error) {
	from := o.Stdin
	if path != "-" {
		file, err := open(path)
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

// open opens a regular file, and what a shell hands over as one. Others are refused, since
// a pipe without a writer would never end, nor would some devices.
func open(path string) (*os.File, error) {
	if strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") || path == "/dev/stdin" {
		return os.Open(path)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file; to read from a pipe, use - for standard input", path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Unreadable is the item of a file of a directory that cannot be read. The tasks that were
// imported from it earlier stay as they are.
func Unreadable(path string, err error) Item {
	return Item{File: path, Source: filepath.Base(path), Refused: err.Error(), Unread: true}
}

// MaxItems is how many schedules one file may have.
const MaxItems = 100_000

// TooMany is the item after the last one of a file that has more.
func TooMany(path string, line int) Item {
	return Item{File: path, Line: line, Source: "the rest of the file", Refused: fmt.Sprintf("a file may have %d schedules; split it", MaxItems)}
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
