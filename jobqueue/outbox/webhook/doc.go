// Package webhook publishes events of the outbox as CloudEvents over HTTP: one
// POST for each event, in order.
//
// In structured mode the body is the whole event as application/cloudevents+json;
// in binary mode the attributes are ce-* headers and the body is the payload
// (CloudEvents HTTP protocol binding 1.0.2).
//
// # Signatures
//
// With a secret, each request has three headers, as Standard Webhooks specifies:
// webhook-id is the event's id, percent-encoded like ce-id if needed;
// webhook-timestamp is in Unix seconds; webhook-signature is "v1," and the base64
// of HMAC-SHA256 over id, timestamp and body, joined by dots. A receiver computes
// the same, compares in constant time, and refuses old timestamps. [Verify] does
// so. The signature covers the body. In structured mode that is the whole event.
// In binary mode it does not cover the attributes other than the id.
//
// The signature is computed here and not by the library of Standard Webhooks:
// these few lines take several keys, and add no dependency.
//
// # Answers
//
// 2xx accepts the event. 4xx refuses it for good, except for 408, 425 and 429.
// These, all other answers, and errors ask for another attempt; Retry-After is
// honored. A redirect is not followed: it could take the event and the secrets in
// its headers elsewhere.
package webhook
