package web_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

// user answers all forms with one answer, and remembers them.
type user struct {
	answer tools.Action
	asked  []string
}

func (u *user) Ask(_ context.Context, forms ...tools.Form) (answers []tools.Answer, err error) {
	for _, f := range forms {
		u.asked = append(u.asked, f.Message)
		answers = append(answers, tools.Answer{Action: u.answer})
	}
	return answers, nil
}

// as is call in a session of a client whose user can be asked.
func (w *world) as(client, name, args string, asker tools.Asker) string {
	w.Helper()
	tool := w.tool(name)
	ctx := tools.WithSession(w.Context(), &tools.SessionInfo{Principal: tools.Local, Client: tools.Client{Name: client, Forms: true}, Workspace: w.ws})
	bound, err := tool.Bind([]byte(args))
	if err != nil {
		w.Fatal(err)
	}
	out, err := tool.Run(tools.WithAsker(ctx, asker), bound)
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	result, err := tool.Render(out)
	if err != nil {
		w.Fatal(err)
	}
	return tooltest.Text(result)
}

// TestAskPrivate asks the user about a private host, once in a session, and reads it if the user
// allows it. Nobody is asked about link-local addresses, those of clouds, and where a redirect
// leads.
func TestAskPrivate(t *testing.T) {
	w := newWorld(t, map[string]http.HandlerFunc{
		"inside.example.org": page("<p>What the mirror says."), "public.example.org": page("<p>What everybody may read."),
		"meta.example.org": page("metadata"), "other.example.org": page("other"),
		"away.example.org": func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://other.example.org:81/", http.StatusFound)
		},
	})
	w.at = map[string][]string{"inside.example.org": {"10.0.0.9"}, "other.example.org": {"10.0.0.8"}, "meta.example.org": {"169.254.169.254"}}
	const says, allows = "What the mirror says.", "web_private: [inside.example.org:81] in the configuration allows it"
	const question = "let the tools and commands of this session reach inside.example.org:81 in your private network"
	calls := []struct{ tool, args, want string }{
		{"web_fetch", `{"url":"http://inside.example.org:81/"}`, says},
		{"web_fetch", `{"url":"http://inside.example.org:81/x","method":"POST","body":"x"}`, says},
		{"web_crawl", `{"urls":["http://public.example.org:81/","http://inside.example.org:81/"]}`, says},
		{"web_crawl", `{"start":"http://inside.example.org:81/"}`, says},
		{"download", `{"url":"http://inside.example.org:81/","path":"x","overwrite":true}`, "x: downloaded"},
	}
	for i, c := range calls {
		yes, no := &user{answer: tools.Accept}, &user{answer: tools.Decline}
		for range 2 {
			if got := w.as(fmt.Sprint("yes", i), c.tool, c.args, yes); !strings.Contains(got, c.want) {
				t.Errorf("%s %s: %s", c.tool, c.args, got)
			}
			got := w.as(fmt.Sprint("no", i), c.tool, c.args, no)
			if !strings.Contains(got, allows) || strings.Contains(got, says) || c.tool != "web_crawl" && !strings.Contains(got, "asked, and not confirmed: ") {
				t.Errorf("%s %s, not allowed: %s", c.tool, c.args, got)
			}
		}
		if want := []string{question}; !slices.Equal(yes.asked, want) || !slices.Equal(no.asked, want) {
			t.Errorf("%s %s: asked %q and %q", c.tool, c.args, yes.asked, no.asked)
		}
		if got := w.call(c.tool, c.args); !strings.Contains(got, allows) {
			t.Errorf("%s %s, where nobody can be asked: %s", c.tool, c.args, got)
		}
	}
	if got := w.as("yes0", "web_crawl", `{"urls":["http://public.example.org:81/","http://inside.example.org:81/"]}`, nil); !strings.Contains(got, says) || !strings.Contains(got, "What everybody may read.") {
		t.Errorf("what one tool was granted holds for another: %s", got)
	}
	ctx := tools.WithSession(w.Context(), &tools.SessionInfo{Principal: tools.Local, Client: tools.Client{Name: "document", Forms: true}, Workspace: w.ws})
	reader := &user{answer: tools.Accept}
	if got, err := w.file(tools.WithAsker(ctx, reader), "http://inside.example.org:81/file", 1<<20); err != nil || !strings.Contains(string(got.Body), says) || len(reader.asked) != 1 {
		t.Errorf("for another category: %v, asked %q", err, reader.asked)
	}
	for _, address := range []string{"http://meta.example.org:81/", "http://169.254.169.254/", "http://away.example.org:81/", "http://100.100.100.200/"} {
		for _, c := range []struct{ tool, args string }{{"web_fetch", `{"url":%q}`}, {"web_crawl", `{"urls":[%q]}`}, {"download", `{"url":%q,"path":"y"}`}} {
			u := &user{answer: tools.Accept}
			if got := w.as("z", c.tool, fmt.Sprintf(c.args, address), u); !strings.Contains(got, "denied") || len(u.asked) > 0 {
				t.Errorf("%s %s: asked %q: %s", c.tool, address, u.asked, got)
			}
		}
	}
}
