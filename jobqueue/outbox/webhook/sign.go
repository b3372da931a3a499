package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a signed request, as the Standard Webhooks specification names
// them: https://github.com/standard-webhooks/standard-webhooks
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

const signatureVersion = "v1,"

// ErrSignature is returned by [Verify] for a request that does not carry a
// signature of one of the secrets, or an old one.
var ErrSignature = errors.New("the signature is missing, wrong or too old")

// sign sets the headers of a signed request.
func sign(h http.Header, keys [][]byte, id string, at time.Time, body []byte) {
	if len(keys) == 0 {
		return
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(keys))
	for i, key := range keys {
		signatures[i] = signatureVersion + base64.StdEncoding.EncodeToString(digest(key, id, timestamp, body))
	}
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, timestamp)
	h.Set(HeaderSignature, strings.Join(signatures, " "))
}

func digest(key []byte, id, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return mac.Sum(nil)
}

// Verify checks, for receivers written in Go, that a request with that body was
// signed with one of the secrets no longer ago than tolerance; 5 minutes is
// usual. It returns [ErrSignature], or an error about a secret.
func Verify(h http.Header, body []byte, now time.Time, tolerance time.Duration, secrets ...string) error {
	keys, err := Config{Secrets: secrets}.keys()
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(h.Get(HeaderTimestamp), 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return ErrSignature
	}
	for _, text := range strings.Fields(h.Get(HeaderSignature)) {
		encoded, ok := strings.CutPrefix(text, signatureVersion)
		given, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil {
			continue
		}
		for _, key := range keys {
			if hmac.Equal(given, digest(key, h.Get(HeaderID), h.Get(HeaderTimestamp), body)) {
				return nil
			}
		}
	}
	return ErrSignature
}
