package web_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/web"
	"toolcrib/workspace"
)

// answer answers with a type and a body; robots.txt is not there.
func answer(kind string, body []byte, header ...string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Content-Type", kind)
		for i := 0; i < len(header); i += 2 {
			rw.Header().Set(header[i], header[i+1])
		}
		_, _ = rw.Write(body)
	}
}

func squeezed(t *testing.T, encoding string, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	var w interface {
		Write(p []byte) (int, error)
		Close() error
	}
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	}
	for block := make([]byte, 1<<20); size > 0; size -= len(block) {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zipped is an archive of members, each a name and a content.
func zipped(t *testing.T, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		f, err := w.Create(members[i])
		if err == nil {
			_, err = f.Write([]byte(members[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const wordType = `<Types><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`

// TestAnswers reads what servers send that is not simply a page.
func TestAnswers(t *testing.T) {
	var pixel bytes.Buffer
	if err := png.Encode(&pixel, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	word := zipped(t, "[Content_Types].xml", wordType, "word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>
		<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Kites</w:t></w:r></w:p><w:p><w:r><w:t>They soar.</w:t></w:r></w:p></w:body></w:document>`)
	const rss = `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><item><title>First</title><link>https://a.example.org/1</link><description>It began.</description></item></channel></rss>`
	for _, tt := range []struct {
		name   string
		serve  http.HandlerFunc
		args   string // after the address
		want   []string
		absent string
	}{
		{"shift_jis by header", answer("text/html; charset=shift_jis", []byte("<p>\x93\xfa\x96{\x8c\xea")), "", []string{"日本語", "charset: shift_jis (header)"}, ""},
		{"windows-1251 by meta", answer("text/html", []byte("<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2")), "", []string{"Привет", "charset: windows-1251 (meta)"}, ""},
		{"utf-16 by mark", answer("text/plain", []byte("\xff\xfeh\x00i\x00")), "", []string{"\n\nhi"}, ""},
		{"a lying charset", answer("text/html; charset=utf-8", []byte("<p>caf\xe9 cr\xe8me")), "", []string{"café crème"}, ""},
		{"a feed", answer("application/rss+xml", []byte(rss)), "", []string{"title: News", "First", "https://a.example.org/1", "It began."}, "<item>"},
		{"a feed as it is", answer("application/rss+xml", []byte(rss)), `,"format":"raw"`, []string{"<item>"}, ""},
		{"JSON", answer("application/json", []byte(`{"a_b":[1,2.50],"s":"*x*"}`)), `,"format":"text"`, []string{`{"a_b":[1,2.50],"s":"*x*"}`, "type: application/json"}, ""},
		{"links of JSON", answer("application/json", []byte(`{}`)), `,"format":"links"`, []string{"error: unsupported", "only pages have links"}, ""},
		{"Markdown", answer("text/markdown; charset=utf-8", []byte("# A\n\nText \U000e0041of *this*.\n")), "", []string{"# A\n\nText of *this*."}, ""},
		{"an image", answer("image/png", pixel.Bytes()), "", []string{"image/png, 3x2"}, ""},
		{"an image that is called text", answer("text/plain", pixel.Bytes()), "", []string{"image/png, 3x2"}, ""},
		{"an image is not saved as text", answer("image/png", pixel.Bytes()), `,"save":"a.png"`, []string{"error: unsupported", "download"}, ""},
		{"a file", answer("application/x-tar", []byte("\x00\x01\x02")), "", []string{"https://a.example.org/x is a file of type application/x-tar with 3 B, not a text\ndownload saves it"}, "error"},
		{"an archive", answer("application/zip", zipped(t, "notes.txt", "some text")), "", []string{"a file of type application/zip", "download"}, "some text"},
		{"an archive without a type", answer("application/octet-stream", []byte("PK\x03\x04....")), "", []string{"a file of type application/zip"}, ""},
		{"a file is not saved as text", answer("application/zip", []byte("PK\x03\x04....")), `,"save":"a"`, []string{"error: unsupported", "download"}, ""},
		{"a DOCX file", answer("application/octet-stream", word), "", []string{"type: docx", "\n\n# Kites\n\nThey soar."}, ""},
		{"a DOCX file as text", answer("application/vnd.openxmlformats-officedocument.wordprocessingml.document", word), `,"format":"text"`, []string{"\n\nKites\n\nThey soar."}, "#"},
		{"the outline of a DOCX file", answer("application/zip", word), `,"outline":true`, []string{"1 heading", "0\tKites"}, ""},
		{"a DOCX file that is saved", answer("application/zip", word), `,"save":"kites.md"`, []string{"saved to kites.md"}, ""},
		{"a broken DOC file", answer("application/msword", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")), "", []string{"error: unsupported", "cannot be read: ", "download"}, ""},
		{"an RTF file", answer("text/rtf", []byte(`{\rtf1 They {\b soar}.}`)), "", []string{"type: rtf", "They **soar**."}, ""},
		{"HEAD", answer("text/plain", []byte("abc"), "X-Here", "yes"), `,"method":"HEAD"`, []string{"HTTP 200", "X-Here: yes"}, "abc"},
		{"not saved by HEAD", answer("text/plain", []byte("abc")), `,"method":"HEAD","save":"a"`, []string{"error: invalid_argument"}, ""},
		{"too large", answer("text/plain", make([]byte, 11<<20)), "", []string{"error: too_large", "10"}, ""},
		{"a challenge", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Cf-Mitigated", "challenge")
			rw.WriteHeader(http.StatusForbidden)
		}, "", []string{"error: denied"}, ""},
		{"too many requests", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Retry-After", "120")
			rw.WriteHeader(map[bool]int{true: 404, false: 429}[r.URL.Path == "/robots.txt"])
		}, "", []string{"error: unavailable", "429", "after 120"}, ""},
		{"an error that says why", func(rw http.ResponseWriter, r *http.Request) {
			rw.WriteHeader(http.StatusNotFound)
			fmt.Fprint(rw, "<nav>Menu</nav><p>The kites have moved to another page of this site since last year.")
		}, "", []string{"error: not_found", "have moved", web.Outside}, ""},
		{"gzip bomb", answer("text/plain", squeezed(t, "gzip", 64<<20), "Content-Encoding", "gzip"), "", []string{"error: too_large", "times its size"}, ""},
		{"br bomb", answer("text/plain", squeezed(t, "br", 64<<20), "Content-Encoding", "br"), "", []string{"error: too_large", "times its size"}, ""},
		{"zstd bomb", answer("text/plain", squeezed(t, "zstd", 64<<20), "Content-Encoding", "zstd"), "", []string{"error: too_large", "times its size"}, ""},
		{"a redirect loop", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(rw, r)
				return
			}
			http.Redirect(rw, r, "/x", http.StatusFound)
		}, "", []string{"error: unsupported", "redirect loop"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]http.HandlerFunc{"a.example.org": tt.serve})
			got := w.call("web_fetch", `{"url":"https://a.example.org/x"`+tt.args+`}`)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("got\n%s\nwant %q in it", cutText(got), want)
				}
			}
			if tt.absent != "" && strings.Contains(got, tt.absent) {
				t.Errorf("got\n%s\nwithout %q", cutText(got), tt.absent)
			}
		})
	}
}

func cutText(text string) string { return text[:min(len(text), 3000)] }

// TestImage returns an image as a block.
func TestImage(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, map[string]http.HandlerFunc{"a.example.org": answer("image/png", b.Bytes())})
	result, err := tooltest.Call(t.Context(), w.ws, w.tool("web_fetch"), []byte(`{"url":"a.example.org/x"}`))
	if err != nil || !slices.ContainsFunc(result.Content, func(b tools.Block) bool { return b.Kind == tools.ImageBlock }) {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestRequests holds what is sent.
func TestRequests(t *testing.T) {
	var got []string
	echo := func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(rw, r)
			return
		case "/away":
			http.Redirect(rw, r, "https://b.example.org/there", http.StatusFound)
			return
		}
		body := new(bytes.Buffer)
		_, _ = body.ReadFrom(r.Body)
		got = append(got, fmt.Sprintf("%s %s%s %q %q %s", r.Method, r.Host, r.URL.Path, r.Header.Get("X-Secret"), r.Header.Get("Content-Type"), body))
		fmt.Fprint(rw, "done, user agent ", r.UserAgent())
	}
	w := newWorld(t, map[string]http.HandlerFunc{"a.example.org": echo, "b.example.org": echo})
	step := func(args, want, sent string) {
		t.Helper()
		got = nil
		if text := w.call("web_fetch", args); !strings.Contains(text, want) {
			t.Errorf("%s:\n%s\nwant %q in it", args, text, want)
		}
		if all := strings.Join(got, "\n"); all != sent {
			t.Errorf("%s sent\n%s\nwant\n%s", args, all, sent)
		}
	}
	step(`{"url":"https://a.example.org/x","method":"POST","body":"{\"a\":1}","headers":["X-Secret: s"]}`, "done", `POST a.example.org/x "s" "application/json" {"a":1}`)
	step(`{"url":"https://a.example.org/x","headers":["X-Secret: s"]}`, "user agent toolcrib", `GET a.example.org/x "s" "" `)
	step(`{"url":"https://a.example.org/away","headers":["X-Secret: s"]}`, "redirected from https://a.example.org/away", `GET b.example.org/there "" "" `)
	step(`{"url":"https://a.example.org/x","headers":["no colon"]}`, "error: invalid_argument", "")
	step(`{"url":"https://a.example.org/x","headers":["X-Secret: s"],"render":"always"}`, "error: invalid_argument", "")
	step(`{"url":"https://a.example.org/x","body":"b"}`, "error: invalid_argument", "")
}

// TestAsks asks before a request that may change something and before a file is lost, and only
// then.
func TestAsks(t *testing.T) {
	w := newWorld(t, nil)
	for name, size := range map[string]int64{"small": 1, "large": workspace.MaxKept + 1} {
		file := filepath.Join(w.dir, name)
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, size)); err != nil {
			t.Fatal(err)
		}
	}
	overwrite := fmt.Sprintf("overwrite large (%s); the history does not keep files above %[1]s, so it cannot be undone", textfile.Size(workspace.MaxKept))
	for _, test := range []struct{ tool, args, want string }{
		{"web_fetch", `{"url":"https://a.example.org/x"}`, ""},
		{"web_fetch", `{"url":"https://a.example.org/x","method":"HEAD"}`, ""},
		{"web_fetch", `{"url":"https://a.example.org/x","method":"DELETE"}`, "send DELETE https://a.example.org/x"},
		{"web_fetch", `{"url":"https://u:p@a.example.org/","method":"POST","body":"hi"}`, "send POST https://redacted@a.example.org/ with: hi"},
		{"web_fetch", `{"url":"https://a.example.org/x","save":"small"}`, ""},
		{"web_fetch", `{"url":"https://a.example.org/x","save":"large"}`, overwrite},
		{"web_fetch", `{"url":"https://a.example.org/x","method":"PUT","save":"large"}`, "send PUT https://a.example.org/x\n" + overwrite},
		{"download", `{"url":"https://a.example.org/x","path":"small","overwrite":true}`, ""},
		{"download", `{"url":"https://a.example.org/x","path":"large"}`, ""},
		{"download", `{"url":"https://a.example.org/x","path":"large","overwrite":true}`, overwrite},
	} {
		tool := w.tool(test.tool)
		b, err := tool.Bind([]byte(test.args))
		if err != nil {
			t.Fatal(err)
		}
		q, err := tool.Question(tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: w.ws}), b)
		if err != nil || q.Message != test.want {
			t.Errorf("%s %s: %q, %v, want %q", test.tool, test.args, q.Message, err, test.want)
		}
	}
}

