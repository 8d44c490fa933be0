package identity_test

import (
	"strings"
	"testing"

	"toolcrib/server/identity"
	"toolcrib/tools"
)

func TestStaticTokens(t *testing.T) {
	made, hash := identity.NewToken()
	chosen := strings.Repeat("a", identity.MinToken)
	g, err := identity.StaticGate([]identity.Token{
		{Name: "ada", Hash: hash},
		{Name: "bob", Token: chosen, Scopes: []string{"tools:read", "tools:write"}, Toolsets: []string{"files"}},
		{Name: "eve", Token: strings.Repeat("e", identity.MinToken), ReadOnly: true},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tool := func(category string, access tools.Access) *tools.Tool {
		return &tools.Tool{Category: category, Access: access}
	}
	for _, c := range []struct {
		token, principal           string
		reads, writes, runs, looks bool
	}{
		{made, "ada", true, true, true, true},
		{chosen, "bob", true, true, false, false},
		{strings.Repeat("e", identity.MinToken), "eve", true, false, false, true},
	} {
		who, bad := admit(t, g, "/mcp", "Bearer "+c.token)
		if bad != nil || who.Principal != c.principal {
			t.Fatalf("%+v, %+v; want %s", who, bad, c.principal)
		}
		got := [...]bool{
			who.Grant.Allows(tool("files", tools.Read)), who.Grant.Allows(tool("files", tools.Write)),
			who.Grant.Allows(tool("shell", tools.Exec)), who.Grant.Allows(tool("search", tools.Read)),
		}
		if want := [...]bool{c.reads, c.writes, c.runs, c.looks}; got != want {
			t.Errorf("%s may %v, want %v", c.principal, got, want)
		}
	}
	for _, wrong := range []string{made + "a", made[:len(made)-1], strings.ToUpper(made), hash, "ada"} {
		if who, bad := admit(t, g, "/mcp", "Bearer "+wrong); bad == nil || bad.Status != 401 && bad.Status != 400 {
			t.Errorf("%q: %+v, %+v", wrong, who, bad)
		}
	}
}

func TestStaticTokensRefused(t *testing.T) {
	_, hash := identity.NewToken()
	for name, tokens := range map[string][]identity.Token{
		"no name":        {{Hash: hash}},
		"name of a path": {{Name: "../ada", Hash: hash}},
		"two names":      {{Name: "ada", Hash: hash}, {Name: "ada", Token: strings.Repeat("a", 32)}},
		"one token":      {{Name: "ada", Hash: hash}, {Name: "bob", Hash: hash}},
		"nothing":        {{Name: "ada"}},
		"both":           {{Name: "ada", Hash: hash, Token: strings.Repeat("a", 32)}},
		"short":          {{Name: "ada", Token: "secret"}},
		"hash cut off":   {{Name: "ada", Hash: hash[:40]}},
		"hash of MD5":    {{Name: "ada", Hash: "md5:d41d8cd98f00b204e9800998ecf8427e"}},
		"unknown scope":  {{Name: "ada", Hash: hash, Scopes: []string{"tools:raed"}}},
	} {
		if _, err := identity.StaticGate(tokens, nil); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := identity.StaticGate(nil, identity.Scopes{"files": {Access: []string{"raed"}}}); err == nil || !strings.Contains(err.Error(), `"read"`) {
		t.Errorf("an access class that does not exist: %v", err)
	}
}

func TestNeeded(t *testing.T) {
	g, err := identity.StaticGate([]identity.Token{{Name: "ada", Token: strings.Repeat("a", 32), Scopes: []string{"look"}}}, identity.Scopes{
		"look": {Toolsets: []string{"files"}, Access: []string{"read"}},
		"edit": {Toolsets: []string{"files"}, Access: []string{"read", "write"}},
		"all":  {},
	})
	if err != nil {
		t.Fatal(err)
	}
	who, _ := admit(t, g, "/mcp", "Bearer "+strings.Repeat("a", 32))
	for want, tool := range map[string]*tools.Tool{
		"look": {Category: "files", Access: tools.Read},
		"edit": {Category: "files", Access: tools.Write},
		"all":  {Category: "shell", Access: tools.Exec},
	} {
		if got := strings.Join(who.Grant.Needed(tool), " "); got != want {
			t.Errorf("%s %s wants %q, not %q", tool.Category, tool.Access, want, got)
		}
	}
}

// A list shows some of the tools of a toolset and leads to the rest by the tools that
// find and call others: these go with each toolset, what they reach does not.
func TestToolsThatLead(t *testing.T) {
	g, err := identity.StaticGate([]identity.Token{
		{Name: "ada", Token: strings.Repeat("a", 32), Toolsets: []string{"files"}},
		{Name: "bob", Token: strings.Repeat("b", 32), Scopes: []string{"look"}},
	}, identity.Scopes{"look": {Toolsets: []string{"files"}, Access: []string{"read"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"a", "b"} {
		who, _ := admit(t, g, "/mcp", "Bearer "+strings.Repeat(token, 32))
		for _, c := range []struct {
			tool tools.Tool
			want bool
		}{
			{tools.Tool{Name: "search_tools", Category: "bridge", Access: tools.Read}, true},
			{tools.Tool{Name: "call_tool", Category: "bridge", Access: tools.Delegates}, true},
			{tools.Tool{Name: "call_read_tool", Category: "bridge", Access: tools.Read}, true},
			{tools.Tool{Name: "mcp_call", Category: "bridge", Access: tools.External}, false},
			{tools.Tool{Name: "run_agent", Category: "agents", Access: tools.Delegates}, false},
			{tools.Tool{Name: "grep", Category: "search", Access: tools.Read}, false},
		} {
			if got := who.Grant.Allows(&c.tool); got != c.want {
				t.Errorf("%s may call %s: %t", who.Principal, c.tool.Name, got)
			}
		}
	}
}
