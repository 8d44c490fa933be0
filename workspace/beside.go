package workspace

import (
	"path"
	"path/filepath"
	"slices"
)

// Place is a root for what runs beside the workspace, on the same files. What is at
// Canonical when it is used must be the directory of this device and inode: the text
// alone says nothing of what is there by then.
type Place struct {
	Canonical     string   // its name without links
	Names         []string // others by which it is known
	Device, Inode uint64   // 0 where the system does not tell
}

// Places returns the roots, as they are open.
func (w *Workspace) Places() ([]Place, error) {
	places := make([]Place, 0, len(w.roots))
	for _, r := range w.roots {
		info, err := r.Stat(".")
		if err != nil {
			return nil, err
		}
		p := Place{Canonical: filepath.FromSlash(r.canonical), Device: info.Device, Inode: info.Inode}
		for _, name := range r.names {
			if name != r.canonical {
				p.Names = append(p.Names, filepath.FromSlash(name))
			}
		}
		places = append(places, p)
	}
	return places, nil
}

// ProtectedPlaces returns what is protected below any directory, see [Protected]; nil
// where it may be changed.
func (w *Workspace) ProtectedPlaces() []string {
	if w.allowProtected {
		return nil
	}
	var list []string
	for _, place := range protected {
		list = append(list, filepath.FromSlash(path.Join(place...)))
	}
	slices.Sort(list)
	return list
}
