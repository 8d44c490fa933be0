package server_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// ask sends a request and returns the result that comes back.
func ask(t *testing.T, c *client, line string) (result json.RawMessage, code int, message string) {
	t.Helper()
	c.send(line)
	synctest.Wait()
	lines := c.take()
	if len(lines) != 1 {
		t.Fatalf("%d lines answer %s:\n%s", len(lines), line, strings.Join(lines, "\n"))
	}
	w := readLine(t, lines[0])
	if w.Error != nil {
		return nil, w.Error.Code, w.Error.Message
	}
	return w.Result, 0, ""
}

// crowd is a source with many resources.
func crowd(name string, n int) tools.Source {
	src := notes()
	src.Name, src.Template = name, ""
	src.Read = tools.New(tools.Def[nameIn, block]{
		Name: "read_" + name, Title: "Read", Doc: "Reads.", Access: tools.Read, Effects: tools.None,
		Run: func(context.Context, nameIn) (block, error) { return block{}, nil },
	})
	src.Args = func(uri string) (json.RawMessage, bool) { return nil, strings.HasPrefix(uri, name+":") }
	src.List = func(context.Context) ([]tools.Resource, error) {
		list := make([]tools.Resource, n)
		for i := range list {
			list[i] = tools.Resource{URI: fmt.Sprintf("%s:%d", name, n-i), Name: "same", Size: -1}
		}
		return list, nil
	}
	return src
}

// Every resource is on one page, in the order of its source, whatever its name.
func TestResourcePages(t *testing.T) {
	for _, sizes := range [][]int{{0}, {1}, {100}, {101, 0}, {150, 100}, {99, 1, 200}} {
		synctest.Test(t, func(t *testing.T) {
			var want []string
			c := connect(t, newServer(t, func(o *server.Options) {
				for i, n := range sizes {
					name := fmt.Sprintf("s%d", i)
					o.Sources = append(o.Sources, crowd(name, n))
					for j := range n {
						want = append(want, fmt.Sprintf("%s:%d", name, n-j))
					}
				}
			}))
			e := eras()[1]
			got := []string{}
			cursor := ""
			for pages := 1; ; pages++ {
				params := ""
				if cursor != "" {
					params = fmt.Sprintf(`"cursor":%q`, cursor)
				}
				raw, code, msg := ask(t, c, e.request("1", "resources/list", params, ""))
				if code != 0 {
					t.Fatal(msg)
				}
				var page struct {
					Resources  []struct{ URI string }
					NextCursor string
				}
				if err := json.Unmarshal(raw, &page); err != nil {
					t.Fatal(err)
				}
				if page.Resources == nil {
					t.Error("resources is not an array")
				}
				for _, r := range page.Resources {
					got = append(got, r.URI)
				}
				if cursor = page.NextCursor; cursor == "" {
					if least := max(1, (len(want)+99)/100); pages != least {
						t.Errorf("%d pages, want %d", pages, least)
					}
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("sizes %v: %s", sizes, cmp.Diff(want, got))
			}
		})
	}
}

// A cursor is one that was given, or nothing.
func TestResourceCursors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newServer(t, func(o *server.Options) { o.Sources = []tools.Source{crowd("s", 300)} }))
		for text, want := range map[string]int{
			"resources:100": 0, "resources:200": 0, "resources:300": mcp.INVALID_PARAMS, "resources:0": mcp.INVALID_PARAMS,
			"resources:50": mcp.INVALID_PARAMS, "resources:-100": mcp.INVALID_PARAMS, "resources:+100": mcp.INVALID_PARAMS,
			"resources:0100": mcp.INVALID_PARAMS, "100": mcp.INVALID_PARAMS, "prompts:100": mcp.INVALID_PARAMS, "": mcp.INVALID_PARAMS,
		} {
			cursor := base64.StdEncoding.EncodeToString([]byte(text))
			if _, code, msg := ask(t, c, eras()[1].request("1", "resources/list", fmt.Sprintf(`"cursor":%q`, cursor), "")); code != want {
				t.Errorf("%q: %d %s, want %d", text, code, msg, want)
			}
		}
	})
}

func TestResourceListFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newServer(t, func(o *server.Options) {
			bad := crowd("bad", 1)
			bad.List = func(context.Context) ([]tools.Resource, error) {
				return nil, tools.Errorf(tools.Unavailable, "no list today")
			}
			o.Sources = []tools.Source{crowd("good", 1), bad}
		}))
		if _, code, msg := ask(t, c, eras()[1].request("1", "resources/list", "", "")); code != mcp.INTERNAL_ERROR || !strings.Contains(msg, "no list today") {
			t.Errorf("%d %s", code, msg)
		}
	})
}

// A server without resources and prompts has no such methods and says so.
func TestNothingOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newServer(t))
		e := eras()[1]
		raw, _, _ := ask(t, c, e.request("1", "server/discover", "", ""))
		for _, word := range []string{"resources", "prompts", "completions"} {
			if strings.Contains(string(raw), word) {
				t.Errorf("%s is offered: %s", word, raw)
			}
		}
		for _, method := range []string{"resources/list", "resources/read", "resources/templates/list", "prompts/list", "prompts/get", "completion/complete"} {
			if _, code, msg := ask(t, c, e.request("1", method, `"name":"x","uri":"x:y"`, "")); code != mcp.METHOD_NOT_FOUND {
				t.Errorf("%s: %d %s", method, code, msg)
			}
		}
	})
}

// Prompts come and go with the tools that they speak of, and clients hear of it.
func TestPromptsFollowTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listed, hidden := toys()
		s := newServer(t, func(o *server.Options) {
			o.Prompts = []tools.Prompt{prompt("one", "echo"), prompt("two", "echo", "secret"), prompt("three")}
		})
		c := connect(t, s)
		e := eras()[1]
		names := func() []string {
			raw, _, _ := ask(t, c, e.request("1", "prompts/list", "", ""))
			var page struct{ Prompts []struct{ Name string } }
			if err := json.Unmarshal(raw, &page); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, p := range page.Prompts {
				names = append(names, p.Name)
			}
			return names
		}
		if got := names(); !slices.Equal(got, []string{"one", "two", "three"}) {
			t.Errorf("offered: %q", got)
		}
		c.send(e.request("9", "subscriptions/listen", `"notifications":{"promptsListChanged":true}`, ""))
		synctest.Wait()
		c.take()
		set := func(listed, hidden []tools.Tool) int {
			if err := s.SetTools(listed, hidden, nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return strings.Count(strings.Join(c.take(), "\n"), `"notifications/prompts/list_changed"`)
		}
		if n := set(listed, nil); n != 1 {
			t.Errorf("%d notifications of a change", n)
		}
		if got := names(); !slices.Equal(got, []string{"one", "three"}) {
			t.Errorf("without secret: %q", got)
		}
		if _, code, _ := ask(t, c, e.request("1", "prompts/get", `"name":"two"`, "")); code != mcp.INVALID_PARAMS {
			t.Errorf("a prompt can be had whose tool is gone: %d", code)
		}
		if n := set(listed[1:], nil); n != 1 {
			t.Errorf("%d notifications of a change", n)
		}
		if n := set(listed[2:], nil); n != 0 {
			t.Errorf("%d notifications though no prompt came or went", n)
		}
		if n := set(listed, hidden); n != 1 {
			t.Errorf("%d notifications of a change", n)
		}
		if got := names(); !slices.Equal(got, []string{"one", "two", "three"}) {
			t.Errorf("with all tools again: %q", got)
		}
	})
}

