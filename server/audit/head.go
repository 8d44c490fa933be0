package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// position is a place between two records.
type position struct {
	Seq    uint64 `json:"seq"`    // of the last record before it
	Hash   sum    `json:"hash"`   // likewise
	File   int    `json:"file"`   // its number; 0 = there is none yet
	Size   int64  `json:"size"`   // bytes of the file up to here
	Closed bool   `json:"closed"` // the file has its closing record
	Before int    `json:"before"` // number of the file before it; 0 = there was none
}

// head is the state's knowledge of a log: all records up to its position exist, and
// the files before Oldest no longer do.
type head struct {
	Log     string `json:"log"` // random name, goes into the chain
	Dir     string `json:"dir"` // where the log lay last
	Version uint64 `json:"version"`
	Oldest  int    `json:"oldest"`
	position
}

// headFile keeps the head in two slots that are written in turn, so that one of
// them is whole whenever a write is torn.
type headFile struct {
	f   *os.File
	key []byte
}

const headSlot = 4096

var (
	errNoHead  = errors.New("there is no head")
	errBadHead = errors.New("the head of the audit log in the state directory is damaged or of another key")
)

// read returns the newer of the slots that are whole; errNoHead where nothing was
// ever written.
func (h headFile) read() (best head, err error) {
	err = errNoHead
	for i := range int64(2) {
		slot := make([]byte, headSlot)
		if n, rerr := h.f.ReadAt(slot, i*headSlot); rerr != nil && !errors.Is(rerr, io.EOF) {
			return head{}, rerr
		} else if n < headSlot {
			continue
		}
		if errors.Is(err, errNoHead) {
			err = errBadHead
		}
		text, mac, ok := bytes.Cut(slot, []byte{'\n'})
		var got head
		if !ok || len(mac) < 2*sha256.Size || !hmac.Equal(mac[:2*sha256.Size], h.mac(text)) || json.Unmarshal(text, &got) != nil {
			continue
		}
		if err != nil || got.Version > best.Version {
			best, err = got, nil
		}
	}
	return best, err
}

func (h headFile) mac(text []byte) []byte {
	m := hmac.New(sha256.New, h.key)
	m.Write(text)
	return hex.AppendEncode(nil, m.Sum(nil))
}

// write puts a head, whose Version is one more than that of the last, in the place
// of the one before the last.
func (h headFile) write(next head) error {
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	mac := h.mac(text)
	if len(text)+1+len(mac) > headSlot {
		return fmt.Errorf("the name of the audit directory is too long: %s", next.Dir)
	}
	slot := make([]byte, headSlot)
	copy(slot[copy(slot, append(text, '\n')):], mac)
	_, err = h.f.WriteAt(slot, int64(next.Version%2)*headSlot)
	return err
}

// openHead opens the head of the log in dir. Without create, one that does not
// exist is fs.ErrNotExist.
func openHead(folder *os.Root, dir string, key []byte, create bool) (headFile, error) {
	sub, err := derive(key, "head")
	if err != nil {
		return headFile{}, err
	}
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	f, err := folder.OpenFile(logName(dir)+".head", flag, 0o600)
	return headFile{f, sub}, err
}

// logName returns the state's name for the log in dir, an absolute path.
func logName(dir string) string {
	name := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(name[:8])
}

// ErrNoLog means that a directory never had a log.
var ErrNoLog = fmt.Errorf("no audit log is known: %w", fs.ErrNotExist)
