package config

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
)

// reference stands for what must not be in the file: ${NAME} for an environment variable, and
// ${file:PATH} for what a file holds.
var reference = regexp.MustCompile(`\$\{([^}]+)\}`)

// expanded reads a text with references. What is not there is no problem of the file: it is an
// error of what needs it, when that is built.
func (r *reader) expanded(place string, n *node) string {
	return reference.ReplaceAllStringFunc(r.text(place, n), func(found string) string {
		value, err := r.lookUp(found[len("${") : len(found)-len("}")])
		if err != nil {
			r.lacking[place] = err
		}
		return value
	})
}

func (r *reader) lookUp(name string) (string, error) {
	path, isFile := strings.CutPrefix(name, "file:")
	if !isFile {
		if value := r.env(name); value != "" {
			return value, nil
		}
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	text, err := os.ReadFile(path)
	value := strings.TrimSpace(string(text))
	if err == nil && value == "" {
		err = fmt.Errorf("the file %s is empty", path)
	}
	return value, err
}

// secret is a text with references, whose variables commands do not inherit.
func (r *reader) secret(place string, n *node) string {
	for _, found := range reference.FindAllStringSubmatch(n.text, -1) {
		r.variables = append(r.variables, found[1])
	}
	return r.expanded(place, n)
}

// secretText is a text that may hold a secret, such as a URL.
type secretText string

func (s *secretText) read(r *reader, place string, n *node) { *s = secretText(r.secret(place, n)) }

// secretList are keys, one or several, which must not be in the file itself.
type secretList []string

func (s *secretList) read(r *reader, place string, n *node) {
	items := n.items
	if n.kind != isList {
		items = []*node{n}
	}
	for _, item := range items {
		if !reference.MatchString(item.text) {
			r.problem(item, "%s must be ${NAME} or ${file:PATH}: a secret is in a variable or in a file of its own", place)
		}
		*s = append(*s, r.secret(place, item))
	}
}

// headers are those of HTTP, in whose values are secrets.
type headers http.Header

func (h *headers) read(r *reader, place string, n *node) {
	*h = headers{}
	r.pairs(n, place, func(key, value *node) {
		http.Header(*h).Set(key.text, r.secret(join(place, key.text), value))
	})
}
