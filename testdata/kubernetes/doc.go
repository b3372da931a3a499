// Package kubernetes checks the Helm chart and the manifests of dist/ against the
// types of the Kubernetes API. It is a module of its own, since nextrun needs neither.
package kubernetes
