package dashboard

import (
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Logins say how [Passwords] treats those who try to log in. The zero value is useful.
type Logins struct {
	// Proxies are the networks of proxies in front of the dashboard. The address of a client is
	// then the last one in X-Forwarded-For that is not one of theirs. Without them it is the
	// address that the connection comes from, whatever the header says.
	Proxies []netip.Prefix
	// Failed is called for failed logins, each with the client's address. user is empty unless it is
	// one of the list, since people also type passwords there. others is how many more
	// there were since the last call. nil: nothing is called.
	Failed func(user string, address netip.Addr, others int)
	// Replaced is called when the file of users was replaced, with an error if it cannot be used and the old content
	// stays. nil: nothing is called.
	Replaced func(error)
}

// client is the address that a request comes from.
func (l Logins) client(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	address := from.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && within(l.Proxies, address); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		address = hop.Unmap()
	}
	return address
}

func within(networks []netip.Prefix, address netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

const (
	attemptsAtOnce = 10              // of an address
	attemptEvery   = 6 * time.Second // after that
	toldEvery      = 100 * time.Millisecond
	manyAddresses  = 10_000
)

// attempts counts the failed logins of each address. An address stands for a home or an
// office; of IPv6, a /64 does.
type attempts struct {
	mutex  sync.Mutex
	spent  map[netip.Addr]time.Time // when an address will have all of its attempts again
	swept  time.Time
	told   time.Time
	untold int
}

// household is what stands for an address.
func household(address netip.Addr) netip.Addr {
	if address.Is6() {
		network, _ := address.Prefix(64)
		return network.Addr()
	}
	return address
}

// take uses up an attempt. It reports whether there was one.
func (a *attempts) take(address netip.Addr) bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	now := time.Now()
	if len(a.spent) >= manyAddresses && now.Sub(a.swept) > time.Second {
		a.swept = now
		maps.DeleteFunc(a.spent, func(_ netip.Addr, full time.Time) bool { return !full.After(now) })
	}
	full := a.spent[address]
	if full.Before(now) {
		full = now
	}
	if full = full.Add(attemptEvery); full.After(now.Add(attemptsAtOnce * attemptEvery)) {
		return false
	}
	if a.spent == nil {
		a.spent = map[netip.Addr]time.Time{}
	}
	a.spent[address] = full
	return true
}

// giveBack is for an attempt that did not fail.
func (a *attempts) giveBack(address netip.Addr) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.spent[address] = a.spent[address].Add(-attemptEvery)
}

// tell reports whether to tell of a failure now, and how many were not told of before.
func (a *attempts) tell() (now bool, untold int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if at := time.Now(); at.Sub(a.told) >= toldEvery {
		untold, a.untold, a.told = a.untold, 0, at
		return true, untold
	}
	a.untold++
	return false, 0
}
