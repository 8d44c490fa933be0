package history

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// lastID is the last ID that this process made: its time in milliseconds and what follows it.
var lastID struct {
	sync.Mutex
	milli uint64
	tail  uint32
}

// NewID returns an ID of a change: 16 characters, of the time in milliseconds and of four bytes,
// which are random in the first ID of a millisecond and counted up from there. Each sorts after
// all that the process made before.
func NewID() string {
	lastID.Lock()
	defer lastID.Unlock()
	if now := uint64(time.Now().UnixMilli()); now > lastID.milli {
		var random [4]byte
		rand.Read(random[:])
		lastID.milli, lastID.tail = now, binary.BigEndian.Uint32(random[:])
	} else if lastID.tail++; lastID.tail == 0 {
		lastID.milli++
	}
	id := binary.BigEndian.AppendUint64(nil, lastID.milli)[2:] // the first two bytes of the time are zero
	id = binary.BigEndian.AppendUint32(id, lastID.tail)
	// Crockford's alphabet keeps the order of the bytes.
	return base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").EncodeToString(id)
}

// anyRecord is the beginning of the line of every record.
const anyRecord = `{"id":"`

// recordStart returns the beginning of the line of the record of that ID.
func recordStart(id string) []byte { return []byte(anyRecord + id + `"`) }

// encodeRecord makes the line of a record. Names that are not UTF-8 survive it.
func encodeRecord(rec Record) ([]byte, error) {
	if rec.ID == "" {
		return nil, errors.New("a change without an ID")
	}
	rec.Files = MapNames(rec.Files, PackName)
	line, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	return append(line, '\n'), nil
}

// DecodeRecord reads the line of a record.
func DecodeRecord(line []byte) (Record, error) {
	var rec Record
	if err := json.Unmarshal(line, &rec); err != nil {
		return Record{}, fmt.Errorf("a line of the history is damaged: %w", err)
	}
	rec.Files = MapNames(rec.Files, UnpackName)
	return rec, nil
}

// MapNames replaces each name by f(name) in a copy of files.
func MapNames(files []Changed, f func(string) string) []Changed {
	copied := false
	for i := range files {
		c := files[i]
		c.Path, c.From = f(c.Path), f(c.From)
		c.Before, c.After = mapTarget(c.Before, f), mapTarget(c.After, f)
		if c == files[i] {
			continue
		}
		if !copied {
			files, copied = slices.Clone(files), true
		}
		files[i] = c
	}
	return files
}

func mapTarget(v *Version, f func(string) string) *Version {
	if v == nil || f(v.Target) == v.Target {
		return v
	}
	mapped := *v
	mapped.Target = f(v.Target)
	return &mapped
}

// packed begins a name that JSON cannot hold as it is; no file has such a name.
const packed = "\x00"

// PackName makes a name fit for JSON.
func PackName(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return packed + base64.RawURLEncoding.EncodeToString([]byte(name))
}

// UnpackName reverses PackName.
func UnpackName(name string) string {
	text, ok := strings.CutPrefix(name, packed)
	if !ok {
		return name
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return name
	}
	return string(data)
}
