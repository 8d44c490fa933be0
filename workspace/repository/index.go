package repository

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"path"
	"slices"
	"strings"
)

// IsIndex reports whether a slash-separated path is that of an index in the directory of a
// repository.
func IsIndex(name string) bool {
	return path.Base(name) == "index" && slices.Contains(strings.Split(path.Dir(name), "/"), ".git")
}

// IsObject reports whether a slash-separated path is that of an object or a pack in the directory of
// a repository. Git renews its times where it would write it again, and never changes its content.
func IsObject(name string) bool {
	dir := path.Dir(path.Dir(name))
	return path.Base(dir) == "objects" && slices.Contains(strings.Split(dir, "/"), ".git")
}

// MaxIndex is the size in bytes of the largest index whose content is compared.
const MaxIndex = 8 << 20

// Layout of an index, as gitformat-index(5) describes it.
const (
	indexHead  = 12
	indexEntry = 62 // bytes before the name
	indexName  = 0xfff
	indexMore  = 0x4000 // of the flags: two more bytes of flags follow
	indexSum   = 20
)

// Index returns a digest of what an index says: all but the times, inodes and sizes of the files
// of the work tree and what it remembers of a look at them, which commands that only look renew.
// ok is false for what is no index, or one of a kind that is not known.
func Index(data []byte) (digest string, ok bool) {
	version, count, rest, ok := entries(data)
	if !ok {
		return "", false
	}
	sum := sha256.New()
	sum.Write(data[:indexHead])
	long := 0 // the length of the last name
	for range count {
		size, name, _ := entry(rest, version, long)
		if size < 0 {
			return "", false
		}
		sum.Write(rest[24:28]) // the mode
		sum.Write(rest[40:size])
		rest, long = rest[size:], name
	}
	for len(rest) > 0 {
		if len(rest) < 8 {
			return "", false
		}
		size := 8 + int(binary.BigEndian.Uint32(rest[4:]))
		if size < 8 || size > len(rest) {
			return "", false
		}
		switch string(rest[:4]) {
		case "UNTR", "FSMN", "EOIE", "IEOT": // of the work tree, and where entries begin
		default:
			sum.Write(rest[:size])
		}
		rest = rest[size:]
	}
	return hex.EncodeToString(sum.Sum(nil)), true
}

// Tracked returns the names of the files that an index has, from the top of the work tree; false as
// for Index.
func Tracked(data []byte) (names map[string]bool, ok bool) {
	version, count, rest, ok := entries(data)
	if !ok {
		return nil, false
	}
	names = map[string]bool{}
	last := ""
	for range count {
		size, name, end := entry(rest, version, len(last))
		if size < 0 {
			return nil, false
		}
		last = last[:name-len(end)] + string(end)
		names[last] = true
		rest = rest[size:]
	}
	return names, true
}

// entries returns the version of an index, how many entries it has, and them with what follows.
func entries(data []byte) (version, count uint32, rest []byte, ok bool) {
	if len(data) < indexHead+indexSum || string(data[:4]) != "DIRC" {
		return 0, 0, nil, false
	}
	version, count = binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	return version, count, data[indexHead : len(data)-indexSum], version >= 2 && version <= 4
}

// entry returns the sizes of the first entry and of its name, and the end of the name, before which
// it is that of the name before; a size below 0 if there is no entry. long is the length of the
// name before.
func entry(data []byte, version uint32, long int) (size, name int, tail []byte) {
	if len(data) < indexEntry {
		return -1, 0, nil
	}
	flags := binary.BigEndian.Uint16(data[60:])
	at := indexEntry
	if version > 2 && flags&indexMore != 0 {
		at += 2
	}
	if version == 4 { // the name without what it shares with the last one
		cut, n := cutOf(data[min(at, len(data)):])
		if n == 0 || cut > long {
			return -1, 0, nil
		}
		at, name = at+n, long-cut
	}
	end := bytes.IndexByte(data[min(at, len(data)):], 0)
	if end < 0 {
		return -1, 0, nil
	}
	name, tail = name+end, data[at:at+end]
	if size = at + end + 1; version < 4 {
		size = (at + end + 8) &^ 7
	}
	if size > len(data) || min(name, indexName) != int(flags&indexName) {
		return -1, 0, nil
	}
	return size, name, tail
}

// cutOf reads how many bytes of the last name a name does not have, and how many bytes say so, 0
// if none do.
func cutOf(data []byte) (cut, n int) {
	for n < min(len(data), 4) {
		b := data[n]
		n++
		if cut |= int(b & 0x7f); b&0x80 == 0 {
			return cut, n
		}
		cut = (cut + 1) << 7
	}
	return 0, 0
}
