package restore

import (
	"path"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// obstacle returns the file, link or other entry that is now where the record has a directory
// above name, a path of the record; the zero Path for none. Nothing may be looked at or written
// through it.
func (r *Restoration) obstacle(name string) (workspace.Path, error) {
	dir := path.Dir(name)
	if dir == name || dir == "." {
		return workspace.Path{}, nil
	}
	if known, ok := r.obstacles[dir]; ok {
		return known, nil
	}
	found, err := r.obstacle(dir)
	if err != nil {
		return workspace.Path{}, err
	}
	if at, ok := r.at(r.Rec, dir); ok && found == (workspace.Path{}) {
		now, err := look(r.ctx, at)
		if err != nil {
			return workspace.Path{}, err
		}
		if now.kind != "" && now.kind != workspace.KindDirectory {
			found = at
		}
	}
	r.obstacles[dir] = found
	return found, nil
}

// look describes what is at a path, which has this name in the record. What an obstacle leads to is
// not looked at: nothing is there then.
func (r *Restoration) look(name string, p workspace.Path, versions ...*workspace.Version) (now pathState, obstacle workspace.Path, err error) {
	if obstacle, err = r.obstacle(name); err == nil && obstacle == (workspace.Path{}) {
		now, err = look(r.ctx, p, versions...)
	}
	return now, obstacle, err
}

// giveWay plans to remove an obstacle, if there is one. The change's own goes with its part. ok is
// false if it is a conflict.
func (r *Restoration) giveWay(obstacle workspace.Path) (ok bool, err error) {
	if obstacle == (workspace.Path{}) {
		return true, nil
	}
	name := obstacle.String()
	p, own := r.parts[name]
	now, err := look(r.ctx, obstacle, p.After)
	switch {
	case err != nil:
		return false, err
	case own && (r.overwrite || !r.undo || now.says(p.After)), r.cleared[name]:
		return true, nil
	case !r.undo:
		return false, tools.Errorf(tools.Conflict, "nothing is restored: %s is where a directory was", textfile.Path(name)).
			WithHint("move or delete it first")
	case !r.overwrite:
		if shown := textfile.Path(name); !slices.Contains(r.conflicts, shown) {
			r.conflicts = append(r.conflicts, shown)
		}
		return false, nil
	}
	r.cleared[name] = true
	r.remove(obstacle, now)
	return true, nil
}

// becameObstacle reports whether the change put something else in the place of a directory.
func (p Part) becameObstacle() bool {
	return p.Before != nil && p.Before.Kind == workspace.KindDirectory && p.After != nil && p.After.Kind != workspace.KindDirectory
}
