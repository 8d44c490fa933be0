package egress_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/egress"
	"toolcrib/tools/outbound"
)

// newGrant returns the grant of a session whose user can be asked.
func newGrant() *outbound.Grant {
	return new(outbound.Grants).Of(&tools.SessionInfo{Principal: tools.Local, Client: tools.Client{Forms: true}})
}

// answering is a user who gives one answer to all.
type answering tools.Action

func (a answering) Ask(_ context.Context, forms ...tools.Form) (answers []tools.Answer, err error) {
	for range forms {
		answers = append(answers, tools.Answer{Action: tools.Action(a)})
	}
	return answers, nil
}

// TestGrants has the user allow private hosts for a session: only exact hosts with their
// ports that were refused, and never a link-local address or one of a cloud.
func TestGrants(t *testing.T) {
	at := map[string]string{"mirror.test": "10.0.0.5", "link.test": "169.254.169.254", "cloud.test": "100.100.100.200"}
	lookup := func(_ context.Context, name string) ([]netip.Addr, error) {
		if a, ok := at[strings.TrimSuffix(name, ".")]; ok {
			return []netip.Addr{netip.MustParseAddr(a)}, nil
		}
		return []netip.Addr{netip.MustParseAddr("10.0.0.6")}, nil
	}
	for _, way := range []string{"connect", "plain"} {
		t.Run(way, func(t *testing.T) {
			w := newWorld(t, egress.Options{Lookup: lookup})
			g := newGrant()
			refused := func(host string) string {
				t.Helper()
				pass := w.gate.Pass(true, g)
				if got := w.askWith(pass, way, host); !strings.Contains(got, "403") {
					t.Errorf("%s: %s", host, got)
				}
				return pass.Told()
			}
			told := refused("mirror.test")
			if !strings.Contains(told, "mirror.test:80: its address 10.0.0.5 is private; network_private: [mirror.test:80] in the configuration allows it") ||
				!strings.HasSuffix(told, "; call again with network: true, and the user is asked to allow mirror.test:80 for this session") {
				t.Error(told)
			}
			for _, host := range []string{"link.test", "cloud.test", "169.254.169.254"} {
				if told := refused(host); strings.Contains(told, "the user is asked") {
					t.Error(told)
				}
			}
			pass := w.gate.Pass(true, g)
			for _, host := range []string{"169.254.169.254", "10.0.0.7"} {
				w.askOpen(pass, way, host)
			}
			pass.Close()
			if told := pass.Told(); !strings.Contains(told, "169.254.169.254:80: ") || !strings.HasSuffix(told, "asked to allow 10.0.0.7:80 for this session") {
				t.Error(told)
			}
			refused("pip.internal")
			want := []string{"mirror.test:80", "10.0.0.7:80", "pip.internal:80"}
			if diff := cmp.Diff(want, g.Wanted()); diff != "" {
				t.Fatal(diff)
			}
			for action, hosts := range map[tools.Action][]string{tools.Accept: {"mirror.test:80", "10.0.0.7:80", "link.test:80"}, tools.Decline: {"pip.internal:80"}} {
				if err := g.Ask(tools.WithAsker(t.Context(), answering(action)), hosts); err != nil {
					t.Fatal(err)
				}
			}
			for _, host := range []string{"mirror.test", "10.0.0.7"} {
				if got := w.askWith(w.gate.Pass(true, g), way, host); got != "reached" {
					t.Errorf("%s is allowed: %s", host, got)
				}
			}
			for _, host := range []string{"other.test", "link.test", "10.0.0.8"} {
				refused(host)
			}
			if told := refused("pip.internal"); strings.Contains(told, "the user is asked") {
				t.Errorf("asked again: %s", told)
			}
			if got := w.ask(way, "mirror.test"); !strings.Contains(got, "403") {
				t.Errorf("another session: %s", got)
			}
			at["mirror.test"] = "169.254.169.254" // the name leads elsewhere now
			refused("mirror.test")
			at["mirror.test"] = "10.0.0.5"
		})
	}
	w := newWorld(t, egress.Options{Lookup: lookup, Hosts: []string{"only.test"}})
	g := newGrant()
	pass := w.gate.Pass(true, g)
	w.askWith(pass, "connect", "mirror.test")
	if told := pass.Told(); strings.Contains(told, "the user is asked") || len(g.Wanted()) > 0 {
		t.Errorf("beyond the only hosts: %s", told)
	}
}
