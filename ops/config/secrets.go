package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reference stands for what must not be in the file: ${NAME} for an environment variable, and
// ${file:PATH} for what a file holds.
var reference = regexp.MustCompile(`\$\{([^}]+)\}`)

// expanded reads a text with references. What is not there is no problem of the file: it is an
// error of what needs it, when that is built.
func (r *reader) expanded(place string, n *yaml.Node) string {
	return reference.ReplaceAllStringFunc(r.text(place, n), func(found string) string {
		value, err := r.lookUp(found[len("${") : len(found)-len("}")])
		if err != nil {
			r.lacking[place] = err
		}
		return value
	})
}

// lookUp returns a value without the white space around it, such as the end of a line.
func (r *reader) lookUp(name string) (string, error) {
	path, isFile := strings.CutPrefix(name, "file:")
	if !isFile {
		if value := strings.TrimSpace(r.env(name)); value != "" {
			return value, nil
		}
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	r.files.Add(path)
	text, err := os.ReadFile(path)
	value := strings.TrimSpace(string(text))
	if err == nil && value == "" {
		err = fmt.Errorf("the file %s is empty", path)
	}
	return value, err
}

// secret reads a text with references, whose variables commands do not inherit.
func (r *reader) secret(place string, n *yaml.Node) string {
	for _, found := range reference.FindAllStringSubmatch(n.Value, -1) {
		r.variables = append(r.variables, found[1])
	}
	return r.expanded(place, n)
}

// secret is a text with references, or where the field is a list one or several of them.
type secret struct {
	field any  // *string or *[]string
	whole bool // it must not be in the file itself
}

func (s secret) read(r *reader, place string, n *yaml.Node) {
	list, several := s.field.(*[]string)
	items := []*yaml.Node{n}
	if several && n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		if item = target(item); s.whole && !reference.MatchString(item.Value) {
			r.problem(item, "%s must be ${NAME} or ${file:PATH}: a secret is in a variable or in a file of its own", place)
			continue
		}
		text := r.secret(place, item)
		if several {
			*list = append(*list, text)
			continue
		}
		*s.field.(*string) = text
	}
}
