// Command models makes the language models of the encoding detector from texts.
//
// Usage: models DIR OUT. DIR holds a text in UTF-8 for each language of [alphabets],
// LANG.txt, and for each of [scripts] the counts of its characters, LANG.count, both as
// collect.py in this directory makes them.
package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// alphabets are the letters of languages, in lower case. a-z goes before those of the
// ones that start with "+".
var alphabets = []struct{ language, letters string }{
	{"en", "+éè"},
	{"de", "+äöüßé"},
	{"fr", "+àâæçèéêëîïôœùûüÿ"},
	{"es", "+áéíñóúü"},
	{"it", "+àèéìòù"},
	{"pt", "+àáâãçéêíóôõúü"},
	{"ca", "+àçèéíïòóúü"},
	{"nl", "+ëéïöèü"},
	{"sv", "+åäöé"},
	{"da", "+æøåé"},
	{"nb", "+æøåéòô"},
	{"fi", "+äöå"},
	{"is", "+áðéíóúýþæö"},
	{"ga", "+áéíóú"},
	{"cy", "+âêîôûŵŷáéäëïö"},
	{"et", "+äõöüšž"},
	{"lv", "+āčēģīķļņšūž"},
	{"lt", "+ąčęėįšųūž"},
	{"pl", "+ąćęłńóśźż"},
	{"cs", "+áčďéěíňóřšťúůýž"},
	{"sk", "+áäčďéíĺľňóôŕšťúýž"},
	{"hu", "+áéíóöőúüű"},
	{"sl", "+čšž"},
	{"hr", "+čćđšž"},
	{"ro", "+ăâîșț"},
	{"sq", "+çë"},
	{"tr", "+âçğıöşüîû"},
	{"eo", "+ĉĝĥĵŝŭ"},
	{"mt", "+ċġħżàèìòù"},
	{"vi", "+ăâđêôơưàéèìíòóùúýãõ\u0300\u0301\u0303\u0309\u0323"},
	{"ru", "абвгдежзийклмнопрстуфхцчшщъыьэюяё"},
	{"uk", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"},
	{"be", "абвгдеёжзійклмнопрстуўфхцчшыьэюя"},
	{"bg", "абвгдежзийклмнопрстуфхцчшщъьюя"},
	{"sr", "абвгдђежзијклљмнњопрстћуфхцчџш"},
	{"mk", "абвгдѓежзѕијклљмнњопрстќуфхцчџшѐѝ"},
	{"el", "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ"},
	{"he", "אבגדהוזחטיכלמנסעפצקרשתךםןףץ"},
	{"ar", "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيـ\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652"},
	{"fa", "ءآأؤئابپتثجچحخدذرزژسشصضطظعغفقکگلمنهويك\u200c"},
	{"th", "กขคฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรฤลวศษสหฬอฮฯะัาำิีึืฺุูเแโใไๅๆ็่้๊๋์ํ๐๑๒๓๔๕๖๗๘๙"},
}

// scripts are written with more characters than have pairs; so many of the most
// frequent ones are kept.
var scripts = []struct {
	language string
	kept     int
}{{"zh-hans", 1600}, {"zh-hant", 1600}, {"ja", 1400}, {"ko", 1050}}

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: models DIR OUT"))
	}
	var out bytes.Buffer
	for _, a := range alphabets {
		text, err := os.ReadFile(filepath.Join(os.Args[1], a.language+".txt"))
		if err != nil {
			fail(err)
		}
		letters := []rune(a.letters)
		if rest, ok := strings.CutPrefix(a.letters, "+"); ok {
			letters = []rune("abcdefghijklmnopqrstuvwxyz" + rest)
		}
		slices.Sort(letters)
		typical, pairs := count(letters, string(text))
		write(&out, a.language, string(letters), typical, pairs)
	}
	for _, s := range scripts {
		counts, err := os.ReadFile(filepath.Join(os.Args[1], s.language+".count"))
		if err != nil {
			fail(err)
		}
		letters, typical, bands, err := rank(string(counts), s.kept)
		if err != nil {
			fail(err)
		}
		write(&out, s.language, letters, typical, bands)
	}
	if err := os.WriteFile(os.Args[2], out.Bytes(), 0o644); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// write appends a model: name, letters and costs, each after its length, and between
// them what a letter costs in the mean, in sixteenths of a bit.
func write(out *bytes.Buffer, language, letters string, typical float64, costs []byte) {
	for i, part := range []string{language, letters, string(costs)} {
		if i == 2 {
			out.WriteByte(byte(math.Round(typical * 16)))
		}
		out.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(part))))
		out.WriteString(part)
	}
}

