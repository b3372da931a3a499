package handlers

import (
	"strings"

	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/jobqueue"
)

// excerptEnd is how much of each end of an answer goes to the job log.
const excerptEnd = 8 << 10

// excerpt keeps both ends of an answer. It keeps more than it shows, so that no part of a secret remains at a cut.
type excerpt struct {
	secrets    web.Secrets
	more       int // the length of the longest secret
	head, tail []byte
	dropped    int64 // bytes between the two
}

func newExcerpt(secrets web.Secrets) *excerpt {
	e := &excerpt{secrets: secrets}
	if len(secrets) > 0 {
		e.more = len(secrets[0])
	}
	return e
}

// Write implements io.Writer.
func (e *excerpt) Write(p []byte) (int, error) {
	end := excerptEnd + e.more
	n := min(len(p), end-len(e.head))
	e.head = append(e.head, p[:n]...)
	e.tail = append(e.tail, p[n:]...)
	if more := len(e.tail) - end; more > 0 {
		e.dropped += int64(more)
		e.tail = append(e.tail[:0], e.tail[more:]...)
	}
	return len(p), nil
}

// log writes what the job log may have of the answer.
func (e *excerpt) log(job *jobqueue.JobContext) {
	if e.dropped == 0 {
		if text := strings.TrimSpace(e.secrets.Clean(string(e.head) + string(e.tail))); text != "" {
			job.Log(jobqueue.Info, text)
		}
		return
	}
	head, tail := e.secrets.Clean(string(e.head)), e.secrets.Clean(string(e.tail))
	job.Log(jobqueue.Info, strings.TrimSpace(head[:max(0, len(head)-e.more)]))
	job.Logf(jobqueue.Warn, "%d bytes of the answer are left out here", e.dropped+2*int64(e.more))
	job.Log(jobqueue.Info, strings.TrimSpace(tail[min(len(tail), e.more):]))
}
