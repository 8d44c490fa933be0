package workspace_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolcrib/workspace"
)

// vectors are paths and what they read, or the rule that refuses them.
var vectors = []struct {
	path string
	want string // content
	rule workspace.Rule
}{
	{"f", "inside", ""},
	{"./f", "inside", ""},
	{".//f", "inside", ""},
	{"./sub/../f", "inside", ""},
	{"missing/../f", "inside", ""}, // lexical
	{"sub/deep/../../f", "inside", ""},
	{strings.Repeat("sub/../", 60) + "f", "inside", ""},
	{"{base}/ws/f", "inside", ""},
	{"//{base}/ws/f", "inside", ""},
	{"{base}/ws/./sub//../f", "inside", ""},
	{"{base}/out/../ws/f", "inside", ""},
	{"../ws/f", "inside", ""}, // comes back
	{"~", "tilde", ""},
	{"..foo", "dots", ""},
	{"%2e%2e/secret", "percent", ""},
	{"caf\u00e9", "nfc", ""},
	{"a b\tc", "blank", ""},
	{"rel_in", "inside", ""},
	{"abs_in", "inside", ""},
	{"up_and_back", "inside", ""},
	{"dotted", "inside", ""},
	{"dir_in/deep/g", "deep", ""},
	{"abs_dir_in/deep/g", "deep", ""},
	{"abs_dir_in/../f", "inside", ""},
	{"back_dir/sub/deep/g", "deep", ""},
	{"abs_to_rel", "inside", ""},
	{"chain16", "inside", ""},
	{"rel20", "inside", ""},
	{"hard", "hard", ""},
	{"abs_slash/deep/g", "deep", ""},

	{"../ws-evil/secret", "", workspace.RuleOutside},
	{"../out/secret", "", workspace.RuleOutside},
	{"{base}/ws/../out/secret", "", workspace.RuleOutside},
	{"{base}/ws-evil/secret", "", workspace.RuleOutside},
	{"{base}", "", workspace.RuleOutside},
	{"..", "", workspace.RuleOutside},
	{"/", "", workspace.RuleOutside},
	{"/etc/passwd", "", workspace.RuleOutside},
	{"/proc/self/environ", "", workspace.RuleOutside},
	{strings.Repeat("../", 100) + "etc/passwd", "", workspace.RuleOutside},
	{"sib", "", workspace.RuleOutside},
	{"rel_out", "", workspace.RuleOutside},
	{"rel_out/", "", workspace.RuleOutside},
	{"abs_out", "", workspace.RuleOutside},
	{"out_missing", "", workspace.RuleOutside},
	{"dir_out/secret", "", workspace.RuleOutside},
	{"dir_out/missing", "", workspace.RuleOutside},
	{"dir_in/../dir_out/secret", "", workspace.RuleOutside},
	{"abs_dir_in/deep/out", "", workspace.RuleOutside},
	{"magic", "", workspace.RuleOutside},
	{"to_out_by_link", "", workspace.RuleOutside},

	{"loop", "", workspace.RuleLoop},
	{"abs_loop", "", workspace.RuleLoop},
	{"chain17", "", workspace.RuleLoop},
	{"f/", "", workspace.RuleKind},
	{"f/.", "", workspace.RuleKind},
	{"rel_in/", "", workspace.RuleKind},
	{"abs_in/", "", workspace.RuleKind},
	{"sub", "", workspace.RuleKind},
	{"sub/", "", workspace.RuleKind},
	{".", "", workspace.RuleKind},
	{"f/x", "", workspace.RuleKind},
	{"missing", "", workspace.RuleNotFound},
	{"dangling", "", workspace.RuleNotFound},
	{"abs_dangling", "", workspace.RuleNotFound},
	{"cafe\u0301", "", workspace.RuleNotFound},
	{"~/f", "", workspace.RuleKind},
	{"~root", "", workspace.RuleNotFound},
	{"$HOME/f", "", workspace.RuleNotFound},
	{"f ", "", workspace.RuleNotFound},
	{"f.", "", workspace.RuleNotFound},
	{"f\u202e", "", workspace.RuleNotFound},
	{"C:\\Windows", "", workspace.RuleNotFound},
	{strings.Repeat("x", 300), "", workspace.RuleInvalid},
	{strings.Repeat("x/", 2049), "", workspace.RuleInvalid},
	{"", "", workspace.RuleInvalid},
	{"f\x00", "", workspace.RuleInvalid},
	{"f\xff", "", workspace.RuleInvalid},
	{"\xc0\xae\xc0\xae/out/secret", "", workspace.RuleInvalid}, // overlong ".."
	{"file://{base}/ws/f", "", workspace.RuleInvalid},
	{"FILE:///..%2fout%2fsecret", "", workspace.RuleInvalid},
}

