package change_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// The errors of several operations become one, with all of them in it.
func TestProblems(t *testing.T) {
	ws, _ := tooltest.Tree(t, nil)
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: "local", Workspace: ws})
	seen := view.NewSeen(1 << 20)
	seen.Note("local", "b", sum("x\n"), []byte("x\n"))
	conflict := &workspace.ConflictError{Path: "b", Want: sum("x\n"), Old: workspace.Old{Exists: true, Data: []byte("y\n"), Hash: sum("y\n")}}
	missing := &workspace.Error{Rule: workspace.RuleNotFound, Msg: "c does not exist", Hint: "nearest existing path: b"}
	mine := tools.Errorf(tools.InvalidArgument, "a: nothing matches\ndetail")
	wrap := func(err error) error { return fmt.Errorf("operation 2: %w", err) }
	moved := "conflict: b is not what expected_hash names: it has hash " + short("y\n") + " now (see what changed, then call again with that hash)\nwhat changed:\n--- expected\n+++ now\n@@ -1 +1 @@\n-x\n+y"
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"one", mine, "invalid_argument: a: nothing matches\ndetail"},
		{"one, joined", errors.Join(mine), "invalid_argument: a: nothing matches\ndetail"},
		{"a conflict", wrap(conflict), moved},
		{"several", wrap(errors.Join(mine, wrap(errors.Join(conflict, missing)))),
			"invalid_argument: 3 problems; nothing is changed\ninvalid_argument: a: nothing matches\ndetail\n" + moved + "\nnot_found: c does not exist (nearest existing path: b)"},
		{"something stands there", &workspace.ConflictError{Path: "b", Old: workspace.Old{Exists: true}}, "already_exists: b exists already"},
		{"a large file", &workspace.ConflictError{Path: "b", Want: sum("x\n"), Old: workspace.Old{Exists: true, Cut: true, Data: []byte("y\n"), Info: workspace.Info{Size: 1 << 30}}},
			"conflict: b is not what expected_hash names: it has hash v:1073741824-… now (see what changed, then call again with that hash)"},
	} {
		got := tools.AsError(change.Explain(ctx, seen, c.err)).Error()
		if diff := tooltest.Match(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	var many []error
	for i := range 300 {
		many = append(many, tools.Errorf(tools.InvalidArgument, "f%d: %s", i, strings.Repeat("a long line\n", 100)+strings.Repeat("x", 10_000)))
	}
	for _, n := range []int{2, 30, 300} {
		got := change.Explain(ctx, seen, errors.Join(many[:n]...)).Error()
		if len(got) > tools.MaxErrorText {
			t.Errorf("%d errors take %d bytes", n, len(got))
		}
		for i := range min(n, 30) {
			if !strings.Contains(got, fmt.Sprintf("\ninvalid_argument: f%d: ", i)) {
				t.Errorf("of %d errors, the one of f%d is not told", n, i)
			}
		}
	}
}

// Whatever is written is read again as the text that was given.
func FuzzCompose(f *testing.F) {
	for _, old := range []string{"", "a\r\nb\r\n", "a\nb\r\n", "\xef\xbb\xbfa\n", "\xff\xfea\x00", "caf\xe9\n", "\x00\x01", "日本\n"} {
		for _, text := range []string{"", "x", "\ufeffx\r\n", "é\n\ny", "\rz\n", "日本語"} {
			f.Add(text, "", []byte(old), false)
			f.Add(text, "utf-16le", []byte(old), true)
			f.Add(text, "gb18030", []byte(old), false)
		}
	}
	f.Fuzz(func(t *testing.T, text, encoding string, old []byte, add bool) {
		data, err := change.Compose(strings.ToValidUTF8(text, ""), encoding, old, add)
		if err != nil {
			return
		}
		text = strings.ToValidUTF8(text, "")
		if add && !bytes.HasPrefix(data, old) {
			t.Fatalf("%q became %q", old, data)
		}
		form := textfile.Sniff(old, true)
		if encoding != "" {
			named, ok := textfile.Lookup(encoding)
			if !ok {
				t.Fatalf("%q is no encoding", encoding)
			}
			form = textfile.Form{Encoding: named}
		} else if form.Binary {
			form = textfile.Form{}
		}
		if add {
			data = data[len(old):]
		}
		got := string(form.Encoding.Decode(data))
		plain := func(s string) string {
			s = strings.TrimPrefix(s, "\ufeff")
			return strings.TrimPrefix(strings.ReplaceAll(s, "\r\n", "\n"), "\ufeff")
		}
		if plain(got) != plain(text) && !strings.Contains(text, "\r\r\n") {
			t.Fatalf("of %q with %q over %q stands %q", text, encoding, old, got)
		}
	})
}

func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}

func short(text string) string { return sum(text)[:12] }
