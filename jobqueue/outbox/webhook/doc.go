// Package webhook publishes events of the outbox as CloudEvents over HTTP: one
// POST for each event, in order.
//
// In structured mode the body is the whole event as application/cloudevents+json;
// in binary mode the attributes are ce-* headers and the body is the payload
// (CloudEvents HTTP protocol binding 1.0.2).
//
// # Signatures
//
// With a secret each request carries webhook-id, which is the event's id
// (percent-encoded like ce-id, should it need that), webhook-timestamp, in Unix seconds, and webhook-signature: "v1," and the
// base64 of HMAC-SHA256 over id, timestamp and body, joined by dots, as the
// Standard Webhooks specification has it. A receiver computes the same,
// compares in constant time, and refuses timestamps that are old. [Verify]
// does so. The signature covers the body: in structured mode that is the whole
// event, in binary mode the attributes other than the id are not covered.
//
// # Answers
//
// 2xx accepts the event. 4xx refuses it for good, but for 408, 425 and 429,
// which ask for another attempt, as all other answers and errors do;
// Retry-After is honoured. A redirect is not followed: it could take the event
// and the secrets in its headers elsewhere.
package webhook
