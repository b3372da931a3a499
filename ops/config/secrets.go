package config

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
)

// secrets say where what must not be in the file is: in environment variables or in files.
type secrets struct {
	headerEnv map[string]string // the variables with the values of headers
	env, file []string          // keys of signatures, or a password
}

// keys are the keys of an HTTP request that has secrets.
func (s *secrets) keys(r *reader) keys {
	return keys{
		"header_env":  &s.headerEnv,
		"secret_env":  func(place string, n *node) { s.env = r.oneOrMore(place, n) },
		"secret_file": func(place string, n *node) { s.file = r.oneOrMore(place, n) },
	}
}

// variables adds the names of variables that hold secrets.
func (s *secrets) variables(names []string) []string {
	return append(slices.AppendSeq(names, maps.Values(s.headerEnv)), s.env...)
}

// lookUp returns the secrets that are no headers. No error shows one.
func (s *secrets) lookUp(env func(string) string) (found []string, err error) {
	for _, variable := range s.env {
		value := env(variable)
		if value == "" {
			return nil, fmt.Errorf("the environment variable %s for a secret is not set", variable)
		}
		found = append(found, value)
	}
	for _, file := range s.file {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read a secret: %w", err)
		}
		value := strings.TrimSpace(string(text))
		if value == "" {
			return nil, fmt.Errorf("the file %s for a secret is empty", file)
		}
		found = append(found, value)
	}
	return found, nil
}

// headers are the given headers and those whose values are in environment variables.
func headers(given, inEnv map[string]string, env func(string) string) (map[string]string, error) {
	all := map[string]string{}
	maps.Copy(all, given)
	for name, variable := range inEnv {
		value := env(variable)
		if value == "" {
			return nil, fmt.Errorf("the environment variable %s for the header %s is not set", variable, name)
		}
		all[name] = value
	}
	return all, nil
}

// headerWith is a header with those whose values are in environment variables.
func headerWith(given http.Header, inEnv map[string]string, env func(string) string) (http.Header, error) {
	all := http.Header{}
	maps.Copy(all, given)
	fromEnv, err := headers(nil, inEnv, env)
	for name, value := range fromEnv {
		all.Set(name, value)
	}
	return all, err
}
