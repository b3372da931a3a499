package dashboard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/nextrun/nextrun/store/storetest"
)

// Those who are known do not wait until the password that somebody else tries is compared.
func TestGuessesHoldUpNobody(t *testing.T) {
	t.Parallel()
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPasswords(strings.NewReader("ada:"+string(hash)), Act)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.SetBasicAuth("ada", "s3cret")
	p.authorize(r)
	p.checking.Lock() // a guess is compared
	allowed := make(chan Access, 1)
	go func() {
		_, access := p.authorize(r)
		allowed <- access
	}()
	select {
	case access := <-allowed:
		if access != Act {
			t.Errorf("ada may %d", access)
		}
	case <-time.After(storetest.Patience):
		t.Error("ada waits for a guess")
	}
	p.checking.Unlock()
}
