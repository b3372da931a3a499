// Package cloudevents writes events as CloudEvents 1.0, which publishers send:
// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md
package cloudevents
