package restore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/repository"
)

// pathState is the present state of a path. Without a kind the path does not exist.
type pathState struct {
	kind    workspace.Kind
	size    int64
	hash    string // of a file that may be one of the versions given to look
	version string // of a file: its version token
	index   string // of the index of a git repository that may say the same as one of the versions
	target  string
	mode    fs.FileMode // permission bits
	links   uint64      // of a file
}

// look returns the present state of a path. A file is read only if it may be one of the
// versions, each of which may be nil.
func look(ctx context.Context, path workspace.Path, versions ...*workspace.Version) (pathState, error) {
	info, exists, err := path.Find(false)
	if e := tools.AsError(err); !exists && (e == nil || e.Code == tools.NotFound) {
		return pathState{}, nil
	}
	if err != nil {
		return pathState{}, err
	}
	s := pathState{kind: info.Kind, size: info.Size, target: info.Target, mode: info.Mode.Perm()}
	if info.Kind != workspace.KindFile {
		return s, nil
	}
	s.version, s.links = info.Version(), info.Links
	for _, v := range versions {
		if v != nil && v.Index != "" && s.index == "" && info.Size <= repository.MaxIndex {
			data, err := view.ReadAll(path, repository.MaxIndex)
			if err != nil {
				return pathState{}, err
			}
			s.index, _ = repository.Index(data)
		}
		if s.hash != "" || v == nil || v.Kind != info.Kind || v.Size != info.Size || isToken(v.Hash) {
			continue
		}
		// A file that cannot be read is known by its version token.
		if s.hash, err = sum(ctx, path, info.Size); err != nil && !errors.Is(err, fs.ErrPermission) {
			return pathState{}, err
		}
	}
	return s, nil
}

// isToken reports whether hash is a version token, used when no hash was computed.
func isToken(hash string) bool { return strings.HasPrefix(hash, "v:") }

// identity returns the hash or token that an operation may expect at the path; "" unless it is
// a file.
func (s pathState) identity() string {
	if s.hash != "" {
		return s.hash
	}
	return s.version
}

// is reports whether the path is as in a version; nil = it does not exist.
func (s pathState) is(v *workspace.Version) bool {
	if v == nil || s.kind == "" {
		return v == nil && s.kind == ""
	}
	switch {
	case s.kind != v.Kind:
		return false
	case s.kind == workspace.KindSymlink:
		return s.target == v.Target
	case s.kind != workspace.KindFile:
		return true
	case isToken(v.Hash):
		return s.version == v.Hash
	}
	return s.size == v.Size && (v.Hash == "" || s.hash == v.Hash)
}

// says reports whether the path is as in a version, but for what a look at a repository renews in
// its index.
func (s pathState) says(v *workspace.Version) bool {
	return s.is(v) || v != nil && v.Index != "" && s.index == v.Index
}

// exactly is is, and a file or directory has the permissions of the version too, where these
// are known.
func (s pathState) exactly(v *workspace.Version) bool {
	return s.is(v) && (v == nil || s.kind == workspace.KindSymlink || s.kind == workspace.KindDirectory && v.Mode == 0 || s.mode == v.Mode.Perm())
}

// hasOtherMode reports whether the permissions are neither those before a change nor those after it.
func (s pathState) hasOtherMode(p Part) bool {
	return s.kind == p.After.Kind && s.mode != p.Before.Mode.Perm() && s.mode != p.After.Mode.Perm()
}

// sum returns the SHA-256 of a file of about that size, in bytes.
func sum(ctx context.Context, path workspace.Path, size int64) (string, error) {
	file, err := path.Open()
	if err != nil {
		return "", err
	}
	defer file.Close()
	digest, buf := sha256.New(), make([]byte, min(size+1, 256<<10))
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := file.Read(buf)
		digest.Write(buf[:n])
		if err == io.EOF {
			return hex.EncodeToString(digest.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// changedSince names what in a tree was modified after the time of a record, a directory for
// what came into it or went.
func changedSince(ctx context.Context, dir workspace.Path, when time.Time) ([]string, error) {
	entries, _, err := fileindex.Walk(ctx, dir, fileindex.WalkOptions{Hidden: true, IncludeIgnored: true, Directories: true})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range append([]fileindex.Entry{{Path: dir}}, entries...) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if info, err := e.Path.Lstat(); err != nil || info.ModTime.After(when) {
			names = append(names, textfile.Path(e.Path.String()))
		}
	}
	return names, nil
}
