package vector

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// tokenizer divides texts into the tokens of a table, as the file tokenizer.json of the
// library tokenizers describes: by WordPiece, as models after BERT do, or by Unigram, as those
// of many languages do.
type tokenizer struct {
	ids     map[string]int
	scores  map[string]float64 // of Unigram; nil = WordPiece
	prefix  string             // of the parts of a word behind the first
	longest int                // letters of a token
	lower   bool
	bare    bool // without accents
	chinese bool // each such character is a word
}

// wordLetters is how long a word may be to be divided.
const wordLetters = 100

// readTokenizer reads a file tokenizer.json.
func readTokenizer(data []byte) (*tokenizer, error) {
	var file struct {
		Model struct {
			Type   string          `json:"type"`
			Vocab  json.RawMessage `json:"vocab"`
			Prefix *string         `json:"continuing_subword_prefix"`
		} `json:"model"`
		Normalizer json.RawMessage `json:"normalizer"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	t := &tokenizer{ids: map[string]int{}, prefix: "##"}
	m := file.Model
	switch m.Type {
	case "WordPiece":
		if err := json.Unmarshal(m.Vocab, &t.ids); err != nil {
			return nil, err
		}
		if m.Prefix != nil {
			t.prefix = *m.Prefix
		}
	case "Unigram":
		var pairs [][2]json.RawMessage
		if err := json.Unmarshal(m.Vocab, &pairs); err != nil {
			return nil, err
		}
		t.scores = map[string]float64{}
		for id, pair := range pairs {
			var token string
			var score float64
			if err := errors.Join(json.Unmarshal(pair[0], &token), json.Unmarshal(pair[1], &score)); err != nil {
				return nil, err
			}
			t.ids[token], t.scores[token] = id, score
		}
	default:
		return nil, fmt.Errorf("its model is %q; WordPiece and Unigram are read", m.Type)
	}
	for token := range t.ids {
		t.longest = max(t.longest, len([]rune(token)))
	}
	if t.longest == 0 {
		return nil, errors.New("it has no tokens")
	}
	return t, t.normalizer(file.Normalizer)
}

// normalizer reads what is done to a text first.
func (t *tokenizer) normalizer(data json.RawMessage) error {
	if len(data) == 0 || string(data) == "null" {
		return nil
	}
	var of struct {
		Type    string            `json:"type"`
		Lower   *bool             `json:"lowercase"`
		Accents *bool             `json:"strip_accents"`
		Chinese *bool             `json:"handle_chinese_chars"`
		All     []json.RawMessage `json:"normalizers"`
	}
	if err := json.Unmarshal(data, &of); err != nil {
		return err
	}
	switch of.Type {
	case "BertNormalizer":
		t.lower = of.Lower == nil || *of.Lower
		t.bare = t.lower
		if of.Accents != nil {
			t.bare = *of.Accents
		}
		t.chinese = of.Chinese == nil || *of.Chinese
	case "Lowercase":
		t.lower = true
	case "StripAccents":
		t.bare = true
	}
	for _, part := range of.All {
		if err := t.normalizer(part); err != nil {
			return err
		}
	}
	return nil
}

// tokens returns the tokens of a text, at most most of them.
func (t *tokenizer) tokens(text string, most int) (all []int) {
	for _, word := range t.words(text) {
		if t.scores != nil {
			all = append(all, t.likeliest([]rune("\u2581"+word))...)
		} else {
			all = append(all, t.pieces([]rune(word))...)
		}
		if len(all) >= most {
			return all[:most]
		}
	}
	return all
}

// words divides a text at spaces, for WordPiece also around each sign and Chinese character.
func (t *tokenizer) words(text string) []string {
	if t.lower {
		text = strings.ToLower(text)
	}
	if t.bare {
		text = norm.NFC.String(strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFD.String(text)))
	}
	if t.scores != nil {
		return strings.Fields(norm.NFKC.String(text))
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsControl(r) && !unicode.IsSpace(r) || r == unicode.ReplacementChar:
		case unicode.IsPunct(r) || unicode.IsSymbol(r) && r < unicode.MaxASCII || t.chinese && unicode.Is(unicode.Han, r):
			b.WriteString(" " + string(r) + " ")
		default:
			b.WriteRune(r)
		}
	}
	return strings.Fields(b.String())
}

// pieces divides a word into the longest tokens from its start on.
func (t *tokenizer) pieces(word []rune) (all []int) {
	if len(word) > wordLetters {
		return nil
	}
	for from := 0; from < len(word); {
		id, end := -1, min(len(word), from+t.longest)
		for ; end > from; end-- {
			piece := string(word[from:end])
			if from > 0 {
				piece = t.prefix + piece
			}
			if known, ok := t.ids[piece]; ok {
				id = known
				break
			}
		}
		if id < 0 {
			return nil // a word with an unknown part is none
		}
		all = append(all, id)
		from = end
	}
	return all
}

// likeliest divides a word into the tokens whose scores have the greatest sum.
func (t *tokenizer) likeliest(word []rune) (all []int) {
	if len(word) > wordLetters*t.longest {
		return nil
	}
	const unlikely = -20.0 // a character that is no token
	type step struct {
		score    float64
		from, id int
	}
	best := make([]step, len(word)+1)
	for end := 1; end <= len(word); end++ {
		best[end] = step{math.Inf(-1), end - 1, -1}
		for from := max(0, end-t.longest); from < end; from++ {
			piece := string(word[from:end])
			score, known := t.scores[piece]
			id := -1
			switch {
			case known:
				id = t.ids[piece]
			case end-from == 1:
				score = unlikely
			default:
				continue
			}
			if score += best[from].score; score > best[end].score {
				best[end] = step{score, from, id}
			}
		}
	}
	for end := len(word); end > 0; end = best[end].from {
		if best[end].id >= 0 {
			all = append(all, best[end].id)
		}
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}
