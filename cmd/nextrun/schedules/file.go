package schedules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// MaxFile is the greatest size of a file.
const MaxFile = 64 << 20

// ReadFile reads a file; - is standard input. It removes a byte order mark and the
// carriage returns at ends of lines.
func ReadFile(path string, o Options) (string, error) {
	var from io.Reader = o.Stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, MaxFile+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	if len(text) > MaxFile {
		return "", fmt.Errorf("%s has more than %d MiB", path, MaxFile>>20)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), nil
}

// ErrNotText is the error of text that no column can hold.
var ErrNotText = errors.New("it is not UTF-8 text, or has a NUL character")

// CheckText returns [ErrNotText] for text that no column can hold.
func CheckText(text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return ErrNotText
	}
	return nil
}

// Shorten makes one line of at most 80 characters of a text.
func Shorten(text string) string {
	const most = 80
	line, rest, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(text, "?")), "\n")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	if rest != "" {
		return line + " ..."
	}
	return line
}
