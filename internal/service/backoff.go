package service

import (
	"crypto/rand"
	"encoding/hex"
	mathrand "math/rand/v2"
	"time"
)

// Backoff is the time to wait after each failure in a row. It doubles from Least to
// Most. Each wait is a random part of that, at least half of it, so that services
// that failed together do not retry together. It belongs to one goroutine.
type Backoff struct {
	Least, Most time.Duration
	failures    int
}

// Next returns how long to wait after one more failure.
func (b *Backoff) Next() time.Duration {
	b.failures++
	return Delay(b.failures, b.Least, b.Most)
}

// Reset forgets the failures; call it after a success.
func (b *Backoff) Reset() { b.failures = 0 }

// Delay is how long to wait after a number of failures in a row, counted from 1: a
// random time between d/2 and d, where d is least * 2^(failures-1), at most most.
func Delay(failures int, least, most time.Duration) time.Duration {
	d := max(min(least, most), 0)
	for n := 1; n < failures && 0 < d && d < most; n++ {
		if d > most/2 { // twice that could overflow
			d = most
		} else {
			d *= 2
		}
	}
	return d/2 + mathrand.N(d-d/2+1)
}

const bootDigits = 12

// BootID returns 12 random hexadecimal digits; see [WorkerID].
func BootID() string {
	var id [bootDigits / 2]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}
