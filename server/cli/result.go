package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// rawResult is a result with the names that the protocol has for its parts; an
// error keeps its own parts, which a script can tell apart.
type rawResult struct {
	Content    []rawBlock      `json:"content,omitempty"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	Meta       map[string]any  `json:"_meta,omitempty"`
	Error      *rawError       `json:"error,omitempty"`
}

type rawBlock struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	Data []byte `json:"data,omitempty"`
	MIME string `json:"mimeType,omitempty"`
	URI  string `json:"uri,omitempty"`
	Name string `json:"name,omitempty"`
}

type rawError struct {
	Code    tools.Code `json:"code"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
}

// printJSON prints how a call ended. The error it returns ends the command.
func printJSON(w io.Writer, out run.Outcome) error {
	raw := rawResult{Structured: out.Result.Structured, Meta: out.Result.Meta}
	for _, b := range out.Result.Content {
		raw.Content = append(raw.Content, rawBlock{blockType(b.Kind), b.Text, b.Data, b.MIME, b.URI, b.Name})
	}
	if out.Err != nil {
		raw.Error = &rawError{out.Err.Code, out.Err.Msg, out.Err.Hint}
	}
	text, err := encode(raw)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	if out.Err != nil {
		return silentError{}
	}
	return nil
}

func blockType(k tools.BlockKind) string {
	switch k {
	case tools.ImageBlock:
		return "image"
	case tools.AudioBlock:
		return "audio"
	case tools.LinkBlock:
		return "resource_link"
	default:
		return "text"
	}
}

// encode is indented JSON that shows <, > and & as they are.
func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return b.String(), nil
}
