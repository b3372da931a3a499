package permissions_test

import (
	"os"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/permissions"
)

// The page names each role.
func TestPageNamesTheRoles(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range append(permissions.Roles(), "owner") {
		if !strings.Contains(string(page), "| `nextrun_"+role+"` |") {
			t.Errorf("the table of docs/permissions.md lacks nextrun_%s", role)
		}
	}
}

func TestNamesAreQuotedOrRefused(t *testing.T) {
	t.Parallel()
	for _, n := range []permissions.Names{
		{Schema: `a"b`}, {Schema: "a\nb"}, {Schema: `a\b`}, {Schema: strings.Repeat("x", 64)}, {Schema: "a\u202eb"}, {Schema: "\xff"},
		{Prefix: "a b"}, {Prefix: "a;"}, {Prefix: `"a`}, {Prefix: "A_"}, {Prefix: "1_"}, {Prefix: strings.Repeat("x", 31)},
	} {
		if script, err := n.Roles(); err == nil {
			t.Errorf("%+v is accepted:\n%s", n, script)
		}
		if script, err := n.Owner(); err == nil {
			t.Errorf("%+v is accepted:\n%s", n, script)
		}
	}
	for _, tenant := range []permissions.Tenant{
		{Name: "acme"}, {Handlers: []string{"x"}}, {Name: "viewer", Handlers: []string{"x"}}, {Name: "owner", Handlers: []string{"x"}},
		{Name: "acme;", Handlers: []string{"x"}}, {Name: "acme", Handlers: []string{""}}, {Name: "acme", Handlers: []string{`\'`}},
		{Name: "acme", Handlers: []string{"x"}, IDs: "a\x00"}, {Name: "acme", Handlers: []string{"x"}, Group: "a\n--"},
	} {
		if script, err := (permissions.Names{}).Tenant(tenant); err == nil {
			t.Errorf("%+v is accepted:\n%s", tenant, script)
		}
	}
	script, err := permissions.Names{Schema: "user", Prefix: "shop_"}.Tenant(permissions.Tenant{Name: "acme", Handlers: []string{"it's"}, IDs: "a'--%"})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`search_path = "user";`, "TO shop_acme", "task IN ('it''s')", "starts_with(id, 'a''--%')"} {
		if !strings.Contains(script, part) {
			t.Errorf("%s is not in\n%s", part, script)
		}
	}
}
