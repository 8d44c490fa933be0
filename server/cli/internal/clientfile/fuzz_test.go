package clientfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolcrib/server/cli/internal/clientfile"
)

// FuzzEdit makes random documents of each format, and edits them: all
// except the entry keeps every byte, a second edit changes nothing, and Remove takes out
// what was put in.
func FuzzEdit(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		for _, format := range formats() {
			g := &generator{Rand: rnd, format: format}
			doc := g.document()
			checkEdit(t, place(format), doc, format == clientfile.TOML || g.others)
		}
	})
}

// FuzzDocument edits whatever bytes are a document.
func FuzzDocument(f *testing.F) {
	for _, doc := range []string{
		``, `{}`, "{\n}", "\ufeff{ }\r\n", `{"servers":{"a":1/**/,}, }`, `{"servers":{"toolcrib":null // x
}}`, "a = 1", "[mcp_servers.toolcrib]\nx=1\n[mcp_servers.toolcrib.env]\n", "mcp_servers.toolcrib.x = 1\nmcp_servers.b = {}", "[mcp_servers]\ntoolcrib = {}\nb = {}",
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, format := range formats() {
			p := place(format)
			if _, _, err := p.Find(doc); err != nil {
				continue
			}
			if _, err := p.Set(doc, entry); err != nil {
				if strings.Contains(err.Error(), "inline table") {
					continue
				}
				t.Fatalf("%q: %v", doc, err)
			}
			checkEdit(t, p, doc, format == clientfile.TOML)
		}
	})
}

func formats() []clientfile.Format {
	return []clientfile.Format{clientfile.JSON, clientfile.CommentedJSON, clientfile.JSONC, clientfile.TOML}
}

// checkEdit edits a document. Exact says that what is put in comes out without a
// trace, even where there is no backup.
func checkEdit(t *testing.T, p clientfile.Entry, doc []byte, exact bool) {
	t.Helper()
	_, found, err := p.Find(doc)
	if err != nil {
		t.Fatalf("%q: %v", doc, err)
	}
	set, err := p.Set(doc, entry)
	if err != nil {
		t.Fatalf("%q: set: %v", doc, err)
	}
	again, err := p.Set(set, entry)
	if err != nil || !bytes.Equal(again, set) {
		t.Errorf("%q: a second set: %v\n%q\n%q", doc, err, set, again)
	}
	if !found && !subsequence(doc, set) {
		t.Errorf("%q: set lost bytes:\n%q", doc, set)
	}
	removed, err := p.Remove(set)
	if err != nil {
		t.Fatalf("%q: remove: %v", set, err)
	}
	if !subsequence(removed, set) {
		t.Errorf("%q: remove made bytes:\n%q", set, removed)
	}
	if !found && exact && !bytes.Equal(removed, doc) {
		t.Errorf("set and removed\n got %q\nwant %q\n set %q", removed, doc, set)
	}
	if !found {
		old := [][]byte{[]byte("{}"), []byte("x = 1\n"), doc}
		want := old[slices.IndexFunc(old, func(doc []byte) bool { // the first of which the entry makes this document
			same, err := p.Set(doc, entry)
			return err == nil && bytes.Equal(same, set)
		})]
		removed, err = p.Remove(set, old...)
		if err != nil || !bytes.Equal(removed, want) {
			t.Errorf("set and removed with the old document: %v\n got %q\nwant %q\n set %q", err, removed, want, set)
		}
		return
	}
	removed, err = p.Remove(doc)
	if err != nil || !subsequence(removed, doc) {
		t.Errorf("%q: remove: %v\n%q", doc, err, removed)
	}
	if _, err := p.Remove(removed); !errors.Is(err, clientfile.ErrNoEntry) {
		t.Errorf("%q: a second remove: %v", removed, err)
	}
}

func subsequence(short, long []byte) bool {
	for _, c := range short {
		i := bytes.IndexByte(long, c)
		if i < 0 {
			return false
		}
		long = long[i+1:]
	}
	return true
}

// generator makes documents.
type generator struct {
	*rand.Rand
	format clientfile.Format
	nl     string
	others bool // there are other entries
	b      strings.Builder
}

func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

func (g *generator) pick(words ...string) string { return words[g.IntN(len(words))] }

