package index_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"toolcrib/tools/internal/lexical"
	"toolcrib/tools/internal/tooltest"
)

// asked is questions with the paragraph that answers each.
type asked struct {
	paragraphs collection
	questions  []question
	places     map[string]int
}

func (a *asked) paragraph(text string) int {
	at, ok := a.places[text]
	if !ok {
		if a.places == nil {
			a.places = map[string]int{}
		}
		at = len(a.paragraphs)
		a.places[text] = at
		a.paragraphs = append(a.paragraphs, text)
	}
	return at
}

func (a *asked) ask(text, paragraph string) {
	a.questions = append(a.questions, question{text, map[int]float64{a.paragraph(paragraph): 1}})
}

// squad reads files in the form of SQuAD.
func squad(files []string) (a asked, err error) {
	for _, name := range files {
		var file struct {
			Data []struct {
				Paragraphs []struct {
					Context string `json:"context"`
					QAs     []struct {
						Question string `json:"question"`
					} `json:"qas"`
				} `json:"paragraphs"`
			} `json:"data"`
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return a, err
		}
		if err := json.Unmarshal(data, &file); err != nil {
			return a, err
		}
		for _, d := range file.Data {
			for _, p := range d.Paragraphs {
				for _, q := range p.QAs {
					a.ask(q.Question, p.Context)
				}
			}
		}
	}
	return a, nil
}

// thai reads the lines of iapp-wiki-qa-dataset.
func thai(name string) (a asked, err error) {
	file, err := os.Open(name)
	if err != nil {
		return a, err
	}
	defer file.Close()
	for lines := json.NewDecoder(file); ; {
		var line struct{ Context, Question string }
		if err := lines.Decode(&line); err == io.EOF {
			return a, nil
		} else if err != nil {
			return a, err
		}
		a.ask(line.Question, line.Context)
	}
}

// manual is a page of the manual: what its second line says of it, and its paragraphs.
type manual struct {
	summary    string
	paragraphs []string
}

// manuals reads the pages of Debian's manual in a language, "" = English.
func manuals(language string) (all []manual, err error) {
	files, err := filepath.Glob(filepath.Join("/usr/share/man", language, "man*", "*.gz"))
	if err != nil {
		return nil, err
	}
	const most = 2000
	step := max(len(files)/most, 1)
	for i, name := range files {
		if i%step > 0 {
			continue
		}
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		if m := readManual(string(text)); m.summary != "" && len(m.paragraphs) > 0 {
			all = append(all, m)
		}
	}
	return all, nil
}

// readManual reads the paragraphs of a page in roff, without its marks. The first section has
// the summary.
func readManual(text string) (m manual) {
	var b strings.Builder
	section := 0
	end := func() {
		p := strings.Join(strings.Fields(b.String()), " ")
		b.Reset()
		switch {
		case p == "":
		case section == 1:
			if _, summary, ok := strings.Cut(p, " - "); ok {
				m.summary = summary
			}
		case section > 1:
			m.paragraphs = append(m.paragraphs, p)
		}
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := plainRoff(lines.Text())
		if !strings.HasPrefix(line, ".") && !strings.HasPrefix(line, "'") {
			b.WriteString(line + " ")
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimSpace(line[1:]), " ")
		switch name {
		case "SH", "Sh", "SS", "Ss":
			end()
			if name == "SH" || name == "Sh" {
				section++
			}
			b.WriteString(strings.Trim(rest, `"`) + " ")
			if section <= 1 {
				b.Reset()
			}
		case "PP", "P", "LP", "TP", "IP", "sp", "Pp", "It":
			end()
		case "B", "I", "BR", "IR", "RB", "RI", "BI", "IB", "Nm", "Nd", "Fl", "Ar", "Pa", "Xr":
			if name == "Nd" {
				b.WriteString("- ")
			}
			b.WriteString(strings.ReplaceAll(rest, `"`, "") + " ")
		}
	}
	end()
	return m
}

// plainRoff returns a line without escapes.
func plainRoff(line string) string {
	if i := strings.Index(line, `\"`); i >= 0 {
		line = line[:i]
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] != '\\' || i+1 == len(line) {
			b.WriteByte(line[i])
			continue
		}
		i++
		switch line[i] {
		case 'f':
			i++
			if i < len(line) && line[i] == '[' {
				i += max(strings.IndexByte(line[i:], ']'), 0)
			}
		case '-':
			b.WriteByte('-')
		case '(':
			i += 2
		case '*', '[':
			i += max(strings.IndexByte(line[i:], ']'), 0)
		case '&', ',', '/', '|', '^', 'c', ':', '%':
		default:
			b.WriteByte(line[i])
		}
	}
	return b.String()
}

