package clientfile_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"toolcrib/server/cli/internal/clientfile"
)

var update = flag.Bool("update", false, "rewrite the documents in testdata")

type stdio struct {
	Command string   `json:"command" toml:"command"`
	Args    []string `json:"args" toml:"args"`
}

var entry = stdio{Command: "/bin/toolcrib", Args: []string{"serve", `C:\a "b" <c>`}}

func place(format clientfile.Format) clientfile.Entry {
	table := "servers"
	if format == clientfile.TOML {
		table = "mcp_servers"
	}
	return clientfile.Entry{Format: format, Table: table, Name: "toolcrib"}
}

// TestDocuments goes through the documents of testdata: before, after the entry
// is set, after it is removed again without the help of a backup.
func TestDocuments(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			format, _, _ := strings.Cut(filepath.Base(file), "-")
			p := place(map[string]clientfile.Format{"json": clientfile.JSON, "jsonc": clientfile.JSONC, "toml": clientfile.TOML}[format])
			before := archive.Files[0].Data
			after, err := p.Set(before, entry)
			if err != nil {
				t.Fatal(err)
			}
			removed, err := p.Remove(after)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: archive.Comment, Files: []txtar.File{{Name: "before", Data: before}, {Name: "after", Data: after}, {Name: "removed", Data: removed}}}
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" && !*update {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBytes is what a golden file cannot show well: marks, line ends, the end of
// the file. The entry is shortened to {}.
func TestBytes(t *testing.T) {
	for _, tt := range []struct {
		name, before, after string
		format              clientfile.Format
	}{
		{"mark", "\ufeff{\"servers\":{}}", "\ufeff{\"servers\":{\"toolcrib\":{}}}", clientfile.JSON},
		{"crlf", "{\r\n\t\"servers\": {}\r\n}", "{\r\n\t\"servers\": {\r\n\t\t\"toolcrib\": {}\r\n\t}\r\n}", clientfile.JSON},
		{"blanks", "{\n  \"servers\": {\n  }\n}\n\n", "{\n  \"servers\": {\n    \"toolcrib\": {}\n  }\n}\n\n", clientfile.JSON},
		{"a comment at the end of a line", "{\"servers\":{\"a\":1 // }\n}}", "{\"servers\":{\"a\":1, // }\n\"toolcrib\": {}\n}}", clientfile.JSONC},
		{"a comment between", "{\"servers\":{\"a\":1/* , */,}}", "{\"servers\":{\"a\":1/* , */,\"toolcrib\":{},}}", clientfile.JSONC},
		{"an escaped key", `{"s\u0065rvers":{"\u0061":1}}`, `{"s\u0065rvers":{"\u0061":1,"toolcrib":{}}}`, clientfile.JSON},
		{"toml without an end", "a = 1", "a = 1\n\n[mcp_servers.toolcrib]", clientfile.TOML},
		{"toml, crlf and mark", "\ufeffa = 1\r\n", "\ufeffa = 1\r\n\r\n[mcp_servers.toolcrib]\r\n", clientfile.TOML},
		{"toml, blanks", "\n\n", "\n\n\n[mcp_servers.toolcrib]\n", clientfile.TOML},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := place(tt.format)
			after, err := p.Set([]byte(tt.before), struct{}{})
			if err != nil || string(after) != tt.after {
				t.Errorf("set: %v\n got %q\nwant %q", err, after, tt.after)
			}
			again, err := p.Set(after, struct{}{})
			if err != nil || !bytes.Equal(again, after) {
				t.Errorf("a second set: %v\n got %q\nwant %q", err, again, after)
			}
			removed, err := p.Remove(after, []byte("{}"), []byte(tt.before))
			if err != nil || string(removed) != tt.before {
				t.Errorf("remove: %v\n got %q\nwant %q", err, removed, tt.before)
			}
		})
	}
}

// TestLineEnds shows that an edit takes on the line ends of a document.
func TestLineEnds(t *testing.T) {
	for format, doc := range map[clientfile.Format]string{
		clientfile.JSON: "{\r\n  \"servers\": {\r\n    \"toolcrib\": {},\r\n    \"a\": 1\r\n  }\r\n}\r\n",
		clientfile.TOML: "[mcp_servers.toolcrib]\r\n\r\n[mcp_servers.a]\r\n",
	} {
		p := place(format)
		set, err := p.Set([]byte(doc), entry)
		if err != nil || strings.Count(string(set), "\n") != strings.Count(string(set), "\r\n") || bytes.Equal(set, []byte(doc)) {
			t.Errorf("set: %v, %q", err, set)
		}
		want := map[clientfile.Format]string{
			clientfile.JSON: "{\r\n  \"servers\": {\r\n    \"a\": 1\r\n  }\r\n}\r\n",
			clientfile.TOML: "[mcp_servers.a]\r\n",
		}[format]
		if removed, err := p.Remove(set); err != nil || string(removed) != want {
			t.Errorf("remove: %v\n got %q\nwant %q", err, removed, want)
		}
	}
}

