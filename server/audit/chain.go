package audit

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
)

// The beginning and end of a line, around the fields of the record.
const (
	seqField  = `{"seq":`
	hashField = `,"hash":"`
	lineEnd   = "\"}\n"
	tailSize  = len(hashField) + 2*sha256.Size + len(lineEnd)
	maxFrame  = len(seqField) + len("18446744073709551615,") + tailSize
)

// sum is the hash of a record.
type sum [sha256.Size]byte

func (s sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText implements [encoding.TextMarshaler].
func (s sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *sum) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err == nil && len(b) != len(s) {
		err = hex.ErrLength
	}
	copy(s[:], b)
	return err
}

// chain computes the hashes. It is used by one goroutine at a time.
type chain struct{ mac hash.Hash }

// derive makes a key for one purpose from the key of the state.
func derive(key []byte, purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, key, nil, "toolcrib audit "+purpose, sha256.Size)
}

func newChain(key []byte) (chain, error) {
	sub, err := derive(key, "chain")
	return chain{hmac.New(sha256.New, sub)}, err
}

// root is the hash before the first record of a log, by the name of the log.
func (c chain) root(log string) sum { return c.next(sum{}, []byte(log)) }

func (c chain) next(prev sum, record []byte) (s sum) {
	c.mac.Reset()
	c.mac.Write(prev[:])
	c.mac.Write(record)
	c.mac.Sum(s[:0])
	return s
}

// append adds the line of a record after prev to dst. The record is a JSON object
// with at least one field.
func (c chain) append(dst []byte, prev sum, seq uint64, record []byte) ([]byte, sum) {
	begin := len(dst)
	dst = append(dst, seqField...)
	dst = strconv.AppendUint(dst, seq, 10)
	dst = append(dst, ',')
	dst = append(dst, record[1:len(record)-1]...)
	s := c.next(prev, dst[begin:])
	dst = append(dst, hashField...)
	dst = hex.AppendEncode(dst, s[:])
	return append(dst, lineEnd...), s
}

// entry is a line taken apart.
type entry struct {
	line   []byte
	seq    uint64
	record []byte // the bytes that are hashed
	stated sum
}

// parse takes a line apart, which ends with its line feed, without looking at its
// hash. A line has exactly one form, so every byte of it counts.
func parse(line []byte) (e entry, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(seqField))
	if !ok || len(rest) < tailSize {
		return entry{}, false
	}
	digits := bytes.IndexByte(rest, ',')
	if digits < 1 || rest[0] == '0' {
		return entry{}, false
	}
	e.seq, ok = number(rest[:digits])
	tail := line[len(line)-tailSize:]
	if !ok || string(tail[:len(hashField)]) != hashField || string(tail[tailSize-len(lineEnd):]) != lineEnd {
		return entry{}, false
	}
	text := tail[len(hashField) : tailSize-len(lineEnd)]
	if _, err := hex.Decode(e.stated[:], text); err != nil || !bytes.Equal(text, bytes.ToLower(text)) {
		return entry{}, false
	}
	e.line, e.record = line, line[:len(line)-tailSize]
	return e, true
}

func number(digits []byte) (n uint64, ok bool) {
	n, err := strconv.ParseUint(string(digits), 10, 64)
	return n, err == nil
}

// follows reports whether an entry is the one after the record seq with hash prev.
func (c chain) follows(e entry, prev sum, seq uint64) bool {
	return e.seq == seq+1 && hmac.Equal(e.stated[:], sumOf(c.next(prev, e.record)))
}

func sumOf(s sum) []byte { return s[:] }
