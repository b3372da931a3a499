package config

import (
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The keys of HTTP requests, which handlers, hooks, webhooks and the notify of queues share.

func (r *reader) method(place string, n *yaml.Node) string {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	method := r.text(place, n)
	if !slices.Contains(methods, method) {
		r.problem(n, "%s must be one of %s", place, strings.Join(methods, ", "))
	}
	return method
}

func (r *reader) headers(place string, n *yaml.Node) http.Header {
	header := http.Header{}
	r.pairs(n, place, func(key, value *yaml.Node) {
		header.Set(key.Value, r.text(join(place, key.Value), value))
	})
	return header
}

// secretsInto reads where secrets are: one text, or a list of them.
func (r *reader) secretsInto(secrets *[]secret, of func(string) secret) func(string, *yaml.Node) {
	return func(place string, n *yaml.Node) {
		names := []string{}
		if resolve(n).Kind == yaml.SequenceNode {
			names = r.texts(place, n)
		} else {
			names = append(names, r.text(place, n))
		}
		for _, name := range names {
			*secrets = append(*secrets, of(name))
		}
	}
}
