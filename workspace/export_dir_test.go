package workspace

import "toolcrib/workspace/internal/fsys"

// TestDir opens a directory of the first root, for tests of what changes are made of.
func (w *Workspace) TestDir(rel string) (fsys.Dir, error) { return w.roots[0].OpenDir(rel) }
