package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/server"
	"toolcrib/server/follow"
	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// shelf is a source whose versions a test sets.
type shelf struct {
	mu       sync.Mutex
	versions map[string]string
	looks    int
}

func (s *shelf) set(uri, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions[uri] = version
}

func (s *shelf) looked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}

func (s *shelf) source() tools.Source {
	src := notes()
	src.Args = func(uri string) (json.RawMessage, bool) {
		return json.RawMessage(`{"name":"a"}`), strings.HasPrefix(uri, "shelf:")
	}
	src.Version = func(_ context.Context, uri string) (string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.looks++
		switch v, ok := s.versions[uri]; {
		case !ok:
			return "", tools.Errorf(tools.NotFound, "%s does not exist", uri)
		case v == "panic":
			panic("at the shelf")
		default:
			return v, nil
		}
	}
	return src
}

// following makes a server with a shelf, and a way to make followers of it.
func following(t *testing.T) (*server.Server, *shelf, func() (*follow.Follower, func() []string)) {
	books := &shelf{versions: map[string]string{"shelf:a": "1", "shelf:b": "1"}}
	s := newServer(t, func(o *server.Options) { o.Sources = []tools.Source{books.source()} })
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local})
	return s, books, func() (*follow.Follower, func() []string) {
		var mu sync.Mutex
		var heard []string
		f := s.NewFollower(ctx, func(uri string) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, uri)
		})
		return f, func() []string {
			mu.Lock()
			defer mu.Unlock()
			defer func() { heard = nil }()
			return heard
		}
	}
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, books, newFollower := following(t)
		f, heard := newFollower()
		hears := func(when string, want ...string) {
			t.Helper()
			time.Sleep(1500 * time.Millisecond)
			synctest.Wait()
			if got := heard(); !slices.Equal(got, want) {
				t.Errorf("%s: heard %q, want %q", when, got, want)
			}
		}
		for _, uri := range []string{"shelf:b", "shelf:a", "shelf:b"} {
			if err := f.Follow(uri); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.URIs(); !slices.Equal(got, []string{"shelf:a", "shelf:b"}) {
			t.Errorf("follows %q", got)
		}
		for _, uri := range []string{"shelf:gone", "other:a"} {
			if err := f.Follow(uri); tools.AsError(err).Code != tools.NotFound {
				t.Errorf("%s: %v", uri, err)
			}
		}
		hears("nothing changed")
		books.set("shelf:a", "2")
		hears("a changed", "shelf:a")
		books.set("shelf:b", "2")
		books.set("shelf:a", "3")
		hears("both changed", "shelf:a", "shelf:b")
		books.mu.Lock()
		delete(books.versions, "shelf:a")
		books.mu.Unlock()
		hears("a is gone", "shelf:a")
		hears("a is still gone")
		books.set("shelf:a", "3")
		hears("a is back", "shelf:a")
		books.set("shelf:a", "panic")
		hears("a panics", "shelf:a")
		f.Leave("shelf:a")
		books.set("shelf:a", "5")
		hears("a is left")
		f.Leave("shelf:b")
		if s.Looks() {
			t.Error("somebody looks though nothing is followed")
		}
		before := books.looked()
		hears("nothing is followed")
		if now := books.looked(); now != before {
			t.Errorf("%d looks though nothing is followed", now-before)
		}
		if err := f.Follow("shelf:b"); err != nil {
			t.Fatal(err)
		}
		books.set("shelf:b", "9")
		hears("b is followed again", "shelf:b")
		f.Close()
		books.set("shelf:b", "10")
		hears("closed")
		if err := f.Follow("shelf:b"); err == nil || s.Looks() {
			t.Errorf("a closed follower follows: %v", err)
		}
	})
}

// Clients that see the same share the looks.
func TestFollowShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, books, newFollower := following(t)
		var all []func() []string
		for range 10 {
			f, heard := newFollower()
			defer f.Close()
			if err := f.Follow("shelf:a"); err != nil {
				t.Fatal(err)
			}
			all = append(all, heard)
		}
		before := books.looked()
		books.set("shelf:a", "2")
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if n := books.looked() - before; n != 1 {
			t.Errorf("%d looks for 10 followers of one resource, want 1", n)
		}
		for i, heard := range all {
			if got := heard(); !slices.Equal(got, []string{"shelf:a"}) {
				t.Errorf("follower %d heard %q", i, got)
			}
		}
		if !s.Looks() {
			t.Error("nobody looks")
		}
	})
}

func TestFollowBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, books, newFollower := following(t)
		f, _ := newFollower()
		defer f.Close()
		for i := range server.MaxFollowed + 1 {
			uri := fmt.Sprintf("shelf:%d", i)
			books.set(uri, "1")
			err := f.Follow(uri)
			if full := i == server.MaxFollowed; (err != nil) != full {
				t.Fatalf("%d: %v", i, err)
			}
		}
		f.Leave("shelf:0")
		if err := f.Follow("shelf:a"); err != nil {
			t.Error(err)
		}
	})
}

