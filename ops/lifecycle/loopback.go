package lifecycle

import (
	"fmt"
	"net"
)

// LoopbackAddress returns a loopback address with a port, with 127.0.0.1 for localhost.
// Any other address is an error: no credentials are asked for there.
func LoopbackAddress(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); err != nil || port == "" || ip == nil || !ip.IsLoopback() {
		return "", fmt.Errorf("%q is no loopback address with a port, such as 127.0.0.1:8321", address)
	}
	return net.JoinHostPort(host, port), nil
}
