package markup_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/markup"
)

// tokens writes the tokens of a text, and how it ended.
func tokens(t *testing.T, r io.Reader) string {
	t.Helper()
	d := markup.New(r, document.NewBudget(t.Context(), document.Standard()))
	var b strings.Builder
	text := ""
	flush := func() {
		if text != "" {
			fmt.Fprintf(&b, "%q ", text)
		}
		text = ""
	}
	for {
		kind, err := d.Next()
		if kind == markup.Text {
			text += string(d.Text())
			continue
		}
		flush()
		switch {
		case errors.Is(err, io.EOF):
			return strings.TrimSpace(b.String())
		case err != nil:
			return b.String() + "error: " + err.Error()
		case kind == markup.Start:
			fmt.Fprintf(&b, "<%s", d.Full())
			if v, ok := d.Has("a"); ok {
				fmt.Fprintf(&b, " a=%q", v)
			}
			b.WriteString("> ")
		case kind == markup.End:
			fmt.Fprintf(&b, "</%s> ", d.Full())
		}
	}
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`<x><y a="1"/>t</x>`, `<x> <y a="1"> </y> "t" </x>`},
		{`<?xml version="1.0"?><!DOCTYPE x [<!ELEMENT x ANY>]><x p:a='a>&lt;&#x41;&#66;'>&amp;&unknown;&#0;</x>`, `<x a="a><AB"> "&&unknown;&#0;" </x>`},
		{`<x><!-- <y> --><![CDATA[<&amp;]]>]]></x>`, `<x> "<&amp;]]>" </x>`},
		{`<a><b><c>t</a><d/>`, `<a> <b> <c> "t" </c> </b> </a> <d> </d>`},
		{`<a></b>1 < 2 & 3</a>`, `<a> "1 < 2 & 3" </a>`},
		{`<a b c=d a=e>`, `<a a="e"> error: XML ends inside of <a>`},
		{"<?xml version='1.0' encoding='windows-1251'?><x>\xcf\xf0</x>", `<x> "Пр" </x>`},
		{"\xff\xfe<\x00x\x00/\x00>\x00", `<x> </x>`},
		{"<x>\xff\r\n</x>", `<x> "` + "\uFFFD" + `\n" </x>`},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
			if diff := cmp.Diff(c.want, tokens(t, r)); diff != "" {
				t.Errorf("%s: %s", c.text, diff)
			}
		}
	}
}

func TestLong(t *testing.T) {
	text := strings.Repeat("ä&amp;b", 100_000)
	got := tokens(t, strings.NewReader("<x>"+text+"</x>"))
	want := fmt.Sprintf("<x> %q </x>", strings.Repeat("ä&b", 100_000))
	if got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

func TestTree(t *testing.T) {
	d := markup.New(strings.NewReader(`<m:a v="1">x<b><c>y</c></b>z</m:a><d/>`), document.NewBudget(t.Context(), document.Standard()))
	if _, err := d.Next(); err != nil {
		t.Fatal(err)
	}
	node, err := d.Tree()
	if err != nil {
		t.Fatal(err)
	}
	if got := []string{node.Name, node.Attr("v"), node.Inner(), node.Child("b").Child("c").Inner(), node.Child("none").Attr("v")}; !cmp.Equal(got, []string{"a", "1", "xyz", "y", ""}) {
		t.Errorf("%q", got)
	}
	if _, err := d.Next(); err != nil || d.Name() != "d" {
		t.Errorf("after the tree: %s, %v", d.Name(), err)
	}
}
