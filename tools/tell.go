package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// Tells reports whether the tool knows secrets among its arguments: those of a call that
// was not bound are then not to be told at all.
func (t Tool) Tells() bool { return t.tell != nil }

// Told returns the arguments of a call as records and logs may have them. Where the tool
// cannot say, that is how long they are.
func (t Tool) Told(ctx context.Context, b Bound) json.RawMessage {
	if t.tell == nil {
		return b.Canonical
	}
	told := b.Canonical
	err := Guard(func() error {
		in, less := t.tell(ctx, b.in)
		if !less {
			return nil
		}
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		err := enc.Encode(in)
		told = bytes.TrimSuffix(text.Bytes(), []byte{'\n'})
		return err
	})
	if err != nil {
		return Untold(b.Canonical)
	}
	return told
}

// Untold stands in the place of arguments of which nobody can say what is secret.
func Untold(args json.RawMessage) json.RawMessage {
	return fmt.Appendf(nil, `"%d bytes, not told"`, len(args))
}
