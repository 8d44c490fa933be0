package files_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/files"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

func fileSource(t *testing.T) tools.Source {
	t.Helper()
	sources := files.Sources(files.Deps{})
	if len(sources) != 1 {
		t.Fatalf("%d sources", len(sources))
	}
	return sources[0]
}

func in(t *testing.T, ws *workspace.Workspace) context.Context {
	return tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
}

// read reads a resource as a server does.
func read(t *testing.T, ws *workspace.Workspace, uri string) (tools.Block, error) {
	t.Helper()
	src := fileSource(t)
	args, ok := src.Args(uri)
	if !ok {
		t.Fatalf("%s is no URI of a file", uri)
	}
	result, err := tooltest.Call(t.Context(), ws, src.Read, args)
	if err != nil {
		return tools.Block{}, err
	}
	if len(result.Content) != 1 {
		t.Fatalf("%d blocks", len(result.Content))
	}
	return result.Content[0], nil
}

func TestFileResource(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n\x00\x00"
	ws, dir := tooltest.Tree(t, map[string]string{
		"a b#c%41.txt": "hello\n",
		"empty":        "",
		"bom.txt":      "\xef\xbb\xbfbom",
		"utf16":        "\xff\xfeh\x00i\x00",
		"latin":        "caf\xe9 cr\xe8me br\xfbl\xe9e, d\xe9j\xe0 vu, na\xefve\n",
		"pic.png":      png,
		"full":         strings.Repeat("x", 1<<20),
		"over":         strings.Repeat("x", 1<<20+1),
		"huge":         strings.Repeat("x", 9<<20),
		"wide":         "\xff\xfe" + strings.Repeat("\x16\x66", 1<<19-1),
		"d/x":          "x",
		"in":           "-> d/x",
		"out":          "-> /etc/hostname",
	})
	uri := func(name string) string { return "file://" + filepath.ToSlash(dir) + "/" + name }
	for _, tt := range []struct {
		name string
		want tools.Block
	}{
		{"a%20b%23c%2541.txt", tools.Block{MIME: "text/plain", Text: "hello\n"}},
		{"a b#c%2541.txt", tools.Block{MIME: "text/plain", Text: "hello\n"}},
		{"empty", tools.Block{MIME: "text/plain"}},
		{"bom.txt", tools.Block{MIME: "text/plain", Text: "bom"}},
		{"utf16", tools.Block{MIME: "text/plain", Text: "hi"}},
		{"latin", tools.Block{MIME: "text/plain", Text: "café crème brûlée, déjà vu, naïve\n"}},
		{"pic.png", tools.Block{MIME: "image/png", Data: []byte(png)}},
		{"full", tools.Block{MIME: "text/plain", Text: strings.Repeat("x", 1<<20)}},
		{"wide", tools.Block{MIME: "text/plain", Text: strings.Repeat("昖", 1<<19-1)}},
		{"in", tools.Block{MIME: "text/plain", Text: "x"}},
	} {
		got, err := read(t, ws, uri(tt.name))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if args, ok := fileSource(t).Args(got.URI); !ok || !strings.HasPrefix(got.URI, "file:///") {
			t.Errorf("%s: the URI %s cannot be read: %s", tt.name, got.URI, args)
		}
		tt.want.Kind, got.URI = tools.ResourceBlock, ""
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%.500s", tt.name, diff)
		}
	}
	for _, tt := range []struct {
		uri  string
		code tools.Code
		say  string
	}{
		{uri("over"), tools.TooLarge, "read_file"},
		{uri("huge"), tools.TooLarge, "read_file"},
		{uri("d"), tools.InvalidArgument, "list_directory"},
		{uri("gone"), tools.NotFound, "gone"},
		{uri("out"), tools.Denied, "outside"},
		{uri("%00"), tools.InvalidArgument, "NUL"},
		{uri("..%2F..%2Fetc/passwd"), tools.Denied, "outside"},
		{"file:///etc/passwd", tools.Denied, "outside"},
	} {
		_, err := read(t, ws, tt.uri)
		if e := tools.AsError(err); err == nil || e.Code != tt.code || !strings.Contains(e.Error(), tt.say) {
			t.Errorf("%s: %v, want %s with %q", tt.uri, err, tt.code, tt.say)
		}
	}
}

