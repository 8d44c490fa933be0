package lexical_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/lexical"
)

func TestTokens(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"The dogs were running", "dog run"},
		{"don't, it's", ""},
		{"ＡＢＣ ﬁle ２", "abc file 2"},
		{"Straße naïve café", "straße naïve café"},
		{"HTTP/2 x86_64 v1.5", "http 2 x86 64 v1 5"},
		{"人工智能", "人工 工智 智能"},
		{"人", "人"},
		{"Goで書く", "go で書 書く"},
		{"データベース", "デー ータ タベ ベー ース"},
		{"한국어 검색", "한국 국어 검색"},
		{"ประเทศไทย", "ประ ระเท เทศ ศไท ไทย"},
		{"ภา", "ภา"},
		{"ทำน้ำ", "ทำน้ำ"},
		{"ພາສາ", "ພາສາ"},
		{"ເມືອງ", "ເມືອ ອງ"},
		{"ភាសាខ្មែរ", "ភាសា សាខ្មែ ខ្មែរ"},
		{"မြန်မာ", "မြန် န်မာ"},
		{"हिन्दी भाषा", "हिन्दी भाषा"},
		{"Приветы МИР", "привет мир"},
		{"файлами файлов файла", "файл файл файл"},
		{"копируется копировать ещё", "копир копир еще"},
		{"наблюдение наблюдают последователь", "наблюд наблюд послед"},
		{"الكتاب كتابين وَالْكُتُبِ", "كتاب كتاب كتب"},
		{"مدرسة المدارس أحمد", "مدرس مدارس احمد"},
		{"ـ ـــ", ""},
		{"GPU加速 2倍", "gpu 加速 2 倍"},
		{"\xff\x00ok", "ok"},
	} {
		words := slices.DeleteFunc(lexical.Tokens(test.text), func(token string) bool { return lexical.Weight(token) < 1 })
		if diff := cmp.Diff(strings.Fields(test.want), words, cmp.Transformer("empty", func(s []string) string { return strings.Join(s, " ") })); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestParts(t *testing.T) {
	for text, want := range map[string]string{
		"Файлы ещё": "файл ~фай ~айл еще", "التقويم": "تقويم ~الت ~لتق ~تقو ~قوي ~ويم", "в прочих до file": "в проч ~про ~роч до file",
	} {
		if diff := cmp.Diff(strings.Fields(want), lexical.Tokens(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestCompounds(t *testing.T) {
	for text, want := range map[string]string{
		"the file of names": "filenam", "in set up": "", "a b c": "", "one two three": "onetwo twothre",
		"host 人工 name": "", "файл система": "файлсистем", "single": "", "": "",
	} {
		if diff := cmp.Diff(strings.Fields(want), append([]string{}, lexical.Compounds(lexical.Tokens(text))...)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestWhole(t *testing.T) {
	for token, want := range map[string]bool{"word": true, "файл": true, "~фай": false, "ประ": false, "智能": false} {
		if got := lexical.Whole(token); got != want {
			t.Errorf("%s: %v", token, got)
		}
	}
}

// However many texts a tokenizer has counted, and however many words it remembers, it counts
// what [lexical.Tokens] returns.
func TestCount(t *testing.T) {
	var tokenizer lexical.Tokenizer
	for n := range 150 {
		text := "Running dogs run 人工智能人工 ภาษา ـ the файлами"
		for i := range 400 {
			text += fmt.Sprintf(" x%d", n*300+i)
		}
		want := map[string]int{}
		for _, token := range append(lexical.Tokens("dog"), lexical.Tokens(text)...) {
			want[token]++
		}
		got := map[string]int{}
		for _, c := range tokenizer.Count("dog", text) {
			got[c.Token] += c.N
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestWritten(t *testing.T) {
	for token, want := range map[string]string{"run": "Running", "naïve": "Naïve", "智能": "人工智能", "none": "none"} {
		if got := lexical.Written("“Running”, Naïve (runs) 人工智能", token); got != want {
			t.Errorf("%s: %s, want %s", token, got, want)
		}
	}
}

// Words of each step of the algorithm.
func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"caresses": "caress", "ties": "tie", "cries": "cri", "gas": "gas", "gaps": "gap", "kiwis": "kiwi", "bus": "bus",
		"refereed": "refere", "feed": "feed", "hopping": "hop", "hoping": "hope", "falling": "fall", "sing": "sing", "luxuriated": "luxuri", "sized": "size",
		"happy": "happi", "cry": "cri", "by": "by", "say": "say", "toy": "toy", "youth": "youth", "boyish": "boyish",
		"relational": "relat", "conditional": "condit", "analogies": "analog", "sensibility": "sensibl", "hopefully": "hope", "carelessly": "careless", "softly": "soft", "only": "onli",
		"formalize": "formal", "electrical": "electr", "goodness": "good", "hopeful": "hope", "formative": "format",
		"revival": "reviv", "allowance": "allow", "adjustment": "adjust", "adoption": "adopt", "onion": "onion", "replacement": "replac",
		"probate": "probat", "rate": "rate", "cease": "ceas", "controlling": "control", "rolling": "roll",
		"generate": "generat", "general": "general", "communism": "communism", "arsenal": "arsenal", "succeed": "succeed", "proceedings": "proceed", "outings": "outing",
		"dying": "die", "skies": "sky", "news": "news", "knightly": "knight", "consistently": "consist", "consigned": "consign", "knackeries": "knackeri",
		"naïve": "naïve", "x86": "x86", "abcé": "abcé", "ee": "ee", "ied": "ie", "ing": "ing",
	} {
		if got := lexical.Stem(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

func TestSearch(t *testing.T) {
	docs := []string{
		"the cat sat on the mat",
		"dogs chase cats, and a cat chases mice, and cats sleep in the sun of every long and quiet afternoon",
		"nothing of the kind",
		"人工智能改变世界",
		"cats",
	}
	var tokens [][]string
	for _, d := range docs {
		tokens = append(tokens, lexical.Tokens(d))
	}
	ix := lexical.New(tokens)
	for _, test := range []struct {
		query string
		want  []int
	}{
		{"cat", []int{4, 0, 1}},
		{"cat cat", []int{4, 0, 1}},
		{"chasing a cat", []int{1, 4, 0}},
		{"智能", []int{3}},
		{"界", []int{3}},
		{"cat 改", []int{3, 4, 0, 1}},
		{"李", nil},
		{"the of", nil},
		{"zebra", nil},
		{"", nil},
	} {
		var got []int
		for _, hit := range ix.Search(lexical.Tokens(test.query)) {
			got = append(got, hit.Doc)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.query, diff)
		}
	}
	if hits := lexical.New(nil).Search([]string{"cat"}); len(hits) > 0 {
		t.Errorf("an index of nothing finds %v", hits)
	}
}

// Parts of words rank what the words of a query find, and find nothing themselves.
func TestPartsRank(t *testing.T) {
	var tokens [][]string
	for _, text := range []string{"состав системы", "загрузка системы", "перезагрузка"} {
		tokens = append(tokens, lexical.Tokens(text))
	}
	ix := lexical.New(tokens)
	for query, want := range map[string][]int{"системы выгрузка": {1, 0}, "выгрузка": nil} {
		var got []int
		for _, hit := range ix.Search(lexical.Tokens(query)) {
			got = append(got, hit.Doc)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

// The score of one token in one of two texts of the same length, by the formula.
func TestScore(t *testing.T) {
	hits := lexical.New([][]string{{"a", "a"}, {"b", "c"}}).Search([]string{"a"})
	// idf = ln((2+.5)/1); 2*2.2/(2+1.2) = 1.375
	if want := 0.9162907318741551 * 1.375; len(hits) != 1 || hits[0].Score < want-1e-9 || hits[0].Score > want+1e-9 {
		t.Errorf("%v, want %v", hits, want)
	}
}

func BenchmarkTokens(b *testing.B) {
	text := strings.Repeat("The running dogs were controlled by generalizations of 人工智能 and others. ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		lexical.Tokens(text)
	}
}
