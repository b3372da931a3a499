package frame

import (
	"compress/gzip"
	"net/http"
	"strings"
)

// Gzip compresses the answers of a handler for clients that can read that.
func Gzip(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") || r.Method != http.MethodGet {
			h.ServeHTTP(w, r)
			return
		}
		r.Header.Del("Range") // of what is not compressed
		c := &compressor{ResponseWriter: w}
		defer c.end()
		h.ServeHTTP(c, r)
	})
}

// compressor is an answer that is compressed if it has a body.
type compressor struct {
	http.ResponseWriter
	to *gzip.Writer // nil: the header is not written yet, or there is no body
}

// WriteHeader implements [http.ResponseWriter].
func (c *compressor) WriteHeader(code int) {
	if code != http.StatusNotModified && code != http.StatusNoContent {
		c.Header().Set("Content-Encoding", "gzip")
		c.Header().Del("Content-Length")
		c.to = gzip.NewWriter(c.ResponseWriter)
	}
	c.ResponseWriter.WriteHeader(code)
}

// Write implements [http.ResponseWriter].
func (c *compressor) Write(text []byte) (int, error) {
	if c.to == nil {
		c.WriteHeader(http.StatusOK)
	}
	return c.to.Write(text)
}

func (c *compressor) end() {
	if c.to != nil {
		_ = c.to.Close() // whoever asked has gone
	}
}
