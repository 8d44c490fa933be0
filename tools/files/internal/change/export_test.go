package change

import (
	"context"
	"slices"

	"toolcrib/workspace"

	"toolcrib/tools/files/internal/view"
)

// Names for the external tests.
var (
	Placeholders      = placeholders
	RefusePlaceholder = refusePlaceholder
)

// Explain returns the error of a change for the user.
func Explain(ctx context.Context, seen *view.Seen, err error) error {
	return Writer{Seen: seen}.Explain(ctx, err)
}

// Compose returns the bytes that a file gets where its content becomes the text, or
// ends with it.
func Compose(text, encoding string, old []byte, add bool) ([]byte, error) {
	c := Content{Path: "f", Text: text, Encoding: encoding}
	was := workspace.Old{Exists: old != nil, Data: old}
	if !add {
		out, err := c.replace(was)
		return out.data, err
	}
	out, err := c.extend(was, old)
	return slices.Concat(old, out.data), err
}
