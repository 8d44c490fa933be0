// Package tools is the contract of toolcrib: it defines what a tool and a category of tools
// are. It has no tools itself.
//
// A tool is one value, declared in one file of a category package
// (tools/files, tools/search ...) by [New] from a [Def]. Its JSON Schema,
// annotations, manual, snapshot, permission class and tests derive from that
// value. Start reading at [Def], then [Tool] and [Category].
//
// The package may import schema, workspace and the standard library. It must
// not import server, mcp-go or any category.
//
// # How to add a tool
//
// Choose the category, or add one as below. Then write two files and one line.
//
// The document, tools/search/line_count.md. Its first paragraph is what a model
// reads before it chooses, the rest is the manual:
//
//	Counts the lines of a text file. Use it to decide how much of a file to read.
//
//	A last line without a newline counts. At most {{max "most"}} lines are counted.
//
// The declaration, tools/search/line_count.go, in this order: embed, In, Out,
// declaration, handler, helpers:
//
//	package search
//
//	import (
//		"bufio"
//		"context"
//		_ "embed"
//		"fmt"
//
//		"toolcrib/tools"
//	)
//
//	//go:embed line_count.md
//	var lineCountDoc string
//
//	// LineCountIn says which file to count.
//	type LineCountIn struct {
//		Path string `json:"path" jsonschema_description:"File to count." path:"file" alias:"file_path"`
//		Most int    `json:"most,omitempty" jsonschema_description:"Stop after so many lines." jsonschema:"minimum=1,maximum=1000000,default=1000000"`
//	}
//
//	// LineCountOut is how many lines there are.
//	type LineCountOut struct {
//		Path  string
//		Lines int
//	}
//
//	// Text implements [tools.Texter].
//	func (o LineCountOut) Text() string { return fmt.Sprintf("%s: %d lines", o.Path, o.Lines) }
//
//	func lineCountTool(_ Deps) tools.Tool {
//		return tools.New(tools.Def[LineCountIn, LineCountOut]{
//			Name: "line_count", Title: "Count lines", Doc: lineCountDoc, Tags: []string{"files"},
//			Access: tools.Read, Effects: tools.None, Repeatable: true,
//			Examples: []tools.Example[LineCountIn]{{
//				Say:   "How long is the file?",
//				Files: map[string]string{"a.txt": "one\ntwo\n"},
//				In:    LineCountIn{Path: "a.txt"},
//				Want:  "a.txt: 2 lines",
//			}},
//			Run: lineCount,
//		})
//	}
//
//	func lineCount(ctx context.Context, in LineCountIn) (LineCountOut, error) {
//		path, err := tools.Resolve(ctx, in.Path)
//		if err != nil {
//			return LineCountOut{}, err
//		}
//		file, err := path.Open()
//		if err != nil {
//			return LineCountOut{}, err
//		}
//		defer file.Close()
//		out := LineCountOut{Path: path.String()}
//		for lines := bufio.NewScanner(file); out.Lines < in.Most && lines.Scan() && ctx.Err() == nil; {
//			out.Lines++
//		}
//		return out, ctx.Err()
//	}
//
// The line, in the list that the category's Tools returns:
//
//	lineCountTool(d),
//
// A name that another system has for what the tool does is one of its Aliases, or a [Foreign]
// if an argument tells several tools apart or has another meaning there; its calls, as that
// system documents them, are lines of origins in tools/catalog.
//
// Then regenerate the snapshot and the manual, and run the suite. It checks the schema,
// tries paths that lead out of the workspace in every path argument, runs the example and
// cancels it:
//
//	go test ./tools/catalog -update
//	go test ./...
//
// # How to delete a tool
//
// Delete NAME.go, NAME.md, all NAME_*.go and testdata/calls/CATEGORY/NAME.txtar, the line in
// the list of the category, and server/run/NAME_test.go where there is one. A test in tools/catalog holds that no other file uses what
// these define. Regenerate the snapshots as above. What then still fails names the tool: lines
// of origins in tools/catalog, documents, and tests of other packages that take it as an
// example.
//
// # How to add a category
//
// A category is a package below tools with the same name, and one line in tools/catalog.
// Its package comment, tools/wording/doc.go, says what it is for, what it must not import
// and where to start reading:
//
//	// Package wording has the tools that change the form of a text.
//	//
//	// It imports the contract and must not import another category. Start at [Category].
//	package wording
//
// The constructor, tools/wording/wording.go, returns the category as one value. It opens
// and starts nothing, since every command of the program makes the whole catalog. Package
// services has what categories share. The settings are a struct whose tags name the keys of
// the configuration, see [Settings] and package server/config. Now returns the values that
// were applied last; the tag live lets a reload change them. The tag narrow lets the file of
// a workspace make a value stricter; testdata/catalog/narrow.txt lists these settings:
//
//	package wording
//
//	import (
//		"toolcrib/tools"
//		"toolcrib/tools/internal/services"
//	)
//
//	// Settings are those of the category.
//	type Settings struct {
//		Wording Wording `file:"wording" help:"the form of texts: width of their lines" live:"yes"`
//	}
//
//	// Wording says what form texts have.
//	type Wording struct {
//		Width int `json:"width,omitempty" jsonschema:"minimum=20,maximum=200" jsonschema_description:"most characters of a line (default 80)"`
//	}
//
//	// engine is shared by the tools.
//	type engine struct {
//		settings *tools.SettingsOf[Settings]
//	}
//
//	// Category returns the tools that change the form of a text.
//	func Category(*services.Services) tools.Category {
//		e := &engine{settings: tools.NewSettings(Settings{Wording: Wording{Width: 80}}, nil)}
//		return tools.Category{
//			ID: "wording", Title: "Wording",
//			Guide:    "wrap_text breaks a text into lines",
//			Settings: e.settings,
//			Tools:    []tools.Tool{wrapTextTool(e)},
//		}
//	}
//
// A tool, as above: tools/wording/wrap_text.md and tools/wording/wrap_text.go:
//
//	Breaks a text into lines of the width that the user has configured.
//
//	Words that are longer than a line stay whole.
//
// and
//
//	package wording
//
//	import (
//		"context"
//		_ "embed"
//		"strings"
//
//		"toolcrib/tools"
//	)
//
//	//go:embed wrap_text.md
//	var wrapTextDoc string
//
//	// WrapTextIn is the text to break.
//	type WrapTextIn struct {
//		Text string `json:"text" jsonschema_description:"Text to break into lines." jsonschema:"maxLength=100000"`
//	}
//
//	// WrapTextOut is the text in lines.
//	type WrapTextOut struct{ lines []string }
//
//	// Text is the lines.
//	func (o WrapTextOut) Text() string { return strings.Join(o.lines, "\n") + "\n" }
//
//	func wrapTextTool(e *engine) tools.Tool {
//		return tools.New(tools.Def[WrapTextIn, WrapTextOut]{
//			Name: "wrap_text", Title: "Wrap a text", Doc: wrapTextDoc,
//			Access: tools.Read, Effects: tools.None, Repeatable: true,
//			Examples: []tools.Example[WrapTextIn]{{
//				Say: "A text of two words", In: WrapTextIn{Text: "two   words"}, Want: "two words",
//			}},
//			Run: e.wrapText,
//		})
//	}
//
//	func (e *engine) wrapText(ctx context.Context, in WrapTextIn) (WrapTextOut, error) {
//		width := e.settings.Now().Wording.Width
//		var out WrapTextOut
//		line := ""
//		for word := range strings.FieldsSeq(in.Text) {
//			switch {
//			case line == "":
//				line = word
//			case len(line)+1+len(word) > width:
//				out.lines = append(out.lines, line)
//				line = word
//			default:
//				line += " " + word
//			}
//		}
//		out.lines = append(out.lines, line)
//		return out, ctx.Err()
//	}
//
// The line, in the list that All of tools/catalog returns; the import belongs to it:
//
//	wording.Category(s),
//
// Then the same two commands. The toolset, the settings in the help, in the configuration
// files and in their schema, the reload, the instructions, the manual and doctor follow
// from the value.
package tools
