package run

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"toolcrib/server/rules"
	"toolcrib/tools"
)

// stateLife is how long the user may take to answer, unless a form gives more time.
const stateLife = 10 * time.Minute

// maxUsed is the most states that are remembered as used.
const maxUsed = 1 << 16

// ErrState is the cause of a refusal because the call brought back a wrong state: a
// damaged one, or one of another server, call or principal.
var ErrState = errors.New("the state was not given to this call")

// digest identifies bytes without revealing them.
type digest [sha256.Size]byte

func plainDigest(data []byte) digest { return sha256.Sum256(data) }

// settlement holds the answers and decisions of a call's passes so far. Between two passes
// the client has it, encrypted and authenticated.
type settlement struct {
	Tool, Principal string
	Sent            digest          // of the arguments as the caller sends them
	Args            json.RawMessage `json:",omitempty"` // the final arguments, where a hook replaced them
	Verdict         rules.Verdict
	// That the user was asked about, if any.
	Rule, Question, Cause string
	Consented             bool
	Offer                 *offer       `json:",omitempty"`
	Pending               []digest     // of the handler's forms that the user has before him
	Answers               []settledAsk // to the handler's earlier forms
	Asked, Expires        time.Time

	bound *tools.Bound // the arguments as decoded by a Preflight; nil = they are to be decoded
}

// seal seals and opens states and makes keyed digests.
type seal struct {
	instance string // of this process, begins its call ids
	now      func() time.Time
	aead     cipher.AEAD
	digests  []byte

	mu   sync.Mutex
	used map[string]struct{} // nonces of the states that were opened
	fifo []usedNonce         // the same, oldest first
}

type usedNonce struct {
	nonce string
	until time.Time // its state has expired by then
}

// newSeal derives its keys from key, or from a random key if key is nil.
func newSeal(key []byte, now func() time.Time) *seal {
	if key == nil {
		key = make([]byte, sha256.Size)
		rand.Read(key) // never returns an error
	}
	if len(key) < sha256.Size {
		panic(fmt.Sprintf("the key has %d bytes, it needs %d", len(key), sha256.Size))
	}
	derive := func(purpose string) []byte {
		sub, err := hkdf.Key(sha256.New, key, nil, purpose, sha256.Size)
		if err != nil {
			panic(err) // 32 bytes are always to be had
		}
		return sub
	}
	block, err := aes.NewCipher(derive("toolcrib state of an asked call"))
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size of GCM
	}
	return &seal{
		instance: rand.Text()[:8], now: now, aead: aead,
		digests: derive("toolcrib digest of arguments"), used: map[string]struct{}{},
	}
}

// digest is keyed, so that short arguments cannot be guessed from the audit log.
func (s *seal) digest(data []byte) (d digest) {
	mac := hmac.New(sha256.New, s.digests)
	mac.Write(data)
	mac.Sum(d[:0])
	return d
}

// close seals the settlement, for as long as the user may take. The nonce of the encryption
// makes the state usable only once.
func (s *seal) close(st settlement, wait time.Duration) (string, error) {
	st.Asked = s.now()
	st.Expires = st.Asked.Add(max(stateLife, wait))
	data, err := json.Marshal(st)
	if err != nil {
		return "", fmt.Errorf("state of an asked call: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, data, nil)), nil
}

// open opens the state that a call brings back, checks that it belongs to this call, and
// adds the answers.
func (s *seal) open(p *pass) (*settlement, error) {
	refuse := func(why string) error {
		e := tools.Errorf(tools.Denied, "%s: %s", p.tool.Name, why).
			WithHint("make the call again without its state; the user will be asked again")
		e.Err = ErrState
		return e
	}
	box, err := base64.RawURLEncoding.DecodeString(p.call.Reply.State)
	if err != nil || len(box) < s.aead.Overhead() {
		return nil, refuse("the state of the asked call is damaged")
	}
	data, err := s.aead.Open(nil, nil, box, nil)
	if err != nil {
		return nil, refuse("the state of the asked call is damaged or of another server")
	}
	var st settlement
	if err := json.Unmarshal(data, &st); err != nil {
		return nil, refuse("the state of the asked call is of another version")
	}
	switch {
	case st.Principal != p.call.Session.Principal:
		return nil, refuse("another principal was asked")
	case st.Tool != p.tool.Name:
		return nil, refuse("the user was asked about " + st.Tool)
	case st.Sent != s.digest(p.sent):
		return nil, refuse("the arguments are not those that the user was asked about")
	case s.now().After(st.Expires):
		return nil, tools.Errorf(tools.Denied, "%s: the answer took longer than %s", p.tool.Name, st.Expires.Sub(st.Asked)).
			WithHint("make the call again without its state; the user will be asked again")
	}
	if err := s.use(string(box[:nonceSize]), st.Expires); err != nil {
		return nil, err
	}
	for _, pending := range st.Pending {
		answer, ok := p.call.Reply.Answers[handlerForm(len(st.Answers))]
		if !ok {
			break // this form and those after it are asked again
		}
		if answer.Action != tools.Accept && answer.Action != tools.Decline {
			answer.Action = tools.Cancel
		}
		answer.After = s.now().Sub(st.Asked)
		st.Answers = append(st.Answers, settledAsk{Form: pending, Answer: answer})
	}
	return &st, nil
}

// nonceSize is the length of the nonce that GCM puts before the sealed bytes.
const nonceSize = 12

// use notes a nonce and refuses one that was used before. A nonce is forgotten when its
// state has expired. If too many have not expired, the call is refused, so that no replay
// is missed.
func (s *seal) use(nonce string, expires time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for len(s.fifo) > 0 && now.After(s.fifo[0].until) {
		delete(s.used, s.fifo[0].nonce)
		s.fifo = s.fifo[1:]
	}
	if _, twice := s.used[nonce]; twice {
		return tools.Errorf(tools.Denied, "this answer was used before").
			WithHint("make the call again without its state; the user will be asked again")
	}
	if len(s.used) >= maxUsed {
		return tools.Errorf(tools.Unavailable, "too many calls were answered in the last %s", stateLife).
			WithHint("try again later")
	}
	s.used[nonce] = struct{}{}
	s.fifo = append(s.fifo, usedNonce{nonce, expires})
	return nil
}