// TestSave keeps what was there before in the history.
func TestSave(t *testing.T) {
	w := exampleWorld(t)
	file := filepath.Join(w.dir, "kites.md")
	if err := os.WriteFile(file, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := w.call("web_fetch", `{"url":"https://docs.example.org/kites","save":"kites.md","limit":10}`)
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(got, "saved to kites.md") || !strings.HasPrefix(string(data), "# Kites\n\n") || !strings.Contains(string(data), "## Nests") {
		t.Errorf("%s\n%s, %v", got, data, err)
	}
	_, total, err := w.ws.History(t.Context(), workspace.HistoryQuery{})
	if err != nil || total != 1 {
		t.Errorf("the history has %d changes, %v", total, err)
	}
}

// TestResource links a file that is no text, for its principal and as it was read.
func TestResource(t *testing.T) {
	content := "\x00\x01first"
	w := newWorld(t, map[string]http.HandlerFunc{"a.example.org": func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(rw, r)
		case "/large":
			answer("application/octet-stream", make([]byte, tools.MaxResource+1))(rw, r)
		default:
			answer("application/octet-stream", []byte(content))(rw, r)
		}
	}})
	fetch := func(args string) []tools.Block {
		t.Helper()
		result, err := tooltest.Call(t.Context(), w.ws, w.tool("web_fetch"), []byte(args))
		if err != nil {
			t.Fatal(err)
		}
		return result.Content
	}
	blocks := fetch(`{"url":"https://a.example.org/data.bin"}`)
	if len(blocks) != 2 || blocks[1].Kind != tools.LinkBlock || blocks[1].Name != "data.bin" || blocks[1].MIME != "application/octet-stream" {
		t.Fatalf("%+v", blocks)
	}
	if large := fetch(`{"url":"https://a.example.org/large"}`); len(large) != 1 {
		t.Errorf("a link to a file that is no resource: %d blocks", len(large))
	}
	content = "\x00\x01second"
	source := w.sources[0]
	read := func(principal string) ([]tools.Block, error) {
		t.Helper()
		args, ok := source.Args(blocks[1].URI)
		if !ok {
			t.Fatal(blocks[1].URI)
		}
		b, err := source.Read.Bind(args)
		if err != nil {
			t.Fatal(err)
		}
		out, err := source.Read.Run(tools.WithSession(t.Context(), &tools.SessionInfo{Principal: principal, Workspace: w.ws}), b)
		if err != nil {
			return nil, err
		}
		return out.(tools.Contenter).Content(), nil
	}
	got, err := read(tools.Local)
	if err != nil || len(got) != 1 || string(got[0].Data) != "\x00\x01first" || got[0].URI != blocks[1].URI {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := read("another"); tools.AsError(err) == nil || tools.AsError(err).Code != tools.NotFound {
		t.Errorf("another principal: %v", err)
	}
	handles, err := source.Complete(tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local}), "handle", "")
	if err != nil || len(handles) != 1 || !strings.HasSuffix(blocks[1].URI, handles[0]) {
		t.Errorf("%q, %v", handles, err)
	}
}

