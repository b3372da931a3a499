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
// messages: "outbox.Config".
type Check struct {
	Config   string
	problems []error
}

// Field notes a setting unless it is right. Use completes: "..., use 1 to 10".
func (c *Check) Field(ok bool, field string, value any, use string) {
	if !ok {
		c.problems = append(c.problems, fmt.Errorf("%s.%s is %v; use %s", c.Config, field, show(value), use))
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
	c.Field(low <= value && value <= high, field, value, fmt.Sprintf("%s to %s, or 0 for the default", show(low), show(high)))
}

// AtLeast notes a setting below low.
func AtLeast[T cmp.Ordered](c *Check, field string, value, low T) {
	c.Field(low <= value, field, value, show(low)+" or more, or 0 for the default")
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