func TestFileList(t *testing.T) {
	tree := map[string]string{".gitignore": "*.o\n", ".hidden": "", "a.o": "", "d/e": "", "z": "zz", "b c": "", "link": "-> z", ".git/": ""}
	ws, dir := tooltest.Tree(t, tree)
	list, err := fileSource(t).List(in(t, ws))
	if err != nil {
		t.Fatal(err)
	}
	base := "file://" + filepath.ToSlash(dir) + "/"
	want := []tools.Resource{{URI: base + "b%20c", Name: `"b c"`, Size: 0}, {URI: base + "z", Name: "z", Size: 2}}
	want[0].Name = list[0].Name // however names with spaces are printed
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, r := range list {
		if _, err := read(t, ws, r.URI); err != nil {
			t.Errorf("%s: %v", r.URI, err)
		}
	}
}

// However many files and roots there are, every root has its share.
func TestFileListShares(t *testing.T) {
	var roots []string
	for i := range 3 {
		dir := filepath.Join(t.TempDir(), fmt.Sprint("root", i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 120 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d", j)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		roots = append(roots, dir)
	}
	ws, err := workspace.Open(roots, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	list, err := fileSource(t).List(in(t, ws))
	if err != nil || len(list) != 99 {
		t.Fatalf("%d resources, %v", len(list), err)
	}
	for i, r := range list {
		if want := fmt.Sprintf("file://%s/%03d", filepath.ToSlash(roots[i/33]), i%33); r.URI != want {
			t.Fatalf("resource %d is %s, want %s", i, r.URI, want)
		}
	}
}

func TestFileVersion(t *testing.T) {
	ws, dir := tooltest.Tree(t, map[string]string{"a": "1", "d/": ""})
	src, uri := fileSource(t), "file://"+filepath.ToSlash(dir)+"/a"
	version := func() string {
		v, err := src.Version(in(t, ws), uri)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := version()
	if version() != first {
		t.Error("another version of the same")
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("22"), 0o644); err != nil {
		t.Fatal(err)
	}
	second := version()
	if err := os.WriteFile(filepath.Join(dir, "b"), []byte("22"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if third := version(); slices.Contains([]string{first, second}, third) || first == second {
		t.Errorf("versions %q, %q, %q", first, second, third)
	}
	for name, code := range map[string]tools.Code{"gone": tools.NotFound, "d": tools.InvalidArgument} {
		_, err := src.Version(in(t, ws), strings.TrimSuffix(uri, "a")+name)
		if err == nil || tools.AsError(err).Code != code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := src.Version(in(t, ws), "file:///etc/passwd"); err == nil || tools.AsError(err).Code != tools.Denied {
		t.Errorf("outside: %v", err)
	}
}

func TestComplete(t *testing.T) {
	ws, dir := tooltest.Tree(t, map[string]string{
		".gitignore": "*.o\nout/\n", ".github/workflows/ci.yml": "", "a.o": "", "out/x": "", "src/main.go": "", "src/map/": "", "src/mad.o": "",
		"server.go": "", "sp ace": "", "per%41": "", "per%41d/x": "", "linkd": "-> src", "linkf": "-> server.go", "linko": "-> /etc", "linkx": "-> nowhere", ".git/": "",
	})
	abs := filepath.ToSlash(dir) + "/"
	for _, tt := range []struct {
		prefix      string
		directories bool
		want        []string
	}{
		{"", false, []string{"linkd/", "linkf", "per%41", "per%41d/", "server.go", "sp ace", "src/"}},
		{"", true, []string{"linkd/", "per%41d/", "src/"}},
		{"s", false, []string{"server.go", "sp ace", "src/"}},
		{"S", false, nil},
		{".", false, []string{".github/", ".gitignore"}},
		{".g", true, []string{".github/"}},
		{"src", false, []string{"src/"}},
		{"src/", false, []string{"src/main.go", "src/map/"}},
		{"src/ma", false, []string{"src/main.go", "src/map/"}},
		{"./src/ma", false, []string{"./src/main.go", "./src/map/"}},
		{"src/../src/mai", false, []string{"src/../src/main.go"}},
		{"linkd/ma", false, []string{"linkd/main.go", "linkd/map/"}},
		{"out/", false, []string{"out/x"}}, // who names it means it
		{"gone/", false, nil},
		{"server.go/", false, nil},
		{"../", false, nil},
		{"/etc/", false, nil},
		{abs + "src/ma", false, []string{abs + "src/main.go", abs + "src/map/"}},
		{abs[:len(abs)-2], false, []string{abs}},
		{abs[:len(abs)-1], true, []string{abs}},
		{abs, true, []string{abs + "linkd/", abs + "per%41d/", abs + "src/"}},
		{"src/\x00", false, nil},
	} {
		got, err := files.CompletePath(in(t, ws), tt.prefix, tt.directories)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, %v; want %q", tt.prefix, got, err, tt.want)
		}
		for _, value := range got {
			if !strings.HasPrefix(value, tt.prefix) {
				t.Errorf("%q became %q", tt.prefix, value)
			}
		}
		if tt.directories {
			continue
		}
		want := []string(nil)
		for _, value := range tt.want { // the same, absolute and escaped
			if !filepath.IsAbs(value) {
				value = abs + strings.ReplaceAll(strings.TrimPrefix(value, "./"), "src/../", "")
			}
			want = append(want, strings.ReplaceAll(value, "%41", "%2541"))
		}
		got, err = fileSource(t).Complete(in(t, ws), "path", tt.prefix)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("path %q: %q, %v; want %q", tt.prefix, got, err, want)
		}
	}
	if got, err := fileSource(t).Complete(in(t, ws), "path", abs+"per%2541d/"); err != nil || !slices.Equal(got, []string{abs + "per%2541d/x"}) {
		t.Errorf("an escaped prefix: %q, %v", got, err)
	}
	if got, err := fileSource(t).Complete(in(t, ws), "other", ""); err != nil || len(got) > 0 {
		t.Errorf("another variable: %q, %v", got, err)
	}
}

// The roots other than the first are found by their absolute path.
func TestCompleteRoots(t *testing.T) {
	base := t.TempDir()
	var roots []string
	for _, name := range []string{"one", "one/inner", "other"} {
		roots = append(roots, filepath.Join(base, filepath.FromSlash(name)))
		if err := os.MkdirAll(roots[len(roots)-1], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.Open(roots, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	abs := func(name string) string { return filepath.ToSlash(filepath.Join(base, name)) }
	for prefix, want := range map[string][]string{
		"":            {"inner/", abs("one/inner") + "/", abs("other") + "/"},
		abs("o"):      {abs("one") + "/", abs("one/inner") + "/", abs("other") + "/"},
		abs("ot"):     {abs("other") + "/"},
		abs("other/"): {abs("other") + "/"},
		abs("two"):    nil,
	} {
		got, err := files.CompletePath(in(t, ws), prefix, true)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", prefix, got, err, want)
		}
	}
}

func TestCompleteCancelled(t *testing.T) {
	ws, _ := tooltest.Tree(t, map[string]string{"a": ""})
	ctx, cancel := context.WithCancel(in(t, ws))
	cancel()
	if _, err := files.CompletePath(ctx, "", false); err == nil {
		t.Error("no error")
	}
}

func BenchmarkComplete(b *testing.B) {
	tree := map[string]string{}
	for i := range 100_000 {
		tree[fmt.Sprintf("entry-%06d.txt", i)] = ""
	}
	ws, dir := tooltest.Tree(b, tree)
	ctx := tools.WithSession(b.Context(), &tools.SessionInfo{Workspace: ws})
	src := files.Sources(files.Deps{})[0]
	for _, prefix := range []string{"", "entry-0012"} {
		b.Run(prefix, func(b *testing.B) {
			for b.Loop() {
				if _, err := src.Complete(ctx, "path", filepath.ToSlash(dir)+"/"+prefix); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