func TestVectors(t *testing.T) {
	tr := newTree(t)
	for name, target := range map[string]string{
		"rel_in":         "f",
		"abs_in":         "{base}/ws/f",
		"up_and_back":    "../ws/f",
		"dotted":         "sub/deep/../../f",
		"dir_in":         "sub",
		"abs_dir_in":     "{base}/ws/sub",
		"abs_slash":      "{base}/ws/sub/",
		"back_dir":       "../ws",
		"abs_to_rel":     "{base}/ws/rel_in",
		"sib":            "{base}/ws-evil/secret",
		"rel_out":        "../out/secret",
		"abs_out":        "{base}/out/secret",
		"out_missing":    "{base}/out/missing",
		"dir_out":        "{base}/out",
		"sub/deep/out":   "../../../out/secret",
		"magic":          "/proc/self/root/etc/hostname",
		"to_out_by_link": "{base}/ws/dir_out/secret",
		"loop":           "loop",
		"abs_loop":       "{base}/ws/abs_loop",
		"dangling":       "missing",
		"abs_dangling":   "{base}/ws/missing",
	} {
		tr.link(t, "ws/"+name, target)
	}
	// chainN passes N absolute links, rel20 twenty relative ones.
	tr.link(t, "ws/chain1", "{base}/ws/f")
	tr.link(t, "ws/rel1", "f")
	for i := 2; i <= 20; i++ {
		tr.link(t, "ws/chain"+strconv.Itoa(i), "{base}/ws/chain"+strconv.Itoa(i-1))
		tr.link(t, "ws/rel"+strconv.Itoa(i), "rel"+strconv.Itoa(i-1))
	}
	tr.write(t, "out/hard", "hard")
	if err := os.Link(tr.path("out/hard"), tr.path("ws/hard")); err != nil {
		t.Fatal(err)
	}
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws")
		slowest := time.Duration(0)
		for _, v := range vectors {
			text := tr.expand(v.path)
			got, took, err := timed(w, text)
			slowest = max(slowest, took)
			if rule := ruleOf(t, err); got != v.want || rule != v.rule {
				t.Errorf("%.80q = %q, %v (rule %q); want %q, rule %q", text, got, err, rule, v.want, v.rule)
			}
			if took > 50*time.Millisecond {
				t.Errorf("%.80q took %v", text, took)
			}
			checkRoundTrip(t, w, text, got)
		}
		t.Logf("%s: vectors: %d, slowest %v", t.Name(), len(vectors), slowest)
	})
}

// timed reads text, again where the machine may have been busy with other things.
func timed(w *workspace.Workspace, text string) (got string, took time.Duration, err error) {
	for range 3 {
		start := time.Now()
		got, err = read(w, text)
		if took = time.Since(start); took <= 50*time.Millisecond {
			break
		}
	}
	return got, took, err
}

// checkRoundTrip demands that the printed path reads what the given one read.
func checkRoundTrip(t *testing.T, w *workspace.Workspace, text, want string) {
	t.Helper()
	p, err := w.Resolve(text)
	if err != nil {
		return
	}
	again, err := w.Resolve(p.String())
	if err != nil {
		t.Errorf("%q is printed as %q: %v", text, p, err)
		return
	}
	if got, _ := read(w, again.String()); again.String() != p.String() || want != "" && got != want {
		t.Errorf("%q is printed as %q and then %q, reads %q", text, p, again, got)
	}
}

func TestMessages(t *testing.T) {
	tr := newTree(t)
	tr.link(t, "ws/leak", "{base}/out/secret")
	tr.link(t, "ws/leak_missing", "{base}/out/nothing")
	tr.write(t, "ws/src/main.go", "package main")
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws", "two")
		roots := "roots: " + tr.path("ws") + ", " + tr.path("two")
		for _, tt := range []struct{ text, msg, hint string }{
			{"../out/secret", "../out/secret is outside the workspace", roots},
			{"leak", "leak leads outside the workspace by a symlink", roots},
			{"leak_missing", "leak_missing leads outside the workspace by a symlink", roots},
			{"/workspace/src/main.go", "/workspace/src/main.go is outside the workspace", "did you mean src/main.go? " + roots},
			{"src/mian.go", "src/mian.go does not exist", "nearest existing path: src/main.go"},
			{"./SRC/Main.go", "./SRC/Main.go does not exist", "nearest existing path: src/main.go"},
			{"src/zzzzzz/x", "src/zzzzzz/x does not exist", "nearest existing path: src"},
			{"f/x", "f is a file, not a directory", "a file has no entries, so f/x cannot exist"},
			{"f/", "f/ is a file, not a directory", "without a slash at the end it can be read: f"},
			{"sub", "sub is a directory, not a file", "list it, or name a file in it"},
			{"cafe\u0301", "cafe\u0301 does not exist", "nearest existing path: caf\u00e9 (the same letters in another Unicode form: \"caf\\u00e9\")"},
			{"~/xyzzyx", "~ is a file, not a directory", "a file has no entries, so ~/xyzzyx cannot exist; ~ is an ordinary name here, not the home directory"},
			{"~nobody/x", "~nobody/x does not exist", "~ is an ordinary name here, not the home directory"},
			{"q", "q does not exist", "nearest existing path: ."},
			{"ws/src/main.go", "ws/src/main.go does not exist", "nearest existing path: src/main.go; ws is a root itself"},
			{"ws/", "ws/ does not exist", "nearest existing path: .; ws is a root itself"},
			{"ws/src/mian.go", "ws/src/mian.go does not exist", "nearest existing path: ."},
			{"two", "two does not exist", "nearest existing path: " + tr.path("two") + "; two is a root itself"},
			{"file:///a%20b/c", "file:///a%20b/c is a URI, not a path", "give the path: /a b/c"},
			{"", "the path is empty", `the first root itself is "."`},
			{"a\x00b", `the path "a\x00b" holds a NUL character`, "no file has such a name; remove it"},
			{"evil\u202etxt", `"evil\u202etxt" does not exist`, "nearest existing path: ."},
		} {
			_, err := read(w, tt.text)
			ruleOf(t, err)
			e, _ := err.(*workspace.Error)
			if e == nil || e.Msg != tt.msg || e.Hint != tt.hint || e.Path != tt.text {
				t.Errorf("%q: %v (%#v)\nwant %q\nhint %q", tt.text, err, e, tt.msg, tt.hint)
			}
		}
	})
}
