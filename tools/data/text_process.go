package data

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/data/internal/wording"
	"toolcrib/tools/internal/text/diff"
	"toolcrib/tools/internal/text/textfile"
)

//go:embed text_process.md
var textProcessDoc string

// TextProcessIn is a text and what to do with it.
type TextProcessIn struct {
	Operation   string  `json:"operation" jsonschema_description:"What to do; see the manual." jsonschema:"enum=count,enum=lines,enum=words,enum=upper,enum=lower,enum=title,enum=reverse,enum=trim,enum=dedent,enum=dedupe,enum=sort,enum=replace,enum=extract,enum=split,enum=join,enum=slug,enum=snake,enum=kebab,enum=camel,enum=pascal,enum=base64_encode,enum=base64_decode,enum=url_encode,enum=url_decode,enum=hex_encode,enum=hex_decode,enum=html_encode,enum=html_decode,enum=hash,enum=diff" alias:"op,action,mode"`
	Text        *string `json:"text,omitempty" jsonschema_description:"The text." alias:"input,content,string,data"`
	Path        string  `json:"path,omitempty" jsonschema_description:"File with the text, in the place of text." path:"file" alias:"file_path,file,filename"`
	Pattern     string  `json:"pattern,omitempty" jsonschema_description:"For replace, extract, split: regular expression (RE2)." jsonschema:"maxLength=10000" alias:"regex,find,search,old"`
	Replacement string  `json:"replacement,omitempty" jsonschema_description:"For replace: the new text; ${1} is a group. Without it matches are removed." alias:"replace_with,with,replace"`
	Literal     bool    `json:"literal,omitempty" jsonschema_description:"Take pattern and replacement as they are."`
	IgnoreCase  bool    `json:"ignore_case,omitempty" jsonschema_description:"Match pattern in any case." alias:"case_insensitive"`
	Separator   *string `json:"separator,omitempty" jsonschema_description:"For split and join: what is between the parts." alias:"delimiter,sep"`
	Algorithm   string  `json:"algorithm,omitempty" jsonschema_description:"For hash." jsonschema:"enum=md5,enum=sha1,enum=sha256,enum=sha512,default=sha256"`
	Descending  bool    `json:"descending,omitempty" jsonschema_description:"For sort: the last first." alias:"desc"`
	Numeric     bool    `json:"numeric,omitempty" jsonschema_description:"For sort: by the first number of each line."`
	Other       *string `json:"other,omitempty" jsonschema_description:"For diff: the text to compare with." alias:"text2,second,new,compare_to"`
	OtherPath   string  `json:"other_path,omitempty" jsonschema_description:"File to compare with, in the place of other." path:"file" alias:"path2,file2"`
	Offset      int     `json:"offset,omitempty" jsonschema_description:"Lines of the result to skip; the last result names the next." jsonschema:"minimum=0,maximum=10485760"`
}

func textProcessTool() tools.Tool {
	return tools.New(tools.Def[TextProcessIn, Page]{
		Name: "text_process", Title: "Work on text", Doc: textProcessDoc, Tags: []string{"text", "sort lines", "remove duplicates", "count words", "change case", "snake case", "base64", "url encoding", "hash", "checksum", "slug"},
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Limits: tools.Limits{Facts: map[string]any{"most": textfile.Size(maxSource)}},
		Examples: []tools.Example[TextProcessIn]{
			{
				Say: "How long is it?", In: TextProcessIn{Operation: "count", Text: new("naïve 你好 👨‍👩‍👧\n")},
				Want: "characters: 11\nwithout spaces: 8\ncode points: 15\nwords: 3\nlines: 1\nparagraphs: 1\nbytes: 33",
			},
			{
				Say: "Dates in another form",
				In:  TextProcessIn{Operation: "replace", Text: new("due 2024-05-01"), Pattern: `(\d+)-(\d+)-(\d+)`, Replacement: "${3}.${2}.${1}"}, Want: "1 replacement\ndue 01.05.2024",
			},
		},
		Run: textProcess,
	})
}

func textProcess(ctx context.Context, in TextProcessIn) (Page, error) {
	if err := admit(ctx, in.Path, in.OtherPath); err != nil {
		return Page{}, err
	}
	text, err := textOf(ctx, in)
	if err != nil {
		return Page{}, err
	}
	head, body, err := processed(ctx, in, text)
	if err != nil {
		return Page{}, err
	}
	if len(body) > wording.MaxResult {
		return Page{}, tools.Errorf(tools.TooLarge, "the result has %s, at most %s are returned", textfile.Size(int64(len(body))), textfile.Size(wording.MaxResult))
	}
	p, err := newPage(head, tools.Visible(body), in.Offset)
	if err == nil {
		err = ctx.Err()
	}
	return p, err
}

// textOf returns the text to work on. What encodes or hashes a file takes its bytes, whatever
// they are.
func textOf(ctx context.Context, in TextProcessIn) (string, error) {
	if in.Text == nil && in.Path != "" && slices.Contains([]string{"hash", "base64_encode", "hex_encode"}, in.Operation) {
		data, _, err := readBytes(ctx, in.Path)
		return string(data), err
	}
	return source(ctx, "text", in.Text, in.Path)
}

// processed returns the result, and what is said above it.
func processed(ctx context.Context, in TextProcessIn, text string) (head, body string, err error) {
	switch in.Operation {
	case "count":
		c := wording.Count(text)
		return "", fmt.Sprintf("characters: %d\nwithout spaces: %d\ncode points: %d\nwords: %d\nlines: %d\nparagraphs: %d\nbytes: %d",
			c.Characters, c.WithoutSpaces, c.CodePoints, c.Words, c.Lines, c.Paragraphs, c.Bytes), nil
	case "lines":
		return "", numbered(text), nil
	case "diff":
		other, err := source(ctx, "other", in.Other, in.OtherPath)
		if err != nil {
			return "", "", err
		}
		if text == other {
			return "", "equal", nil
		}
		added, removed := diff.Stat(text, other)
		return "", fmt.Sprintf("%s added, %d removed\n%s", textfile.Count(added, "line"), removed, diff.Unified(text, other, diff.Options{})), nil
	}
	opt := wording.Options{
		Replacement: in.Replacement, Literal: in.Literal, Separator: in.Separator, Algorithm: in.Algorithm, Descending: in.Descending, Numeric: in.Numeric,
	}
	if in.Pattern != "" {
		pattern := in.Pattern
		if in.Literal {
			pattern = regexp.QuoteMeta(pattern)
		}
		if in.IgnoreCase {
			pattern = "(?i)" + pattern
		}
		if opt.Pattern, err = regexp.Compile(pattern); err != nil {
			return "", "", tools.Errorf(tools.InvalidArgument, "the pattern: %s", tools.Visible(err.Error())).
				WithHint("regular expressions are those of RE2, without look-around and back-references; literal takes the pattern as it is")
		}
	}
	if in.Operation == "replace" {
		var n int
		body, n, err = wording.Replace(text, opt)
		head = textfile.Count(n, "replacement")
	} else {
		body, err = wording.Operations()[in.Operation](text, opt)
	}
	switch {
	case errors.Is(err, wording.ErrLarge):
		return "", "", tools.Errorf(tools.TooLarge, "%s: the text %s", in.Operation, err)
	case err != nil:
		return "", "", tools.Errorf(tools.InvalidArgument, "%s: the text %s", in.Operation, err)
	}
	return head, body, nil
}

// numbered returns the lines with their numbers.
func numbered(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		fmt.Fprintf(&b, "\n%d\t%s", n, strings.TrimRight(line, "\r\n"))
	}
	return textfile.Count(n, "line") + b.String()
}
