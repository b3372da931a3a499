package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/web"
)

// defaultEndpoint and defaultTimeout are those of the specification.
const (
	defaultEndpoint = "http://localhost:4318"
	defaultTimeout  = 10 * time.Second
)

// settings are what the variables say.
type settings struct {
	url     string
	headers http.Header
	timeout time.Duration
	gzip    bool
	tls     *tls.Config // nil: the default
}

// variables reads the variables of OpenTelemetry. Names have an upper-case tail, such as
// ENDPOINT.
type variables func(string) string

// of is the value for traces, or else that for all signals.
func (get variables) of(tail string) string {
	if value := get("OTEL_EXPORTER_OTLP_TRACES_" + tail); value != "" {
		return value
	}
	return get("OTEL_EXPORTER_OTLP_" + tail)
}

// wanted reports whether spans are to be sent.
func (get variables) wanted() (bool, error) {
	if strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	switch exporter := get("OTEL_TRACES_EXPORTER"); exporter {
	case "":
		return get.of("ENDPOINT") != "", nil
	case "otlp":
		return true, nil
	case "none":
		return false, nil
	default:
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER is %q; use otlp or none", exporter)
	}
}

// read reads the settings. Errors name the variable, and show no value that may hold a
// secret.
func (get variables) read() (s settings, err error) {
	if protocol := get.of("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return s, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; nextrun sends http/protobuf, which collectors take at port 4318", protocol)
	}
	switch compression := get.of("COMPRESSION"); compression {
	case "", "none":
	case "gzip":
		s.gzip = true
	default:
		return s, fmt.Errorf("OTEL_EXPORTER_OTLP_COMPRESSION is %q; use gzip or none", compression)
	}
	s.timeout = defaultTimeout
	if text := get.of("TIMEOUT"); text != "" {
		ms, err := strconv.Atoi(text)
		if err != nil || ms < 1 || ms > int(time.Hour/time.Millisecond) {
			return s, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q; use milliseconds, such as 10000", text)
		}
		s.timeout = time.Duration(ms) * time.Millisecond
	}
	if s.url = get.endpoint(); !web.GoodURL(s.url) {
		return s, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT is not usable; use a URL such as http://localhost:4318")
	}
	if s.headers, err = get.headers(); err != nil {
		return s, err
	}
	s.tls, err = get.certificates()
	return s, err
}

// endpoint is where spans go: the endpoint of traces as it is, that of all signals with
// the path of traces.
func (get variables) endpoint() string {
	if own := get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); own != "" {
		return own
	}
	base := get("OTEL_EXPORTER_OTLP_ENDPOINT")
	if base == "" {
		base = defaultEndpoint
	}
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.JoinPath("v1", "traces").String()
}

// headers are a list name=value,name=value, percent-encoded.
func (get variables) headers() (http.Header, error) {
	headers := http.Header{}
	for pair := range strings.SplitSeq(get.of("HEADERS"), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || err != nil || !web.HeaderName(name) || !web.ValidHeader(value) {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS is not usable; use a list such as api-key=KEY,tenant=NAME")
		}
		headers.Set(name, value)
	}
	return headers, nil
}

// certificates are that of the collector's authority, and one of this client's.
func (get variables) certificates() (*tls.Config, error) {
	authority, own, key := get.of("CERTIFICATE"), get.of("CLIENT_CERTIFICATE"), get.of("CLIENT_KEY")
	if authority == "" && own == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		pem, err := os.ReadFile(authority)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s has no certificate", authority)
		}
	}
	if own != "" {
		pair, err := tls.LoadX509KeyPair(own, key)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
