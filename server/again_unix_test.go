//go:build unix

package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolcrib/server"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// TestRootAgain makes the root of a server again while a client that narrows it is connected,
// and one that follows a file in it.
func TestRootAgain(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	lay := func(text string) {
		t.Helper()
		if err := os.RemoveAll(root); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(root, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "sub/f"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lay("old")
	ws, err := workspace.Open([]string{root}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	show := func(ctx context.Context) (string, error) {
		p, err := tools.Resolve(ctx, "sub/f")
		if err != nil {
			return "", err
		}
		f, err := p.Open()
		if err != nil {
			return "", err
		}
		defer f.Close()
		text := make([]byte, 3)
		_, err = f.Read(text)
		return string(text), err
	}
	shows := tools.New(tools.Def[nothingIn, textOut]{
		Name: "shows", Title: "Show", Doc: "Shows a file.", Access: tools.Write, Effects: tools.State,
		Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
			text, err := show(ctx)
			return textOut{text + " of " + strings.Join(tools.Session(ctx).Workspace.Roots(), " ")}, err
		},
	})
	src := notes()
	src.Args = func(uri string) (json.RawMessage, bool) {
		return json.RawMessage(`{"name":"a"}`), strings.HasPrefix(uri, "shelf:")
	}
	src.Version = func(ctx context.Context, _ string) (string, error) { return show(ctx) }
	s := newServer(t, with(shows), func(o *server.Options) { o.Workspace, o.Sources = ws, []tools.Source{src} })

	client := connect(t, s)
	client.fresh = make(chan string, 1)
	client.send(strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1), initDone)
	<-client.fresh
	told := fmt.Sprintf(`{"roots":[{"uri":"file://%s/sub"}]}`, root)
	call := func(id, want string) {
		t.Helper()
		client.send(eras()[0].call(id, "shows", "", ""))
		if asked := readLine(t, <-client.fresh); asked.Method == "roots/list" {
			client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, told))
		} else {
			t.Fatalf("asked for %q", asked.Method)
		}
		if got := string(readLine(t, <-client.fresh).Result); !strings.Contains(got, want+" of "+root+"/sub") {
			t.Errorf("%s, want %s", got, want)
		}
	}
	call("1", "old")

	changed := make(chan string, 1)
	f := s.NewFollower(tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws}), func(uri string) { changed <- uri })
	defer f.Close()
	if err := f.Follow("shelf:a"); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"two", "new"} {
		lay(text)
		select {
		case <-changed:
		case <-time.After(20 * time.Second):
			t.Errorf("%s: the follower hears nothing", text)
		}
	}
	call("2", "new") // the client is asked again
	for _, e := range eras() {
		w := serveHTTP(t, s, server.HTTP{Auth: gate(t)})
		h := headers{}
		if e.meta == "" {
			h = w.hello(`{}`)
		}
		for _, text := range []string{"one", "two"} {
			lay(text)
			if _, messages := w.post(e.call("1", "shows", "", ""), h); !strings.Contains(strings.Join(messages, ""), text+" of "+root+`"`) {
				t.Errorf("%s: %q, want %s", e.name, messages, text)
			}
		}
	}
}