// TestSecretsInAddresses are not shown; the code of an article is no secret.
func TestSecretsInAddresses(t *testing.T) {
	w := exampleWorld(t)
	for _, c := range []struct{ tool, args, want string }{
		{"web_fetch", `{"url":"https://me:hunter2@docs.example.org/kites?sig=hunter2&code=7"}`, "https://redacted@docs.example.org/kites?sig=redacted&code=7: "},
		{"web_fetch", `{"url":"https://docs.example.org/gone?access_token=hunter2"}`, "access_token=redacted: HTTP 404"},
		{"web_crawl", `{"urls":["https://docs.example.org/kites?token=hunter2"]}`, "kites?token=redacted: "},
		{"web_fetch", `{"url":"https://docs.example.org/kites#state=1&access_token=hunter2"}`, "https://docs.example.org/kites: "},
		{"image_search", `{"image":"https://img.example.org/k.png?sig=hunter2"}`, "no service that finds images like an image"},
		{"download", `{"url":"https://data.example.org/kites.csv?X-Amz-Signature=hunter2","path":"k.csv"}`, "kites.csv?X-Amz-Signature=redacted; "},
	} {
		got := w.call(c.tool, c.args)
		bound, err := w.tool(c.tool).Bind([]byte(c.args))
		if err != nil {
			t.Fatal(err)
		}
		told := string(w.tool(c.tool).Redacted(t.Context(), bound))
		if !strings.Contains(got, c.want) || strings.Contains(got, "hunter2") || strings.Contains(told, "hunter2") {
			t.Errorf("%s:\n%s\nwant %q; on record %s", c.args, cutText(got), c.want, told)
		}
	}
}

// TestSecure asks for an address of plain HTTP over TLS first.
func TestSecure(t *testing.T) {
	w := newWorld(t, map[string]http.HandlerFunc{
		"both.example.org": page("<p>Both ways lead here."),
		"plain.example.org": func(rw http.ResponseWriter, r *http.Request) {
			if r.TLS != nil || r.URL.Path == "/robots.txt" {
				http.NotFound(rw, r)
				return
			}
			page("<p>Only plain.")(rw, r)
		},
	})
	for args, want := range map[string]string{
		`{"url":"http://both.example.org/"}`:             "https://both.example.org/: 20 characters",
		`{"url":"both.example.org"}`:                     "https://both.example.org",
		`{"url":"http://plain.example.org/"}`:            "http://plain.example.org/: 11 characters",
		`{"url":"http://plain.example.org/","offset":5}`: "5 to the end shown",
		`{"url":"http://both.example.org:80/"}`:          "https://both.example.org/: 20",
	} {
		if got := w.call("web_fetch", args); !strings.Contains(got, want) || strings.Contains(got, "redirected") {
			t.Errorf("%s:\n%s\nwant %q in it", args, got, want)
		}
	}
}
