package files

import (
	"context"
	"encoding/json"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/fileuri"
)

// listedResources is how many files are listed as resources.
const listedResources = 100

// fileSource returns the files of the workspace as resources.
func fileSource() tools.Source {
	return tools.Source{
		Name: "file", Title: "Files",
		Description: "Files of the workspace, by their absolute path. The list shows the entries of its directories; completion of path finds the rest.",
		Template:    "file://{+path}", Needs: "read_file",
		Read: fileResourceTool(),
		Args: func(uri string) (json.RawMessage, bool) {
			path, ok := fileuri.Parse(uri)
			if !ok {
				return nil, false
			}
			args, err := json.Marshal(FileResourceIn{Path: path})
			return args, err == nil
		},
		List:     listResources,
		Complete: completeVariable,
		Version:  fileVersion,
	}
}

// listResources lists the files directly below each root. If there are too many, each root
// gets the same share.
func listResources(ctx context.Context) ([]tools.Resource, error) {
	ws := tools.Session(ctx).Workspace
	roots := ws.Roots()
	var list []tools.Resource
	for _, name := range roots {
		root, err := ws.Resolve(name)
		if err != nil {
			return nil, err
		}
		entries, _, err := fileindex.Walk(ctx, root, fileindex.WalkOptions{MaxDepth: 1})
		if err != nil {
			return nil, err
		}
		room := max(listedResources/len(roots), 1)
		for _, e := range entries {
			if e.Kind != workspace.KindFile || !nameable(e.Rel) {
				continue
			}
			if room--; room < 0 {
				break
			}
			r := tools.Resource{URI: fileURI(e.Path), Name: textfile.Path(e.Path.String()), Size: -1}
			if info, err := e.Path.Lstat(); err == nil {
				r.Size = info.Size
			}
			list = append(list, r)
		}
	}
	return list, nil
}

// fileVersion changes with the size, the time or the inode of a file.
func fileVersion(ctx context.Context, uri string) (string, error) {
	text, ok := fileuri.Parse(uri)
	if !ok {
		return "", tools.Errorf(tools.NotFound, "%s is not the URI of a file here", uri)
	}
	path, err := tools.Resolve(ctx, text)
	if err != nil {
		return "", err
	}
	info, err := path.Stat()
	if err != nil {
		return "", err
	}
	if info.Kind != workspace.KindFile {
		return "", tools.Errorf(tools.InvalidArgument, "%s is not a file", textfile.Path(path.String()))
	}
	return info.Version(), nil
}
