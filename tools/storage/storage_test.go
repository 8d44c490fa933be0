package storage_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/database/databasetest"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/storage"
)

var databases databasetest.Databases

func TestMain(m *testing.M) { databases.Main(m) }

// user calls the tool, as one principal in one root.
type user struct {
	t    *testing.T
	tool tools.Tool
	tools.SessionInfo
}

// each runs a test on both databases, each with a place of its own.
func each(t *testing.T, f func(t *testing.T, open func(principal, root string) *user)) {
	databases.Each(t, func(t *testing.T, url string) {
		base := t.TempDir()
		f(t, func(principal, root string) *user { return newUser(t, base, url, principal, root) })
	})
}

func newUser(t *testing.T, base, url, principal, root string) *user {
	t.Helper()
	ws := databasetest.Workspace(t, base, root)
	s := new(services.Services)
	databasetest.Use(t, s.Database(), url)
	return &user{t, storage.Category(s).Tools[0], tools.SessionInfo{Principal: principal, Workspace: ws}}
}

// call returns the text of the result, or "error: " and the error.
func (u *user) call(args map[string]any) string {
	u.t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		u.t.Fatal(err)
	}
	ctx := tools.WithSession(u.t.Context(), &u.SessionInfo)
	bound, err := u.tool.Bind(text)
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	out, err := u.tool.Run(ctx, bound)
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	r, err := u.tool.Render(out)
	if err != nil {
		u.t.Fatal(err)
	}
	return tooltest.Text(r)
}

type args = map[string]any

func (u *user) want(a args, want string) {
	u.t.Helper()
	if diff := tooltest.Match(want, u.call(a)); diff != "" {
		u.t.Errorf("%v:\n%s", a, diff)
	}
}

// TestVersions puts, deletes and expects.
func TestVersions(t *testing.T) {
	each(t, func(t *testing.T, open func(principal, root string) *user) {
		u := open("local", t.TempDir())
		for _, c := range []struct {
			args args
			want string
		}{
			{args{"operation": "get", "key": "a"}, "error: not_found: a is not in the namespace default"},
			{args{"operation": "delete", "key": "a"}, "a: was not there"},
			{args{"operation": "delete", "key": "a", "expected_version": 3}, "error: conflict: a does not exist, so its version is not 3 (expected_version=0 puts it)"},
			{args{"operation": "put", "key": "a", "value": "1", "expected_version": 1}, "error: conflict: a does not exist, so its version is not 1 (expected_version=0 puts it)"},
			{args{"operation": "put", "key": "a", "value": "1", "expected_version": 0}, "a: put, version 1, 1 byte"},
			{args{"operation": "put", "key": "a", "value": "2", "expected_version": 0}, "error: conflict: a exists, at version 1 (get it before you put it)"},
			{args{"operation": "put", "key": "a", "value": "2", "expected_version": 1}, "a: put, version 2, 1 byte"},
			{args{"operation": "put", "key": "a", "value": "3", "expected_version": 1}, "error: conflict: a is at version 2, not 1 (get it, and put with the version that you saw)"},
			{args{"operation": "put", "key": "/a", "value": ""}, "a: put, version 3, 0 bytes"},
			{args{"operation": "get", "key": "a"}, "a: version 3, 0 bytes, updated …"},
			{args{"operation": "delete", "key": "a", "expected_version": 2}, "error: conflict: a is at version 3, not 2 (get it, and put with the version that you saw)"},
			{args{"operation": "delete", "key": "a", "expected_version": 3}, "a: deleted, it was at version 3"},
			{args{"operation": "delete", "key": "a"}, "a: was not there"},
			{args{"operation": "put", "key": "a", "value": "4", "expected_version": 0}, "a: put, version 4, 1 byte"},
			{args{"operation": "get", "key": "A"}, "error: not_found: A is not in the namespace default (did you mean a)"},
			{args{"operation": "put", "key": "a", "value": args{"n": 12345678901234567}}, "a: put, version 5, 23 bytes"},
			{args{"operation": "get", "key": "a"}, "a: version 5, 23 bytes, updated …\n{\"n\":12345678901234567}"},
			{args{"operation": "put", "key": "a", "value": args{"html": "<b>&"}}, "a: put, version 6, 15 bytes"},
			{args{"operation": "get", "key": "a"}, "a: version 6, 15 bytes, updated …\n{\"html\":\"<b>&\"}"},
			{args{"operation": "put", "key": "a"}, "error: invalid_argument: /value: put needs a value…"},
			{args{"operation": "put", "key": "a", "value": "x", "ttl": "soon"}, "error: invalid_argument: /ttl: \"soon\" is not a duration…"},
		} {
			u.want(c.args, c.want)
		}
	})
}