// Native tools are listed after ours, as a client that reads strictly wants them.
func TestNativeTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newServer(t, offers))
		raw, _, _ := ask(t, c, eras()[1].request("1", "tools/list", "", ""))
		var page struct{ Tools []map[string]json.RawMessage }
		if err := json.Unmarshal(raw, &page); err != nil {
			t.Fatal(err)
		}
		last := page.Tools[len(page.Tools)-1]
		if got, want := string(last["inputSchema"]), `{"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}`; string(last["name"]) != `"native"` || canonical(t, got) != canonical(t, want) {
			t.Errorf("the last tool is %s", last)
		}
	})
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestClashes(t *testing.T) {
	native := func(name string) mcpserver.ServerTool { return mcpserver.ServerTool{Tool: mcp.NewTool(name)} }
	listed, _ := toys()
	for name, change := range map[string]func(o *server.Options){
		"native tool":           func(o *server.Options) { o.Native.Tools = append(o.Native.Tools, native("echo")) },
		"native tool and alias": func(o *server.Options) { o.Native.Tools = append(o.Native.Tools, native("say")) },
		"two native tools":      func(o *server.Options) { o.Native.Tools = append(o.Native.Tools, native("x"), native("x")) },
		"two prompts":           func(o *server.Options) { o.Prompts = append(o.Prompts, prompt("x"), prompt("x")) },
		"native prompt": func(o *server.Options) {
			o.Prompts = append(o.Prompts, prompt("x"))
			o.Native.Prompts = append(o.Native.Prompts, mcpserver.ServerPrompt{Prompt: mcp.NewPrompt("x")})
		},
		"two sources":           func(o *server.Options) { o.Sources = append(o.Sources, notes(), notes()) },
		"source without a name": func(o *server.Options) { o.Sources = append(o.Sources, tools.Source{Args: notes().Args}) },
		"source without arguments": func(o *server.Options) {
			o.Sources = append(o.Sources, tools.Source{Name: "x", Read: notes().Read})
		},
		"source with the name of a tool": func(o *server.Options) {
			src := notes()
			src.Read = listed[0]
			o.Sources = append(o.Sources, src)
		},
		"template": func(o *server.Options) {
			src := notes()
			src.Template = "x:{y"
			o.Sources = append(o.Sources, src)
		},
	} {
		t.Run(name, func(t *testing.T) {
			opt := server.Options{Tools: listed, Runner: run.New(run.Config{Settings: run.Settings{Tools: listed}})}
			change(&opt)
			if _, err := server.New(opt); err == nil {
				t.Error("no error")
			} else {
				t.Log(err)
			}
		})
	}
}

// The resources go with the tools that are set, and nobody is told of others.
func TestResourcesAfterSetTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, func(o *server.Options) { o.Sources = []tools.Source{notes()} })
		c := connect(t, s)
		e := eras()[0]
		c.send(initialize)
		synctest.Wait()
		c.take()
		has := func(when string, want bool) {
			t.Helper()
			for method, params := range map[string]string{
				"resources/list": "", "resources/templates/list": "", "resources/read": `"uri":"note:text"`,
			} {
				raw, code, _ := ask(t, c, e.request("1", method, params, ""))
				got := code == 0 && strings.Contains(string(raw), "note:")
				if got != want {
					t.Errorf("%s: %s answers %s, %d", when, method, raw, code)
				}
			}
		}
		has("at first", true)
		listed, hidden := toys()
		if err := s.SetTools(listed, hidden, nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		has("without the source", false)
		if err := s.SetTools(listed, hidden, nil, nil, []tools.Source{notes()}); err != nil {
			t.Fatal(err)
		}
		has("with it again", true)
		bare := newServer(t)
		if err := bare.SetTools(listed, hidden, nil, nil, []tools.Source{notes()}); err != nil {
			t.Fatal(err)
		}
		c = connect(t, bare)
		c.send(initialize)
		synctest.Wait()
		c.take()
		if _, code, _ := ask(t, c, e.request("1", "resources/list", "", "")); code != mcp.METHOD_NOT_FOUND {
			t.Errorf("a server that has told of no resources lists them: %d", code)
		}
	})
}
