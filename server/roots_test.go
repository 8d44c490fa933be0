package server_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/server"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// where is a tool that gives the roots of its call back.
func where() tools.Tool {
	return tools.New(tools.Def[nothingIn, textOut]{
		Name: "where", Title: "Where", Doc: "Gives the roots back.", Access: tools.Write, Effects: tools.State,
		Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
			return textOut{strings.Join(tools.Session(ctx).Workspace.Roots(), " ")}, nil
		},
	})
}

// TestRoots has clients tell roots of all kinds: the workspace of their calls
// becomes narrower, never wider.
func TestRoots(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"one/deep/deeper", "two", "other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "one/file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) string {
		for i, name := range names {
			names[i] = filepath.Join(base, name)
		}
		return strings.Join(names, " ")
	}
	for _, c := range []struct {
		name  string
		roots []string // below base, or a whole URI
		want  string
	}{
		{"a directory inside", []string{"one/deep"}, at("one/deep")},
		{"two inside", []string{"two", "one/deep/deeper"}, at("one/deep/deeper", "two")},
		{"a root itself", []string{"two"}, at("two")},
		{"all of them", []string{"one", "two"}, at("one", "two")},
		{"the directory above", []string{"."}, at("one", "two")},
		{"everything", []string{"file:///"}, at("one", "two")},
		{"one inside, one outside", []string{"other", "one/deep"}, at("one/deep")},
		{"only outside", []string{"other"}, at("one", "two")},
		{"a name that begins alike", []string{"one/de"}, at("one", "two")},
		{"not there", []string{"one/missing"}, at("one", "two")},
		{"a file", []string{"one/file"}, at("one", "two")},
		{"no files", []string{"https://example.com/one"}, at("one", "two")},
		{"back out again", []string{"one/../other"}, at("one", "two")},
		{"none", nil, at("one", "two")},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws, err := workspace.Open([]string{filepath.Join(base, "one"), filepath.Join(base, "two")}, workspace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { ws.Close() })
			s := newServer(t, with(where()), func(o *server.Options) { o.Workspace = ws })
			var list []string
			for _, root := range c.roots {
				if !strings.Contains(root, "://") {
					root = (&url.URL{Scheme: "file", Path: base + "/" + root}).String()
				}
				list = append(list, fmt.Sprintf(`{"uri":%q}`, root))
			}
			told := `{"roots":[` + strings.Join(list, ",") + `]}`

			t.Run("stdio", func(t *testing.T) {
				client := connect(t, s)
				client.fresh = make(chan string, 1)
				client.send(strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1), initDone)
				<-client.fresh
				client.send(eras()[0].call("1", "where", "", ""))
				asked := readLine(t, <-client.fresh)
				if asked.Method != "roots/list" {
					t.Fatalf("asked for %q", asked.Method)
				}
				client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, told))
				if got := string(readLine(t, <-client.fresh).Result); !strings.Contains(got, `"text":"`+c.want+`"`) {
					t.Errorf("roots %s", got)
				}
				client.send(eras()[0].call("2", "where", "", "")) // it knows them now
				if got := string(readLine(t, <-client.fresh).Result); !strings.Contains(got, `"text":"`+c.want+`"`) {
					t.Errorf("roots %s", got)
				}
				client.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, eras()[0].call("3", "where", "", ""))
				asked = readLine(t, <-client.fresh)
				client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no"}}`, asked.ID))
				if got := string(readLine(t, <-client.fresh).Result); !strings.Contains(got, `"text":"`+at("one", "two")+`"`) {
					t.Errorf("roots that are not told: %s", got)
				}
			})
			t.Run("http", func(t *testing.T) {
				w := serveHTTP(t, s, server.HTTP{Auth: gate(t)})
				session := w.hello(`{"roots":{"listChanged":true}}`)
				res := w.open(t.Context(), eras()[0].call("1", "where", "", ""), session)
				last := ""
				for message := range events(res.Body) {
					last = message
					if m := readLine(t, message); m.Method == "roots/list" {
						w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, told), session)
					}
				}
				if !strings.Contains(last, `"text":"`+c.want+`"`) {
					t.Errorf("roots %s", last)
				}
			})
		})
	}
}