// tones are the marks that windows-1258 has by themselves.
const tones = "\u0300\u0301\u0303\u0309\u0323"

// apart takes the tones from the letters of Vietnamese.
func apart(text string) string {
	var b strings.Builder
	for _, r := range text {
		var base, tone []rune
		for _, c := range norm.NFD.String(string(r)) {
			if strings.ContainsRune(tones, c) {
				tone = append(tone, c)
			} else {
				base = append(base, c)
			}
		}
		b.WriteString(norm.NFC.String(string(base)) + string(tone))
	}
	return b.String()
}

// The classes of characters other than letters: those between words come first,
// other letters last.
const others = 2 // a letter of ASCII, any other one

// count returns the cost of each pair of classes in bits, four bits each, and the mean
// cost of a letter of the words that are not ASCII alone.
func count(letters []rune, text string) (typical float64, pairs []byte) {
	text = strings.NewReplacer("ş", "ș", "ţ", "ț", "ی", "ي").Replace(strings.ToLower(text))
	if slices.Contains(letters, '\u0323') {
		text = apart(text)
	}
	if slices.Contains(letters, 'ş') {
		text = strings.ReplaceAll(text, "ș", "ş")
	}
	n := len(letters) + 1 + others
	counts := make([]float64, n*n)
	last := 0
	for _, r := range text {
		class := classOf(letters, r)
		if class != 0 || last != 0 {
			counts[last*n+class]++
		}
		last = class
	}
	nibbles := make([]int, n*n)
	for a := range n {
		sum := 0.0
		for _, c := range counts[a*n : a*n+n] {
			sum += c
		}
		for b, c := range counts[a*n : a*n+n] {
			cost := -math.Log2((c + 0.2) / (sum + 0.2*float64(n)))
			nibbles[a*n+b] = int(min(math.Round(cost), 15))
		}
	}
	bits, total := 0, 0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return classOf(letters, r) == 0 }) {
		if strings.IndexFunc(word, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
			continue
		}
		last := 0
		for _, r := range word {
			class := classOf(letters, r)
			bits += nibbles[last*n+class]
			last = class
			total++
		}
		bits += nibbles[last*n]
	}
	pairs = make([]byte, (n*n+1)/2)
	for i, v := range nibbles {
		pairs[i/2] |= byte(v << (4 * (i & 1)))
	}
	return float64(bits) / float64(total), pairs
}

func classOf(letters []rune, r rune) int {
	if i, ok := slices.BinarySearch(letters, r); ok {
		return i + 1
	}
	switch {
	case r < unicode.MaxASCII && unicode.IsLetter(r):
		return len(letters) + 1
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return len(letters) + 2
	}
	return 0
}

// bands are the ranks at which classes of frequent characters end.
var bands = []int{16, 64, 192, 512, 1024}

// rank returns the most frequent characters in their order of code points. The costs are
// those of a character of each band, in eighths of a bit, the last of those that are not
// kept; then the band of each character.
func rank(counts string, kept int) (letters string, typical float64, costs []byte, err error) {
	of := map[rune]float64{}
	sum := 0.0
	for line := range strings.Lines(counts) {
		char, number, _ := strings.Cut(strings.TrimSpace(line), "\t")
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return "", 0, nil, err
		}
		if r := []rune(char); len(r) == 1 {
			of[r[0]] = n
			sum += n
		}
	}
	order := slices.SortedFunc(maps.Keys(of), func(a, b rune) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	kept = min(kept, len(order))
	ends := append(slices.Clone(bands), kept)
	begin, rest := 0, sum
	for i, end := range ends {
		if end > kept || i < len(bands) && end == kept {
			return "", 0, nil, fmt.Errorf("%d characters, too few", kept)
		}
		n := 0.0
		for _, r := range order[begin:end] {
			n += of[r]
		}
		cost := -math.Log2(n / sum / float64(end-begin))
		costs = append(costs, byte(math.Round(cost*8)))
		typical += n / sum * cost
		rest -= n
		begin = end
	}
	rare := max(-math.Log2(max(rest/sum, 0.004)/5000), 14)
	costs = append(costs, byte(math.Round(rare*8)))
	chosen := slices.Sorted(slices.Values(order[:kept]))
	for _, r := range chosen {
		at := slices.Index(order, r)
		costs = append(costs, byte(slices.IndexFunc(ends, func(end int) bool { return at < end })))
	}
	return string(chosen), typical + rest/sum*rare, costs, nil
}
