// Package tools is the contract of toolcrib: what a tool is. No tool lives here.
//
// A tool is one value, declared in one file of a category package
// (tools/files, tools/search ...) by [New] from a [Def]. Its JSON Schema,
// annotations, manual, snapshot, permission class and tests derive from that
// value. Start reading at [Def], then [Tool].
//
// The package may import schema, workspace and the standard library. It must
// not import server, mcp-go or any category.
//
// # How to add a tool
//
// Choose the category, or make one: a package below tools with a doc.go, Deps
// and Tools, listed in tools/catalog. Then write two files and one line.
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
//	// Text words the result.
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
// Then let the snapshot, the manual and the README follow, and run the suite,
// which checks the schema, tries every path that leads out of the workspace in
// every path argument, runs the example and cancels it:
//
//	go test ./tools/catalog -update
//	go test ./...
package tools