// TestSame shows that an entry that says the same in another form is left alone.
func TestSame(t *testing.T) {
	for format, doc := range map[clientfile.Format]string{
		clientfile.JSONC: `{"servers": {"toolcrib": {"args": ["serve", "C:\\a \"b\" \u003cc>",], /* c */ "command": "/bin/toolcrib"}}}`,
		clientfile.TOML:  "[mcp_servers]\ntoolcrib.args = [\n'serve', 'C:\\a \"b\" <c>']\ntoolcrib.command = '/bin/toolcrib' # c\n",
	} {
		if got, err := place(format).Set([]byte(doc), entry); err != nil || string(got) != doc {
			t.Errorf("%v:\n got %s\nwant %s", err, got, doc)
		}
	}
}

// TestEarlier shows when an earlier document comes back.
func TestEarlier(t *testing.T) {
	p := place(clientfile.JSON)
	doc, err := p.Set(nil, entry)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Remove(doc, []byte(`{"a":1}`), nil); err != nil || got != nil {
		t.Errorf("a document of the entry alone: %v, %q", err, got)
	}
	if got, err := p.Remove(doc, []byte("not JSON"), doc); err != nil || string(got) != "{\n  \"servers\": {}\n}\n" {
		t.Errorf("earlier documents that are broken or have the entry: %v, %q", err, got)
	}
	if got, err := place(clientfile.TOML).Remove([]byte("[mcp_servers.toolcrib]")); err != nil || got == nil || len(got) != 0 {
		t.Errorf("a document that is empty then, but was never missing: %v, %#v", err, got)
	}
	if got, err := p.Remove(append([]byte(" "), doc...), nil); err != nil || len(got) == 0 {
		t.Errorf("a document that was changed since: %v, %q", err, got)
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		format    clientfile.Format
		doc, want string
	}{
		{clientfile.JSON, "{\n  \"a\": x}", "2:8: invalid character 'x' looking for beginning of value"},
		{clientfile.JSON, "{\n  // c\n}", "2:3: invalid character '/' looking for beginning of object key string"},
		{clientfile.JSON, `{"a": 1,}`, `1:9: invalid character '}' looking for beginning of object key string`},
		{clientfile.JSON, `{"a": 1`, "1:7: unexpected end of JSON input"},
		{clientfile.CommentedJSON, "{\n\"a\": [1 /**/, ] // c\n}", "2:13: there is a comma before the closing bracket"},
		{clientfile.JSONC, "{\n\"a\" 1}", "2:5: invalid character '1' after object name"},
		{clientfile.JSONC, "// nothing but this", "1:1: parsing comment: unexpected EOF"},
		{clientfile.JSONC, "\ufeff{} {}", "1:4: invalid character '{' after top-level value"},
		{clientfile.JSONC, `["]", // ]` + "\n/* ] */" + strings.Repeat("[", 10000), "2:10007: the document is nested more than 10000 levels deep"},
		{clientfile.JSON, "[]", "1:1: the document is not an object"},
		{clientfile.JSON, `{"servers": []}`, `1:13: "servers" is not an object`},
		{clientfile.JSON, `{"servers": null}`, `1:13: "servers" is not an object`},
		{clientfile.JSON, "{\"servers\": {},\n \"servers\": {}}", `2:2: the key "servers" appears twice`},
		{clientfile.JSON, `{"x": [{"a": 1, "\u0061": 2}]}`, `1:17: the key "a" appears twice`},
		{clientfile.TOML, "a = 1\nb = ", "2:4: expected value, not end of input"},
		{clientfile.TOML, "a = 1\na = 2", "2:1: key a is already defined"},
		{clientfile.TOML, "[mcp_servers.a]\n[mcp_servers.a]", "2:2: table a already exists"},
		{clientfile.TOML, "a = 1\nmcp_servers = 2", `2:1: "mcp_servers" is not a table`},
		{clientfile.TOML, "[[mcp_servers]]", `1:3: "mcp_servers" is not a table`},
		{clientfile.TOML, "mcp_servers = { toolcrib = {} }", "1:1: mcp_servers is an inline table, which cannot be edited in place; write its entries as [mcp_servers.NAME]"},
	} {
		t.Run(tt.doc[:min(len(tt.doc), 40)], func(t *testing.T) {
			p := place(tt.format)
			_, err := p.Set([]byte(tt.doc), entry)
			if _, ok := errors.AsType[*clientfile.SyntaxError](err); !ok || err.Error() != tt.want {
				t.Errorf("set:\n got %v\nwant %s", err, tt.want)
			}
			_, err = p.Remove([]byte(tt.doc))
			if _, ok := errors.AsType[*clientfile.SyntaxError](err); !ok || err.Error() != tt.want {
				t.Errorf("remove:\n got %v\nwant %s", err, tt.want)
			}
		})
	}
}
