package files

import (
	"context"
	"slices"

	"toolcrib/workspace"
)

// Names for the external tests of the writing tools.
var (
	Placeholders      = placeholders
	RefusePlaceholder = refusePlaceholder
)

// Explain words the error of a change.
func Explain(ctx context.Context, d Deps, err error) error { return d.explain(ctx, err) }

// Compose returns the bytes that a file gets where its content becomes the text, or
// ends with it.
func Compose(text, encoding string, old []byte, add bool) ([]byte, error) {
	c := content{path: "f", text: text, encoding: encoding}
	was := workspace.Old{Exists: old != nil, Data: old}
	if !add {
		out, err := c.replace(was)
		return out.data, err
	}
	out, err := c.extend(was, old)
	return slices.Concat(old, out.data), err
}