// TestKeys refuses keys that are no paths.
func TestKeys(t *testing.T) {
	each(t, func(t *testing.T, open func(principal, root string) *user) {
		u := open("local", t.TempDir())
		for key, why := range map[string]string{
			"": "put needs a key", "/": "put needs a key", "a//b": "a part of it is empty", "a/": "a part of it is empty", "//a": "a part of it is empty",
			"a/../b": "a part of it is ..", ".": "a part of it is .", "a\x00b": "it has a NUL", strings.Repeat("k", 513): "it has 513 bytes, at most 512",
		} {
			u.want(args{"operation": "put", "key": key, "value": "x"}, "error: invalid_argument: /key: "+why+" (such as builds/main/last)")
		}
		long := strings.Repeat("é", 256)
		u.want(args{"operation": "put", "key": long, "value": "x"}, long+": put, version 1, 1 byte")
	})
}

// TestBytes brings back what was put.
func TestBytes(t *testing.T) {
	each(t, func(t *testing.T, open func(principal, root string) *user) {
		u := open("local", t.TempDir())
		for i, value := range []string{"\n", " x ", "a\x00b", "\u202e\u202e\ufeff", "äöü 人工智能 🎉", "\r\n\r", strings.Repeat("0123456789", 3000)} {
			key := fmt.Sprint("k", i)
			u.want(args{"operation": "put", "key": key, "value": value}, key+": put, version 1, …")
			_, got, _ := strings.Cut(u.call(args{"operation": "get", "key": key}), "\n")
			if got != value {
				t.Errorf("%q came back as %q", value, got)
			}
		}
		whole := strings.Repeat("é1234567", (1<<20)/9) + "end"
		u.want(args{"operation": "put", "key": "long", "value": whole}, "long: put, version 1, …")
		got, offset := "", 0
		for range 100 {
			status, part, _ := strings.Cut(u.call(args{"operation": "get", "key": "long", "offset": offset}), "\n")
			got += part
			_, next, more := strings.Cut(status, "; next: offset=")
			if !more {
				break
			}
			if _, err := fmt.Sscan(next, &offset); err != nil {
				t.Fatal(err)
			}
		}
		if got != whole {
			t.Errorf("the pages have %d bytes of %d", len(got), len(whole))
		}
		u.want(args{"operation": "put", "key": "long", "value": strings.Repeat("x", 1<<20+1)}, "error: too_large: /value: …")
	})
}

// TestList has keys in the order of their bytes, a page at a time.
func TestList(t *testing.T) {
	each(t, func(t *testing.T, open func(principal, root string) *user) {
		u := open("local", t.TempDir())
		keys := []string{"a", "a b", "a!", "a-b", "a.b", "a/1", "a/1/2", "a/é", "a0", "b", "é"}
		for _, key := range keys {
			u.want(args{"operation": "put", "key": key, "value": "v " + key}, "…")
		}
		for at, want := range map[string]string{"": strings.Join(keys, "|"), "a": "a|a/1|a/1/2|a/é", "/a/": "a|a/1|a/1/2|a/é", "a/1": "a/1|a/1/2", "c": "", "é": "é"} {
			for _, operation := range []string{"list", "scan"} {
				var got []string
				call := args{"operation": operation, "key": at, "limit": 2}
				for range keys {
					text := u.call(call)
					status, rest, _ := strings.Cut(text, "\n")
					for line := range strings.Lines(rest) {
						var e struct{ Key, Value string }
						if err := json.Unmarshal([]byte(line), &e); err != nil {
							t.Fatalf("%v in %q", err, line)
						}
						if value := map[string]string{"list": "", "scan": "v " + e.Key}[operation]; e.Value != value {
							t.Errorf("%s of %s has the value %q", operation, e.Key, e.Value)
						}
						got = append(got, e.Key)
					}
					_, after, more := strings.Cut(status, "; next: after=")
					if !more {
						break
					}
					call["after"] = after
				}
				if strings.Join(got, "|") != want {
					t.Errorf("%s %q: %q; want %q", operation, at, got, want)
				}
			}
		}
		for _, key := range []string{"long/1", "long/2"} {
			u.want(args{"operation": "put", "key": key, "value": strings.Repeat("x", 200_000)}, "…")
		}
		u.want(args{"operation": "scan", "key": "long"}, "2 entries\n{\"key\":\"long/1\",\"bytes\":200000,…\n{\"key\":\"long/2\",\"bytes\":200000,…")
	})
}

// TestOwners keeps the values of principals, roots and namespaces apart.
func TestOwners(t *testing.T) {
	each(t, func(t *testing.T, open func(principal, root string) *user) {
		here, there := t.TempDir(), t.TempDir()
		a, b, elsewhere := open("a", here), open("b", here), open("a", there)
		a.want(args{"operation": "put", "key": "k", "value": "1"}, "k: put, version 1, 1 byte")
		a.want(args{"operation": "put", "key": "k", "value": "2", "scope": "user"}, "k: put, version 1, 1 byte")
		a.want(args{"operation": "put", "key": "k", "value": "3", "namespace": "n"}, "k: put, version 1, 1 byte")
		for _, scope := range []string{"workspace", "user"} {
			b.want(args{"operation": "get", "key": "k", "scope": scope}, "error: not_found: …")
			b.want(args{"operation": "list", "scope": scope}, "0 entries")
		}
		elsewhere.want(args{"operation": "get", "key": "k"}, "error: not_found: …")
		elsewhere.want(args{"operation": "get", "key": "k", "scope": "user"}, "k: version 1, …\n2")
		open("a", here).want(args{"operation": "get", "key": "k", "namespace": "n"}, "k: version 1, …\n3")
		a.want(args{"operation": "get", "key": "k", "namespace": "m"}, "error: not_found: k is not in the namespace m (it is empty; namespaces with values are default, n)")
	})
}

