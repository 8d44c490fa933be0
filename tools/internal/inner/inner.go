// Package inner has what tools share that call other tools by their names.
//
// It imports the contract and must not import a category. Start at [Told].
package inner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
)

// Unavailable returns the error of a tool that has no caller.
func Unavailable() error {
	return tools.Errorf(tools.Unavailable, "no other tool can be called from here").WithHint("call the tool by itself")
}

// Told returns the arguments of a call by a name as records may have them: as the tool that it
// means allows, and only their length if there is none. deaf are tools that the caller refuses
// to call, which tell nothing; nil = none.
func Told(ctx context.Context, caller tools.Caller, name string, given schema.Object, deaf func(tools.Tool) bool) schema.Object {
	if caller == nil {
		return nil
	}
	args := given.Arguments()
	names, err := caller.Names(ctx)
	if err != nil {
		return untold(args)
	}
	tool, err := names.Find(name, args)
	switch {
	case err != nil:
		return untold(args)
	case !tool.Redacts():
		return given
	case deaf != nil && deaf(tool):
		return untold(args)
	}
	bound, err := tool.Bind(args)
	if err != nil {
		return untold(args)
	}
	if told := tool.Redacted(ctx, bound); !bytes.Equal(told, bound.Canonical) {
		return schema.Object(told)
	}
	return given
}

func untold(args json.RawMessage) schema.Object {
	return fmt.Appendf(nil, `{"untold":"%d bytes"}`, len(args))
}

// Text is the text of a result, with a word for each block of another kind.
func Text(r tools.Result) string {
	var parts []string
	for _, b := range r.Content {
		switch {
		case b.Kind == tools.TextBlock || b.Text != "":
			parts = append(parts, b.Text)
		default:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("[%s, %s %s]", b.MIME, textfile.Size(int64(len(b.Data))), b.URI)))
		}
	}
	return strings.Join(parts, "\n")
}
