// Package traceparent passes the trace context of the W3C along as the text that its
// header traceparent has: https://www.w3.org/TR/trace-context/#traceparent-header
package traceparent

import (
	"context"
	"regexp"
	"strings"
)

// form is that of version 00, VERSION-TRACE-PARENT-FLAGS. There is no later one.
var form = regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$`)

// Clean returns a text if it is a traceparent of version 00, and "" for all else.
func Clean(text string) string {
	if parts := form.FindStringSubmatch(text); len(parts) != 3 || isZero(parts[1]) || isZero(parts[2]) {
		return ""
	}
	return text
}

func isZero(text string) bool { return strings.Trim(text, "0") == "" }

type key struct{}

// With returns a context in which text is the traceparent for what is called next. A
// text that is none changes nothing.
func With(ctx context.Context, text string) context.Context {
	if text = Clean(text); text == "" {
		return ctx
	}
	return context.WithValue(ctx, key{}, text)
}

// Of is the traceparent of a context; "" if it has none.
func Of(ctx context.Context) string {
	text, _ := ctx.Value(key{}).(string)
	return text
}
