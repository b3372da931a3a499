// Package traceparent passes the trace context of the W3C along as the text that its
// header traceparent has: https://www.w3.org/TR/trace-context/#traceparent-header
package traceparent

import (
	"context"
	"strings"
)

// The parts of a traceparent of version 00, VERSION-TRACE-PARENT-FLAGS.
const (
	versionEnd = 2
	traceEnd   = versionEnd + 1 + 32
	parentEnd  = traceEnd + 1 + 16
	length     = parentEnd + 1 + 2
	longest    = 254 // of later versions
)

// Clean returns a text if it is a traceparent of version 00, what version 00 has of one
// of a later version, and "" for all else.
func Clean(text string) string {
	if len(text) < length || len(text) > longest {
		return ""
	}
	version, trace, parent, flags := text[:versionEnd], text[versionEnd+1:traceEnd], text[traceEnd+1:parentEnd], text[parentEnd+1:length]
	separated := text[versionEnd] == '-' && text[traceEnd] == '-' && text[parentEnd] == '-'
	if !separated || !isHex(version) || !isHex(trace) || !isHex(parent) || !isHex(flags) ||
		version == "ff" || isZero(trace) || isZero(parent) {
		return ""
	}
	switch more := text[length:]; {
	case version == "00" && more == "":
		return text
	case version == "00" || more != "" && more[0] != '-':
		return ""
	}
	return "00-" + trace + "-" + parent + "-" + sampled(flags)
}

// sampled are the flags of version 00 that correspond to those of a later one.
func sampled(flags string) string {
	if strings.ContainsRune("13579bdf", rune(flags[1])) {
		return "01"
	}
	return "00"
}

func isHex(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
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
