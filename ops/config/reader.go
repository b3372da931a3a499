package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// reader puts the values of a file into fields and records what is wrong with them.
type reader struct {
	env       func(string) string
	variables []string         // with secrets, that the file names
	lacking   map[string]error // by place: the variables and files that are not there
	problems  []Problem
}

func (r *reader) problem(n *node, format string, args ...any) {
	r.problems = append(r.problems, Problem{n.line, fmt.Sprintf(format, args...)})
}

// keys are keys of a mapping. Each has a pointer to what it sets, of a type that
// [reader.value] knows, or a function that reads its value.
type keys map[string]any

// mapping reads a mapping into all of these: keys, and pointers to structs whose tags name
// the keys of their fields. Any other key is a problem. Then it asks the structs for their bounds.
func (r *reader) mapping(n *node, place string, into ...any) {
	known := keys{}
	for _, one := range into {
		maps.Copy(known, keysOf(one))
	}
	r.pairs(n, place, func(key, value *node) {
		if field, found := known[key.text]; found {
			r.value(join(place, key.text), value, field)
			return
		}
		r.problem(key, "unknown key %q in %s; known are %s", key.text, name(place), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	})
	for _, one := range into {
		if owner, ok := one.(owner); ok {
			r.check(n, place, owner)
		}
	}
}

// keysOf are the keys of a mapping that is read into this.
func keysOf(into any) keys {
	if known, ok := into.(keys); ok {
		return known
	}
	known, v := keys{}, reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		if tag := v.Type().Field(i).Tag; tag.Get("yaml") != "" {
			known[tag.Get("yaml")] = inForm(v.Field(i).Addr().Interface(), tag.Get("form"))
		}
	}
	return known
}

// value reads a value into a field.
func (r *reader) value(place string, n *node, field any) {
	switch field := field.(type) {
	case func(place string, n *node):
		field(place, n)
	case interface{ read(*reader, string, *node) }:
		field.read(r, place, n)
	case *[]string:
		*field = r.texts(place, n)
	case *bool:
		*field = r.boolean(place, n)
	default:
		r.number(place, n, field)
	}
}

// number reads numbers and durations, and what the kind of a type says how to read.
func (r *reader) number(place string, n *node, field any) {
	switch v := reflect.ValueOf(field).Elem(); v.Kind() {
	case reflect.Int, reflect.Int64:
		r.positive(place, n, field, "")
	case reflect.String:
		v.SetString(r.text(place, n))
	case reflect.Struct:
		r.mapping(n, place, field)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.value(place, n, v.Interface())
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		r.pairs(n, place, func(key, value *node) {
			element := reflect.New(v.Type().Elem())
			r.value(join(place, key.text), value, element.Interface())
			v.SetMapIndex(reflect.ValueOf(key.text).Convert(v.Type().Key()), element.Elem())
		})
	default:
		panic(fmt.Sprintf("%s: no way to read a %T", place, field))
	}
}

// pairs calls fn for each key of a mapping. An empty value is an empty mapping.
func (r *reader) pairs(n *node, place string, fn func(key, value *node)) {
	if n.kind != isNull && n.kind != isMapping {
		r.problem(n, "%s must be a mapping of keys to values", name(place))
		return
	}
	seen := map[string]bool{}
	for _, p := range n.pairs {
		switch {
		case p.key.kind == isList || p.key.kind == isMapping || p.key.text == "":
			r.problem(p.key, "a key in %s must be a name", name(place))
		case seen[p.key.text]:
			r.problem(p.key, "%q stands twice in %s", p.key.text, name(place))
		default:
			seen[p.key.text] = true
			fn(p.key, p.value)
		}
	}
}

// need reports that a mapping lacks a key.
func (r *reader) need(n *node, place, key, article string) {
	if !n.has(key) {
		r.problem(n, "%s needs %s%s", place, article, key)
	}
}

func join(place, key string) string {
	if place == "" {
		return key
	}
	return place + "." + key
}

// name is a place in words.
func name(place string) string {
	if place == "" {
		return "the file"
	}
	return place
}
