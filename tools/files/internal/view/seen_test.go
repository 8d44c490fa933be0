package view_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"toolcrib/tools/files/internal/view"
)

func TestSeen(t *testing.T) {
	s := view.NewSeen(1 << 20)
	if _, _, ok := s.Last("p", "a"); ok {
		t.Error("something is remembered of nothing")
	}
	data := []byte("one")
	s.Note("p", "a", "h1", data)
	data[0] = 'x'
	s.Note("p", "b", "h2", nil)
	s.Note("p", "a", "h3", []byte("three"))
	s.Note("p", "c", "h1", nil)
	last := func(principal, path string) string {
		hash, data, ok := s.Last(principal, path)
		return fmt.Sprintf("%s %q %t", hash, data, ok)
	}
	for _, c := range []struct{ path, want string }{
		{"a", `h3 "three" true`},
		{"b", `h2 "" true`},
		{"c", `h1 "one" true`},
		{"d", ` "" false`},
	} {
		if got := last("p", c.path); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
	if got, ok := s.ByHash("p", "h1"); !ok || string(got) != "one" {
		t.Errorf("a former content: %q, %t", got, ok)
	}
	if _, ok := s.ByHash("q", "h1"); ok {
		t.Error("another principal sees a content")
	}
	if got := last("q", "a"); got != ` "" false` {
		t.Errorf("another principal sees %s", got)
	}
}

func TestSeenNil(t *testing.T) {
	var s *view.Seen
	s.Note("p", "a", "h", []byte("x"))
	_, _, last := s.Last("p", "a")
	_, known := s.ByHash("p", "h")
	if last || known {
		t.Error("nothing remembers something")
	}
}

func TestSeenBounds(t *testing.T) {
	const most = 100_000
	s := view.NewSeen(most)
	held := func() (n int) {
		for i := range 1000 {
			if data, ok := s.ByHash("p", fmt.Sprint("h", i)); ok {
				n += len(data)
			}
		}
		return n
	}
	for i := range 1000 {
		s.Note("p", fmt.Sprint("f", i), fmt.Sprint("h", i), make([]byte, 1000))
		if i%100 == 0 && held() > most {
			t.Fatalf("%d bytes are held", held())
		}
	}
	if n := held(); n < most/2 || n > most {
		t.Errorf("%d bytes are held of %d", n, most)
	}
	if _, ok := s.ByHash("p", "h999"); !ok {
		t.Error("the last content is forgotten")
	}
	if _, ok := s.ByHash("p", "h0"); ok {
		t.Error("the first content is remembered")
	}
	for i := range 1000 {
		s.Note("p", strings.Repeat("long", 100)+fmt.Sprint(i), "h", nil) // paths count too
	}
	if _, ok := s.ByHash("p", "h999"); ok {
		t.Error("paths take no room")
	}
}

// What is used stays.
func TestSeenOrder(t *testing.T) {
	s := view.NewSeen(20_000)
	s.Note("p", "kept", "kept", make([]byte, 1000))
	s.Note("p", "lost", "lost", make([]byte, 1000))
	for i := range 100 {
		s.Note("p", fmt.Sprint(i), fmt.Sprint(i), make([]byte, 1000))
		s.ByHash("p", "kept")
	}
	if _, ok := s.ByHash("p", "kept"); !ok {
		t.Error("a content in use is forgotten")
	}
	if _, ok := s.ByHash("p", "lost"); ok {
		t.Error("a content that nobody uses is remembered")
	}
}

func TestSeenLarge(t *testing.T) {
	s := view.NewSeen(16 << 20)
	s.Note("p", "a", "h", make([]byte, 2<<20))
	if hash, data, ok := s.Last("p", "a"); hash != "h" || data != nil || !ok {
		t.Errorf("of a large content %q, %d bytes, %t are remembered", hash, len(data), ok)
	}
	tiny := view.NewSeen(0)
	tiny.Note("p", "a", "h", []byte("x"))
	if _, _, ok := tiny.Last("p", "a"); ok {
		t.Error("a Seen without room remembers")
	}
}

func TestSeenConcurrent(t *testing.T) {
	s := view.NewSeen(50_000)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 500 {
				name := fmt.Sprint(w, i%50)
				s.Note("p", name, name, []byte(name))
				if _, data, ok := s.Last("p", name); ok && data != nil && string(data) != name {
					t.Errorf("%s: %q", name, data)
				}
				s.ByHash("p", fmt.Sprint(i%8, i%50))
			}
		})
	}
	wg.Wait()
}

func TestSeenForget(t *testing.T) {
	s := view.NewSeen(1 << 20)
	for _, name := range []string{"a", "d/x", "d/e/y", "dd", "/host/z"} {
		s.Note("p", name, "h"+name, []byte(name))
		s.Note("q", name, "h"+name, []byte(name))
	}
	s.Forget("p", "a", "d", "/host")
	for name, want := range map[string]bool{"a": false, "d/x": false, "d/e/y": false, "dd": true, "/host/z": false} {
		if _, _, ok := s.Last("p", name); ok != want {
			t.Errorf("%s is remembered: %t", name, ok)
		}
		if _, _, ok := s.Last("q", name); !ok {
			t.Errorf("another principal has forgotten %s", name)
		}
	}
	if _, ok := s.ByHash("p", "hd/x"); !ok {
		t.Error("a content is forgotten with its path")
	}
}

// The first digits of a hash name a content, as results show them, if they are enough.
func TestSeenDigits(t *testing.T) {
	s := view.NewSeen(1 << 20)
	s.Note("p", "a", "0123456789abcdef", []byte("a"))
	s.Note("q", "b", "fedcba9876543210", []byte("b"))
	for hash, want := range map[string]bool{"0123456789ab": true, "0123456789abcdef": true, "0123456789a": false, "0123456789ac": false, "fedcba987654": false} {
		if _, ok := s.ByHash("p", hash); ok != want {
			t.Errorf("%s: %t", hash, ok)
		}
	}
}
