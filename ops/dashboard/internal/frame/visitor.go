package frame

import "context"

// Visitor is who asks.
type Visitor struct {
	User string
	Acts bool // may change something
}

type visitorKey struct{}

// With returns a context of a request of a visitor.
func With(ctx context.Context, v Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

// Who is the visitor of a request.
func Who(ctx context.Context) Visitor {
	v, _ := ctx.Value(visitorKey{}).(Visitor)
	return v
}
