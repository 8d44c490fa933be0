package data

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/data/internal/jq"
	"toolcrib/tools/internal/jsondoc"
	"toolcrib/tools/internal/text/textfile"
)

// queryJSON runs a jq filter, in a process of its own if apart.
func queryJSON(ctx context.Context, apart bool, filter string, doc *jsondoc.Doc, style jsondoc.Style) (head, body string, err error) {
	if strings.TrimSpace(filter) == "" {
		return "", "", tools.Errorf(tools.InvalidArgument, "no filter is given").WithHint("give a jq filter as filter; keys lists the paths of the document")
	}
	run := jq.Run
	if apart {
		run = jq.Apart
	}
	r, err := run(ctx, filter, doc.Root, style)
	if err != nil {
		return "", "", filterError(err)
	}
	head = textfile.Count(r.Count, "result")
	if r.Calculated {
		if raw := rounded(filter, doc.Root); raw != "" {
			head += "\nthe filter calculates with floating point, which rounds numbers such as " + raw
		}
	}
	return head, r.Body, nil
}

func filterError(err error) error {
	e, ok := errors.AsType[*jq.Error](err)
	if !ok {
		return err
	}
	switch {
	case e.Long:
		return tooLong()
	case e.Limit:
		return tools.Errorf(tools.TooLarge, "%s", e.Error()).WithHint("select less")
	case e.Value:
		return tools.Errorf(tools.InvalidArgument, "%s", tools.Visible(e.Error())).WithHint("keys lists the paths of the document")
	}
	return tools.Errorf(tools.InvalidArgument, "%s", tools.Visible(e.Error()))
}

// rounded returns a number of the filter or the document that floating point does not keep, "" if
// there is none.
func rounded(filter string, n *jsondoc.Node) string {
	for _, word := range strings.FieldsFunc(filter, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
		n := jsondoc.Node{Kind: jsondoc.Number, Raw: word}
		if _, err := strconv.ParseFloat(word, 64); err == nil && n.Rounded() {
			return word
		}
	}
	var find func(n *jsondoc.Node) string
	find = func(n *jsondoc.Node) string {
		if n.Kind == jsondoc.Number && n.Rounded() {
			return n.Raw
		}
		for _, item := range n.Items {
			if raw := find(item); raw != "" {
				return raw
			}
		}
		for _, m := range n.Members {
			if raw := find(m.Value); raw != "" {
				return raw
			}
		}
		return ""
	}
	return find(n)
}
