package config

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/internal/watched"
)

// reader puts the values of a file into fields and records what is wrong with them.
type reader struct {
	env       func(string) string
	variables []string         // with secrets, that the file names
	lacking   map[string]error // by place: the variables and files that are not there
	files     watched.Files    // with secrets, that the file names
	made      int              // bytes of args
	most      int              // of them; 0: any number
	problems  []Problem
}

func (r *reader) problem(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, Problem{n.Line, fmt.Sprintf(format, args...)})
}

// keys are keys of a mapping. Each has a pointer to what it sets, of a type that
// [reader.value] knows, or a function that reads its value.
type keys map[string]any

// mapping reads a mapping into all of these: keys, and pointers to structs whose tags name
// the keys of their fields. Any other key is a problem. Then it asks the structs for their bounds.
func (r *reader) mapping(n *yaml.Node, place string, into ...any) {
	known := keys{}
	for _, one := range into {
		maps.Copy(known, keysOf(one))
	}
	r.pairs(n, place, func(key, value *yaml.Node) {
		if field, found := known[key.Value]; found {
			r.value(join(place, key.Value), value, field)
			return
		}
		r.problem(key, "unknown key %q in %s; known are %s", key.Value, name(place), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
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
		tag := v.Type().Field(i).Tag
		switch key := tag.Get("yaml"); {
		case key == "":
		case tag.Get("form") == "":
			known[key] = v.Field(i).Addr().Interface()
		default:
			known[key] = forms[tag.Get("form")](v.Field(i))
		}
	}
	return known
}

// value reads a value into a field, as its type says, or else as the kind of its type says.
func (r *reader) value(place string, n *yaml.Node, field any) {
	switch field := field.(type) {
	case func(place string, n *yaml.Node):
		field(place, n)
	case interface {
		read(*reader, string, *yaml.Node)
	}:
		field.read(r, place, n)
	case *[]string:
		*field = r.texts(place, n)
	case *bool:
		*field = r.boolean(place, n)
	case *http.Header:
		*field = http.Header{}
		r.pairs(n, place, func(key, value *yaml.Node) { field.Set(key.Value, r.secret(join(place, key.Value), value)) })
	default:
		r.byKind(place, n, reflect.ValueOf(field).Elem())
	}
}

func (r *reader) byKind(place string, n *yaml.Node, v reflect.Value) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		r.positive(place, n, v, "")
	case reflect.String:
		v.SetString(r.text(place, n))
	case reflect.Struct:
		r.mapping(n, place, v.Addr().Interface())
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.value(place, n, v.Interface())
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		r.pairs(n, place, func(key, value *yaml.Node) {
			element := reflect.New(v.Type().Elem())
			r.value(join(place, key.Value), value, element.Interface())
			v.SetMapIndex(reflect.ValueOf(key.Value).Convert(v.Type().Key()), element.Elem())
		})
	default:
		panic(fmt.Sprintf("%s: no way to read a %s", place, v.Type()))
	}
}

// pairs calls fn for each key of a mapping. An empty value is an empty mapping.
func (r *reader) pairs(n *yaml.Node, place string, fn func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		if n.Tag != "!!null" {
			r.problem(n, "%s must be a mapping of keys to values", name(place))
		}
		return
	}
	seen := map[string]bool{}
	for pair := range slices.Chunk(n.Content, 2) {
		switch key := target(pair[0]); {
		case key.Kind != yaml.ScalarNode || key.Value == "":
			r.problem(key, "a key in %s must be a name", name(place))
		case seen[key.Value]:
			r.problem(key, "%q stands twice in %s", key.Value, name(place))
		default:
			seen[key.Value] = true
			fn(key, target(pair[1]))
		}
	}
}

// oneOf is the one of these keys that a mapping has. If it has none of them or several, that is a problem, and the key is empty.
func (r *reader) oneOf(n *yaml.Node, place string, keys ...string) string {
	found := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return find(n, key) == nil })
	switch len(found) {
	case 0:
		has := "" // perhaps misspelt
		if n.Kind == yaml.MappingNode && len(n.Content) > 0 {
			has = fmt.Sprintf("; its first key is %q", target(n.Content[0]).Value)
		}
		r.problem(n, "%s needs one of %s%s", place, strings.Join(keys, ", "), has)
	case 1:
		return found[0]
	default:
		r.problem(n, "%s has both %s; use one", place, strings.Join(found, " and "))
	}
	return ""
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
