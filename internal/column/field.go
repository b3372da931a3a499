package column

import "time"

// Field says where a row in memory keeps a value.
type Field[T any] struct {
	Kind Kind
	Get  func(*T) Value
	Set  func(*T, Value)
}

// In is a value of that kind in a variable of the row, which get and set convert. get is
// given a value that has its kind already.
func In[T, V any](kind Kind, at func(*T) *V, get func(V, *Value), set func(Value) V) Field[T] {
	return Field[T]{
		Kind: kind,
		Get: func(row *T) Value {
			v := Value{Kind: kind}
			get(*at(row), &v)
			return v
		},
		Set: func(row *T, v Value) { *at(row) = set(v) },
	}
}

// TextIn is a text, which is never NULL.
func TextIn[T any, S ~string](at func(*T) *S) Field[T] {
	return In(Text, at, func(s S, v *Value) { v.Text = string(s) }, func(v Value) S { return S(v.Text) })
}

// TextOrNull is a text; the empty text is NULL.
func TextOrNull[T any, S ~string](at func(*T) *S) Field[T] {
	return In(Text, at, func(s S, v *Value) { v.Null, v.Text = s == "", string(s) }, func(v Value) S { return S(v.Text) })
}

// JSONIn is a text of the kind JSON.
func JSONIn[T any](at func(*T) *string) Field[T] {
	return In(JSON, at, func(s string, v *Value) { v.Text = s }, func(v Value) string { return v.Text })
}

// TruthIn is a truth value.
func TruthIn[T any](at func(*T) *bool) Field[T] {
	return In(Truth, at, func(b bool, v *Value) { *v = Of(b) }, func(v Value) bool { return v.Number != 0 })
}

// NumberIn is a whole number, which is never NULL.
func NumberIn[T any](at func(*T) *int) Field[T] {
	return In(Number, at, func(n int, v *Value) { v.Number = n }, func(v Value) int { return v.Number })
}

// CountOrNull is a number of the kind Count; 0 is NULL.
func CountOrNull[T any](at func(*T) *int) Field[T] {
	return In(Count, at, func(n int, v *Value) { v.Null, v.Number = n == 0, n }, func(v Value) int { return v.Number })
}

// SecondsIn is a duration, which is never NULL.
func SecondsIn[T any](at func(*T) *time.Duration) Field[T] {
	return In(Seconds, at, func(d time.Duration, v *Value) { v.Number = int(d / time.Second) }, Value.Duration)
}

// SecondsOrNull is a duration; 0 is NULL.
func SecondsOrNull[T any](at func(*T) *time.Duration) Field[T] {
	return In(Seconds, at, func(d time.Duration, v *Value) { v.Null, v.Number = d == 0, int(d/time.Second) }, Value.Duration)
}

// TimeIn is a time; the zero time is NULL.
func TimeIn[T any](at func(*T) *time.Time) Field[T] {
	return In(Time, at, func(t time.Time, v *Value) {
		if v.Null = t.IsZero(); !v.Null {
			v.Time = t.UTC().Truncate(time.Microsecond)
		}
	}, func(v Value) time.Time { return v.Time })
}

// Pointer is a value of a kind whose variable may be nil, which is NULL.
func Pointer[T, V any](at func(*T) **V, of func(func(*V) *V) Field[V]) Field[T] {
	field := of(func(value *V) *V { return value })
	return In(field.Kind, at, func(value *V, v *Value) {
		if v.Null = value == nil; !v.Null {
			*v = field.Get(value)
		}
	}, func(v Value) *V {
		if v.Null {
			return nil
		}
		value := new(V)
		field.Set(value, v)
		return value
	})
}

// CountIn is a number of the kind Count, which is never NULL.
func CountIn[T any](at func(*T) *int) Field[T] {
	return In(Count, at, func(n int, v *Value) { v.Number = n }, func(v Value) int { return v.Number })
}