// TestExpiry lets values expire. They do not count any more, and their versions go on.
func TestExpiry(t *testing.T) {
	each(t, func(t *testing.T, open func(principal, root string) *user) {
		u := open("local", t.TempDir())
		u.want(args{"operation": "put", "key": "k", "value": "1"}, "k: put, version 1, 1 byte")
		u.want(args{"operation": "put", "key": "k", "value": "2", "ttl": "1ms"}, "k: put, version 2, 1 byte, expires …")
		for u.call(args{"operation": "list"}) != "0 entries" { // until it has expired
			if err := t.Context().Err(); err != nil {
				t.Fatal(err)
			}
		}
		u.want(args{"operation": "get", "key": "k"}, "error: not_found: k is not in the namespace default")
		u.want(args{"operation": "put", "key": "k", "value": "3", "expected_version": 2}, "error: conflict: …")
		u.want(args{"operation": "put", "key": "k", "value": "3", "expected_version": 0}, "k: put, version 3, 1 byte")
		u.want(args{"operation": "get", "key": "k"}, "k: version 3, 1 byte, updated …\n3")
	})
}

// TestQuota fills a namespace. What has expired makes room.
func TestQuota(t *testing.T) {
	tooltest.Unraced(t)
	each(t, func(t *testing.T, open func(principal, root string) *user) {
		t.Parallel() // 100 MiB each, and most of the time is that of the disk
		u := open("local", t.TempDir())
		large := strings.Repeat("x", 1<<20)
		for i := range 99 {
			u.want(args{"operation": "put", "key": fmt.Sprint(i), "value": large}, "…")
		}
		u.want(args{"operation": "put", "key": "last", "value": large}, "error: too_large: the namespace default would have …")
		u.want(args{"operation": "put", "key": "5", "value": large}, "5: put, version 2, …") // in the place of itself
		u.want(args{"operation": "put", "key": "last", "value": large, "namespace": "other"}, "last: put, version 1, …")
		u.want(args{"operation": "put", "key": "7", "value": large, "ttl": "1ms"}, "7: put, version 2, …")
		for !strings.HasPrefix(u.call(args{"operation": "get", "key": "7"}), "error: not_found") {
		}
		u.want(args{"operation": "put", "key": "last", "value": large}, "last: put, version 3, …") // above that of 7
	})
}

// TestContended has several count by compare-and-set.
func TestContended(t *testing.T) {
	each(t, func(t *testing.T, open func(principal, root string) *user) {
		root := t.TempDir()
		const users, rounds = 4, 25
		var wg sync.WaitGroup
		for range users {
			u := open("local", root)
			wg.Go(func() {
				for done := 0; done < rounds; {
					version, n := 0, 0
					if text := u.call(args{"operation": "get", "key": "n"}); !strings.HasPrefix(text, "error: not_found") {
						if _, err := fmt.Sscanf(text, "n: version %d, ", &version); err != nil {
							t.Errorf("%s: %v", text, err)
							return
						}
						_, value, _ := strings.Cut(text, "\n")
						if _, err := fmt.Sscan(value, &n); err != nil {
							t.Error(err)
							return
						}
					}
					text := u.call(args{"operation": "put", "key": "n", "value": fmt.Sprint(n + 1), "expected_version": version})
					switch {
					case strings.HasPrefix(text, "n: put"):
						done++
					case !strings.HasPrefix(text, "error: conflict"):
						t.Error(text)
						return
					}
				}
			})
		}
		wg.Wait()
		open("local", root).want(args{"operation": "get", "key": "n"}, fmt.Sprintf("n: version %[1]d, 3 bytes, …\n%[1]d", users*rounds))
	})
}

// TestUnknownSpace deletes in a namespace that nobody has put into, which leaves nothing.
func TestUnknownSpace(t *testing.T) {
	databases.Each(t, func(t *testing.T, url string) {
		base := t.TempDir()
		u := newUser(t, base, url, "local", t.TempDir())
		u.want(args{"operation": "delete", "key": "a", "namespace": "unknown"}, "a: was not there")
		var n int
		if err := databasetest.Open(t, base, url).SQL().QueryRow("SELECT count(*) FROM toolcrib_spaces WHERE name = 'unknown'").Scan(&n); n != 0 || err != nil {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}
