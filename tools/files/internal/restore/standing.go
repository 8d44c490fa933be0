package restore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// standing is what stands at a path; without a kind nothing does.
type standing struct {
	kind    workspace.Kind
	size    int64
	hash    string // of a file that may be one of the versions it was looked at for
	version string // of a file: its version token
	target  string
	mode    fs.FileMode // permission bits
}

// look finds out what stands at a path. A file is read only if it may be one of the
// versions, each of which may be nil.
func look(ctx context.Context, path workspace.Path, versions ...*workspace.Version) (standing, error) {
	info, exists, err := path.Find(false)
	if e := tools.AsError(err); !exists && (e == nil || e.Code == tools.NotFound) {
		return standing{}, nil
	}
	if err != nil {
		return standing{}, err
	}
	s := standing{kind: info.Kind, size: info.Size, target: info.Target, mode: info.Mode.Perm()}
	if info.Kind != workspace.KindFile {
		return s, nil
	}
	s.version = info.Version()
	for _, v := range versions {
		if s.hash != "" || v == nil || v.Kind != info.Kind || v.Size != info.Size || isToken(v.Hash) {
			continue
		}
		if s.hash, err = sum(ctx, path, info.Size); err != nil {
			return standing{}, err
		}
	}
	return s, nil
}

// isToken reports a version token, which stands for a hash that nobody computed.
func isToken(hash string) bool { return strings.HasPrefix(hash, "v:") }

// identity is what an operation may expect at the path; "" unless a file is there.
func (s standing) identity() string {
	if s.hash != "" {
		return s.hash
	}
	return s.version
}

// is reports whether a version is what stands there; nil is nothing.
func (s standing) is(v *workspace.Version) bool {
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

// exactly is is, and a file has the permissions of the version too.
func (s standing) exactly(v *workspace.Version) bool {
	return s.is(v) && (s.kind != workspace.KindFile || s.mode == v.Mode.Perm())
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

// changedSince names what in a tree was modified after a time, a directory for what
// came into it or went.
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