func (g *generator) document() []byte {
	g.nl = g.pick("\n", "\n", "\r\n")
	if g.chance(5) {
		g.b.WriteString("\ufeff")
	}
	if g.format == clientfile.TOML {
		g.toml()
	} else {
		g.extra()
		members := g.members("k", g.IntN(3))
		if !g.chance(4) {
			members = append(members, member{"servers", g.servers})
		}
		g.object(append(members, g.members("z", g.IntN(3))...))
		g.extra()
	}
	return []byte(g.b.String())
}

func (g *generator) servers() {
	before, after := g.IntN(3), g.IntN(2)
	g.others = before+after > 0
	members := g.members("a", before)
	if g.chance(3) {
		members = append(members, member{"toolcrib", g.value})
	}
	g.object(append(members, g.members("b", after)...))
}

type member struct {
	key   string
	value func()
}

func (g *generator) members(prefix string, n int) []member {
	list := make([]member, n)
	for i := range list {
		list[i] = member{fmt.Sprint(prefix, i), g.value}
	}
	return list
}

func (g *generator) object(members []member) {
	g.b.WriteString("{")
	g.extra()
	for i, m := range members {
		if i > 0 {
			g.b.WriteString(",")
			g.extra()
		}
		g.b.WriteString(`"` + m.key + `"`)
		g.extra()
		g.b.WriteString(":")
		g.extra()
		m.value()
		g.extra()
	}
	if len(members) > 0 && g.format == clientfile.JSONC && g.chance(2) {
		g.b.WriteString(",")
		g.extra()
	}
	g.b.WriteString("}")
}

func (g *generator) value() {
	switch g.IntN(6) {
	case 0:
		g.object([]member{{"in", func() { g.b.WriteString("1.50") }}})
	case 1:
		g.object(nil)
	default:
		g.b.WriteString(g.pick("null", "true", "-0.0e1", `"} // , /* \" "`, `["a", {"b": []}]`, `"\u00e9<&>"`))
	}
}

func (g *generator) extra() {
	for range g.IntN(3) {
		switch {
		case g.format == clientfile.JSON || !g.chance(3):
			g.b.WriteString(g.pick(" ", "  ", "\t", g.nl, g.nl+"  ", g.nl+"\t"))
		default:
			g.b.WriteString(g.pick("/* } , */", "//"+g.nl, "// a, {"+g.nl+" ", "/*"+g.nl+"*/", "// */"+g.nl, "/* // */"))
		}
	}
}

func (g *generator) toml() {
	line := func(words ...string) {
		if len(words) > 0 {
			g.b.WriteString(g.pick(words...))
		}
		g.b.WriteString(g.pick("", "", "  ", " # [mcp_servers.toolcrib]") + g.nl)
	}
	for i := range g.IntN(3) {
		line(fmt.Sprintf("k%d = 1", i), fmt.Sprintf("k%d = \"\"\"%s[mcp_servers.toolcrib]%s\"\"\"", i, g.nl, g.nl), fmt.Sprintf("k%d = [%s 1, # c%s]", i, g.nl, g.nl))
	}
	own := g.IntN(6)
	if own == 0 {
		line(`mcp_servers.toolcrib.command = "x"`)
	}
	for i := range g.IntN(4) {
		if g.chance(2) {
			line()
		}
		line(fmt.Sprintf("[mcp_servers.a%d]", i), fmt.Sprintf("[ mcp_servers . \"b%d\" ]", i), fmt.Sprintf("[t%d]", i), fmt.Sprintf("[[arr%d]]", i))
		for j := range g.IntN(3) {
			line(fmt.Sprintf("f%d = 'x'", j), fmt.Sprintf("f%d.g = nan", j), fmt.Sprintf("f%d = { a = 1 }", j))
		}
		if own == 1 && i == 1 {
			line("[mcp_servers.toolcrib]", "['mcp_servers'.toolcrib]")
			line(`command = "x"`)
			line(`# inside`)
			line(`[mcp_servers.toolcrib.env]`)
			line(`A = "b"`)
		}
	}
	if own == 2 {
		line("[mcp_servers.toolcrib.env]", "[[mcp_servers.toolcrib]]")
	}
	if text := g.b.String(); g.chance(3) {
		g.b.Reset()
		g.b.WriteString(strings.TrimSuffix(text, g.nl))
	}
}
