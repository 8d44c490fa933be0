package files

import (
	"context"
	"fmt"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// irreversible says why a file or symlink, once it is overwritten or deleted, could
// not come back; "" where it can, or where something else or nothing stands there.
// there words what stands there: "logs/all.log (70 MB)". What cannot be looked at is
// refused by the call itself.
func irreversible(ctx context.Context, path workspace.Path, follow bool) (there, why string) {
	info, exists, err := path.Find(follow)
	if err != nil || !exists || info.Kind != workspace.KindFile && info.Kind != workspace.KindSymlink {
		return "", ""
	}
	there = textfile.Path(path.String())
	if info.Kind == workspace.KindFile {
		there += " (" + textfile.Size(info.Size) + ")"
	}
	if why = historyless(ctx); why == "" && info.Kind == workspace.KindFile && info.Size > workspace.MaxKept {
		why = fmt.Sprintf("the history does not keep files above %s, so it cannot be undone", textfile.Size(workspace.MaxKept))
	}
	return there, why
}

// historyless says that nothing is kept at all, "" where it is.
func historyless(ctx context.Context) string {
	if tools.Session(ctx).Workspace.StateBase() == "" {
		return "no history is kept, so it cannot be undone"
	}
	return ""
}

// kindName words a kind with its article.
func kindName(k workspace.Kind) string {
	if k == workspace.KindOther {
		return "a special file"
	}
	return "a " + string(k)
}