// summaries asks for pages by what their first section says of them. Each page is a paragraph
// without that section.
func summaries(language string, most int) (a asked, err error) {
	all, err := manuals(language)
	if err != nil {
		return a, err
	}
	for i, m := range all {
		var b strings.Builder
		for _, p := range m.paragraphs {
			if b.Len()+len(p) > 3000 {
				break
			}
			b.WriteString(p + "\n")
		}
		if b.Len() < 200 || !own(language, b.String()) {
			continue
		}
		a.paragraph(b.String())
		if step := max(len(all)/(most*2), 1); len(a.questions) < most && i%step == 0 && own(language, m.summary) {
			a.ask(m.summary, b.String())
		}
	}
	return a, nil
}

// own reports whether a text is in the script of a language, and long enough to ask for.
func own(language, text string) bool {
	script := map[string]*unicode.RangeTable{"zh_CN": unicode.Han, "ru": unicode.Cyrillic, "": unicode.Latin}[language]
	n := 0
	for _, r := range text {
		if unicode.Is(script, r) {
			n++
		}
	}
	return n*3 > len([]rune(text)) && n >= 5
}

// peers are the tokenizers of FTS5.
var peers = []struct{ name, options string }{
	{"unicode61", "unicode61"}, {"porter", "porter unicode61"}, {"trigram", "trigram"},
}

// compare ranks the paragraphs of a set beside FTS5, whose best tokenizer counts.
func compare(t *testing.T, name string, a asked) {
	if len(a.questions) == 0 {
		t.Fatalf("%s has no questions", name)
	}
	ws, _ := tooltest.Tree(t, nil)
	x := fill(t, ws, a.paragraphs)
	places := placesOf(t, x)
	var own, hybrid score
	for _, q := range a.questions {
		words := lexical.Tokens(q.text)
		own.add(placed(t, places)(x.Search(t.Context(), words, everything, 100)), q.gains, len(a.questions))
		hybrid.add(placed(t, places)(x.Search(t.Context(), words, everything, 100, nearest(t, x, words)...)), q.gains, len(a.questions))
	}
	dir, err := ws.State()
	if err != nil {
		t.Fatal(err)
	}
	best, bestName := 0.0, ""
	var all []string
	for _, peer := range peers {
		db, err := dir.DB(t.Context(), peer.name, "CREATE VIRTUAL TABLE words USING fts5(text, tokenize='"+peer.options+"')")
		if err != nil {
			t.Fatal(err)
		}
		s := ranked(t, db, peer.name, a)
		all = append(all, fmt.Sprintf("%s %.4f", peer.name, s.ndcg))
		if s.ndcg > best {
			best, bestName = s.ndcg, peer.name
		}
	}
	t.Logf("%s: %d questions, %d paragraphs: nDCG@10 %.4f, hybrid %.4f; FTS5 %s", name, len(a.questions), len(a.paragraphs), own.ndcg, hybrid.ndcg, strings.Join(all, ", "))
	if own.ndcg < best || hybrid.ndcg < own.ndcg {
		t.Errorf("%s is worse than %s", name, bestName)
	}
}

func ranked(t *testing.T, db *sql.DB, tokenizer string, a asked) (s score) {
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range a.paragraphs {
		if _, err := tx.Exec("INSERT INTO words (rowid, text) VALUES (?, ?)", i, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, q := range a.questions {
		words := strings.FieldsFunc(q.text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) })
		if tokenizer == "trigram" {
			words = trigrams(words)
		}
		var ids []int
		if len(words) > 0 {
			if ids, err = (porter{db}).search(t.Context(), words, 100); err != nil {
				t.Fatal(err)
			}
		}
		s.add(ids, q.gains, len(a.questions))
	}
	return s
}

// trigrams returns the runs of three characters of words, as that tokenizer has them.
func trigrams(words []string) (all []string) {
	for _, w := range words {
		letters := []rune(w)
		for i := range max(len(letters)-2, 0) {
			all = append(all, string(letters[i:i+3]))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// languages compares the sets of questions. At small size it takes a part of those that are
// there.
func languages(t *testing.T, sets string, most int) {
	for _, set := range []struct {
		name string
		read func() (asked, error)
	}{
		{"Japanese, JaQuAD", func() (asked, error) {
			files, err := filepath.Glob(filepath.Join(sets, "jaquad", "*.json"))
			if err != nil || len(files) == 0 {
				return asked{}, os.ErrNotExist
			}
			return squad(files)
		}},
		{"Thai, iapp-wiki-qa-dataset", func() (asked, error) { return thai(filepath.Join(sets, "iapp", "test.jsonl")) }},
		{"Arabic, SOQAL", func() (asked, error) { return squad([]string{filepath.Join(sets, "arcd", "arcd.json")}) }},
		{"Chinese summaries", func() (asked, error) { return summaries("zh_CN", 300) }},
		{"Russian summaries", func() (asked, error) { return summaries("ru", 300) }},
		{"English summaries", func() (asked, error) { return summaries("", 300) }},
	} {
		t.Run(set.name, func(t *testing.T) {
			a, err := set.read()
			if err != nil {
				t.Skipf("needs: figure: the set %s: %v", set.name, err)
			}
			a.questions = a.questions[:min(len(a.questions), most)]
			compare(t, set.name, a)
		})
	}
}