// A client that does not take what it is told holds up nobody else, and hears
// the newest in the end.
func TestFollowStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, books, newFollower := following(t)
		stuck, heard := make(chan struct{}), 0
		slow := s.NewFollower(tools.WithSession(t.Context(), &tools.SessionInfo{}), func(string) {
			heard++
			<-stuck
		})
		quick, quickHeard := newFollower()
		for _, f := range []*follow.Follower{slow, quick} {
			defer f.Close()
			for _, uri := range []string{"shelf:a", "shelf:b"} {
				if err := f.Follow(uri); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i := range 5 {
			books.set("shelf:a", fmt.Sprint("v", i))
			books.set("shelf:b", fmt.Sprint("v", i))
			time.Sleep(1500 * time.Millisecond)
			synctest.Wait()
			if got := quickHeard(); !slices.Equal(got, []string{"shelf:a", "shelf:b"}) {
				t.Errorf("round %d: heard %q while another client is stuck", i, got)
			}
		}
		if heard != 1 {
			t.Errorf("the stuck client was told %d times", heard)
		}
		close(stuck)
		synctest.Wait()
		if heard != 3 { // what it was stuck at, and each of the two once more
			t.Errorf("the stuck client was told %d times in the end, want 3", heard)
		}
	})
}

// When close returns, changed is not running and not called again.
func TestFollowClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, books, _ := following(t)
		var running, calls int
		var mu sync.Mutex
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			running += n
			calls++
		}
		f := s.NewFollower(tools.WithSession(t.Context(), &tools.SessionInfo{}), func(string) {
			count(1)
			time.Sleep(10 * time.Second)
			count(-1)
		})
		for _, uri := range []string{"shelf:a", "shelf:b"} {
			if err := f.Follow(uri); err != nil {
				t.Fatal(err)
			}
			books.set(uri, "2")
		}
		time.Sleep(2 * time.Second)
		f.Close()
		mu.Lock()
		if running != 0 || calls != 2 {
			t.Errorf("%d run after close; %d began or ended, want 2", running, calls)
		}
		mu.Unlock()
		time.Sleep(time.Minute)
		if calls != 2 {
			t.Errorf("changed was called after close")
		}
	})
}

// A reload that denies what a client follows ends that: the client is told of no change
// any more, and cannot follow it again.
func TestFollowDeniedByReload(t *testing.T) {
	ws, err := workspace.Open([]string{t.TempDir()}, workspace.Options{StateBase: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	synctest.Test(t, func(t *testing.T) {
		books := &shelf{versions: map[string]string{"shelf:open": "1", "shelf:locked": "1"}}
		src := books.source()
		src.Read = tools.New(tools.Def[pathIn, textOut]{
			Name: "read_shelf", Title: "Read", Doc: "Reads.", Access: tools.Read, Effects: tools.None, Repeatable: true,
			Run: func(_ context.Context, in pathIn) (textOut, error) { return textOut{in.Path}, nil },
		})
		src.Args = func(uri string) (json.RawMessage, bool) {
			name, ok := strings.CutPrefix(uri, "shelf:")
			return json.RawMessage(fmt.Sprintf(`{"path":%q}`, name)), ok
		}
		listed, _ := toys()
		r := run.New(run.Config{Settings: run.Settings{Tools: listed}})
		s, err := server.New(server.Options{Name: "toys", Version: "0", Tools: listed, Sources: []tools.Source{src}, Runner: r, Workspace: ws})
		if err != nil {
			t.Fatal(err)
		}
		c := connect(t, s)
		c.send(initialize)
		for id, uri := range []string{"shelf:open", "shelf:locked"} {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":%q}}`, id+1, uri))
		}
		synctest.Wait()
		c.take()
		hears := func(when string, want ...string) {
			t.Helper()
			for _, uri := range []string{"shelf:open", "shelf:locked"} {
				books.set(uri, when)
			}
			time.Sleep(2500 * time.Millisecond)
			synctest.Wait()
			got := strings.Join(c.take(), "\n")
			for _, uri := range []string{"shelf:open", "shelf:locked"} {
				if told := strings.Contains(got, `"uri":"`+uri+`"`); told != slices.Contains(want, uri) {
					t.Errorf("%s: told of %s: %t", when, uri, told)
				}
			}
		}
		hears("before", "shelf:open", "shelf:locked")
		rules, err := rules.New([]rules.Rule{{Verdict: "deny", Path: []string{"locked"}}}, listed)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Reconfigure(run.Settings{Tools: listed, Rules: rules}); err != nil {
			t.Fatal(err)
		}
		hears("while it is denied", "shelf:open")
		if _, code, msg := ask(t, c, `{"jsonrpc":"2.0","id":9,"method":"resources/subscribe","params":{"uri":"shelf:locked"}}`); code == 0 || !strings.Contains(msg, "(rule policy[1])") {
			t.Errorf("followed again: %d %s", code, msg)
		}
		if err := r.Reconfigure(run.Settings{Tools: listed}); err != nil {
			t.Fatal(err)
		}
		hears("allowed again, and followed by nobody", "shelf:open")
	})
}

type pathIn struct {
	Path string `json:"path" path:"file" jsonschema_description:"what to read"`
}
