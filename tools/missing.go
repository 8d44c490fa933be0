package tools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

const (
	lookFor    = 100 * time.Millisecond // time limit of the search for a name in a large tree
	lookAtMost = time.Second            // time limit in a tree of at most fewFiles
	fewFiles   = 1000
	mostNamed  = 3 // paths that a hint names
	pathHint   = "a path is no pattern: glob finds files, and read_files takes patterns"
	unexpanded = "variables are not expanded"
)

// meant adds a hint to the error for a path that does not exist: which path the caller
// probably meant.
func meant(ctx context.Context, err error) error {
	missing, ok := errors.AsType[*workspace.Error](err)
	if !ok || missing.Rule != workspace.RuleNotFound || Session(ctx) == nil || Session(ctx).Workspace == nil {
		return err
	}
	hint := likely(ctx, missing.Path)
	e := AsError(err)
	if hint == "" || !strings.HasPrefix(e.Hint, missing.Hint) {
		return err
	}
	if rest := strings.TrimPrefix(e.Hint, missing.Hint); strings.HasPrefix(missing.Hint, "nearest existing path: ") {
		return e.WithHint("%s%s", hint, rest) // the nearest path is a worse guess
	}
	return e.WithHint("%s; %s", hint, e.Hint)
}

// likely returns a hint which path the caller probably meant; "" = no guess.
func likely(ctx context.Context, written string) string {
	ws := Session(ctx).Workspace
	text := written
	for _, way := range []struct {
		read func(string) string
		why  string
	}{
		{func(s string) string { return strings.Trim(strings.TrimSpace(s), "\"'`") }, "quotes and blanks around a path are part of it"},
		{withoutVariable, unexpanded},
		{func(s string) string { return strings.ReplaceAll(s, `\`, "/") }, `\ is no separator`},
	} {
		next := way.read(text)
		if next == text || next == "" {
			continue
		}
		text = next
		p, err := ws.Resolve(text)
		if err != nil {
			continue
		}
		if _, err := p.Lstat(); err == nil {
			return fmt.Sprintf("did you mean %s: %s", p, way.why)
		}
	}
	if strings.ContainsAny(text, "*?{") {
		return pathHint
	}
	if strings.HasPrefix(text, "$") {
		return unexpanded
	}
	switch all := ofName(ctx, path.Base(text)); len(all) {
	case 0:
		return ""
	case 1:
		return "did you mean " + all[0]
	default:
		return "did you mean one of " + strings.Join(all, ", ")
	}
}

// withoutVariable removes a leading variable for the current directory.
func withoutVariable(text string) string {
	for _, here := range []string{"$PWD", "${PWD}", "$(pwd)"} {
		if rest, ok := strings.CutPrefix(text, here+"/"); ok {
			return rest
		}
	}
	return text
}

// ofName returns the first paths of the workspace whose last component is name. It leaves
// out files that searches ignore. A busy machine can need longer than lookFor for a few files.
func ofName(ctx context.Context, name string) (all []string) {
	if name == "." || name == "/" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookAtMost)
	defer cancel()
	begin, seen := time.Now(), 0
	for _, root := range Session(ctx).Workspace.Roots() {
		start, err := Resolve(ctx, root)
		if err != nil {
			continue
		}
		for run := range fileindex.NewStream(ctx, start, fileindex.WalkOptions{Directories: true}).Runs() {
			for _, e := range run {
				if found := e.Path.String(); path.Base(e.Rel) == name && !slices.Contains(all, found) {
					all = append(all, found)
				}
			}
			if len(all) >= mostNamed {
				return all[:mostNamed]
			}
			if seen += len(run); seen > fewFiles && time.Since(begin) > lookFor {
				return all
			}
		}
	}
	return all
}
