package service

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// SetDefault gives a setting its default if it has its zero value.
func SetDefault[T comparable](setting *T, value T) {
	var zero T
	if *setting == zero {
		*setting = value
	}
}

// MaxName is the greatest length of the name of a service in bytes.
const MaxName = 200

// Check collects what is wrong with the settings of a Config. Its name begins the
// messages: "relay.Config".
type Check struct {
	Config   string
	problems []error
}

// FieldError says that a setting is wrong. The reader of a configuration file finds
// the key and the line by Field.
type FieldError struct {
	Config string // such as relay.Config
	Field  string
	Value  any    // the value, or a text that stands for it
	Use    string // what to use instead, such as "1 to 10"
	hint   string // of use to programs only
}

// Error names the setting and says what to use instead.
func (e *FieldError) Error() string {
	return fmt.Sprintf("%s.%s is %v; use %s%s", e.Config, e.Field, show(e.Value), e.Use, e.hint)
}

// Fields returns the field errors in the error of a validation.
func Fields(err error) []*FieldError {
	var joined interface{ Unwrap() []error }
	var field *FieldError
	var fields []*FieldError
	if errors.As(err, &joined) {
		for _, one := range joined.Unwrap() {
			fields = append(fields, Fields(one)...)
		}
	} else if errors.As(err, &field) {
		fields = append(fields, field)
	}
	return fields
}

const orDefault = ", or 0 for the default"

// Field notes a setting unless it is right. Use completes: "..., use 1 to 10".
func (c *Check) Field(ok bool, field string, value any, use string) {
	c.hinted(ok, field, value, use, "")
}

func (c *Check) hinted(ok bool, field string, value any, use, hint string) {
	if !ok {
		c.problems = append(c.problems, &FieldError{c.Config, field, value, use, hint})
	}
}

// Name notes a name that a worker cannot have.
func (c *Check) Name(name string) {
	ok := name != "" && len(name) <= MaxName && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return r == '/' || unicode.IsControl(r)
	})
	c.Field(ok, "Name", fmt.Sprintf("%q", name), fmt.Sprintf("1 to %d bytes of UTF-8 without slashes and control characters", MaxName))
}

// Err returns everything that was noted, or nil.
func (c *Check) Err() error { return errors.Join(c.problems...) }

// Within notes a setting below low or above high.
func Within[T cmp.Ordered](c *Check, field string, value, low, high T) {
	c.hinted(low <= value && value <= high, field, value, fmt.Sprintf("%s to %s", show(low), show(high)), orDefault)
}

// show writes a bound, a duration without parts that are zero: 24h.
func show(bound any) string {
	s := fmt.Sprint(bound)
	if _, ok := bound.(time.Duration); ok {
		for _, unit := range []string{"m0s", "h0m"} {
			if strings.HasSuffix(s, unit) {
				s = s[:len(s)-2]
			}
		}
	}
	return s
}
