// Package cells has what readers of spreadsheets share: addresses of cells, number formats,
// and the tables that a sheet's cells make.
//
// It imports the model and must not import a reader. Start at [Sheet].
package cells

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Format is a number format that is ready for use. The zero value is the general one.
type Format struct {
	sections [][]piece
	date     bool
}

// piece is a literal text or a code of a format.
type piece struct {
	code    string // "" = literal; "yyyy", "mm", "0.00", "%", "@", "[h]" ...
	literal string
}

// builtin are the formats that files name by number. Those that depend on the reader's
// country are written so that nobody misreads them.
var builtin = map[int]string{
	1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
	14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
	22: "yyyy-mm-dd h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)",
	45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}

// Builtin returns the format with a number.
func Builtin(id int) Format {
	if id >= 27 && id <= 36 || id >= 50 && id <= 58 { // dates of East Asia
		id = 14
	}
	return ParseFormat(builtin[id])
}

// ParseFormat reads a format code.
func ParseFormat(code string) Format {
	var f Format
	if code == "" || strings.EqualFold(code, "general") || len(code) > 1024 {
		return f
	}
	f.sections = [][]piece{nil}
	last := &f.sections[0]
	literal := func(text string) { *last = append(*last, piece{literal: text}) }
	for rest := code; rest != ""; {
		c := rest[0]
		n := 1
		switch {
		case c == ';':
			f.sections = append(f.sections, nil)
			last = &f.sections[len(f.sections)-1]
		case c == '"':
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				end = len(rest) - 1
			}
			literal(rest[1 : 1+end])
			n = min(end+2, len(rest))
		case c == '\\' && len(rest) > 1:
			n = 1 + runeLen(rest[1:])
			literal(rest[1:n])
		case c == '_' || c == '*':
			n = min(1+runeLen(rest[1:]), len(rest))
			if c == '_' && len(*last) > 0 {
				literal(" ")
			}
		case c == '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				end = len(rest) - 1
			}
			n = end + 1
			f.bracket(last, rest[1:end])
		case strings.ContainsRune("ymdhsYMDHS", rune(c)):
			for n < len(rest) && rest[n]|0x20 == c|0x20 {
				n++
			}
			*last = append(*last, piece{code: strings.ToLower(rest[:n])})
			f.date = true
		case len(rest) >= 5 && strings.EqualFold(rest[:5], "am/pm"):
			*last = append(*last, piece{code: "am/pm"})
			n = 5
		case len(rest) >= 3 && strings.EqualFold(rest[:3], "a/p"):
			*last = append(*last, piece{code: "am/pm"})
			n = 3
		case len(rest) >= 7 && strings.EqualFold(rest[:7], "general"):
			*last = append(*last, piece{code: "general"})
			n = 7
		case strings.ContainsRune("0#?", rune(c)) || c == '.' && len(rest) > 1 && strings.ContainsRune("0#?", rune(rest[1])):
			for n < len(rest) && strings.ContainsRune("0#?.,", rune(rest[n])) {
				n++
			}
			if n+1 < len(rest) && rest[n]|0x20 == 'e' && (rest[n+1] == '+' || rest[n+1] == '-') {
				for n += 2; n < len(rest) && strings.ContainsRune("0#?", rune(rest[n])); n++ {
				}
			}
			*last = append(*last, piece{code: rest[:n]})
		case c == '%' || c == '@':
			*last = append(*last, piece{code: rest[:1]})
		default:
			n = runeLen(rest)
			literal(rest[:n])
		}
		rest = rest[n:]
	}
	return f
}

// bracket reads what is between brackets: a currency, a duration, a color or a condition.
func (f *Format) bracket(last *[]piece, inner string) {
	switch lower := strings.ToLower(inner); {
	case strings.HasPrefix(inner, "$"):
		symbol, _, _ := strings.Cut(inner[1:], "-")
		*last = append(*last, piece{literal: symbol})
	case lower != "" && strings.Trim(lower, lower[:1]) == "" && strings.ContainsRune("hms", rune(lower[0])):
		*last = append(*last, piece{code: "[" + lower[:1] + "]"})
		f.date = true
	}
}

func runeLen(text string) int {
	for i := range text {
		if i > 0 {
			return i
		}
	}
	return len(text)
}

// Date reports whether the format shows dates or times.
func (f Format) Date() bool { return f.date }

// Show returns a number as it is shown. base1904 says where the file counts days from.
func (f Format) Show(value float64, base1904 bool) string {
	if f.sections == nil {
		return General(value)
	}
	section := f.sections[0]
	switch {
	case value < 0 && len(f.sections) > 1:
		section, value = f.sections[1], -value
	case value == 0 && len(f.sections) > 2:
		section = f.sections[2]
	}
	if f.date {
		if value < 0 || value > 2958466 {
			return General(value)
		}
		return showDate(section, value, base1904)
	}
	return strings.TrimSpace(showNumber(section, value))
}

// General is how a number without a format is shown.
func General(value float64) string {
	text := strconv.FormatFloat(value, 'g', 15, 64)
	if !strings.Contains(text, "e") {
		return text
	}
	if abs := math.Abs(value); abs < 1e-9 || abs >= 1e21 {
		return text
	}
	rounded, _ := strconv.ParseFloat(text, 64) // what was just written
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func showNumber(section []piece, value float64) string {
	numbers := 0
	for _, p := range section {
		if p.code == "%" {
			value *= 100
		}
		if strings.ContainsAny(p.code, "0#?") {
			numbers++
		}
	}
	var b strings.Builder
	if numbers > 1 { // a fraction, or a number in parts
		return General(value)
	}
	if value < 0 {
		b.WriteByte('-')
		value = -value
	}
	for _, p := range section {
		switch p.code {
		case "":
			b.WriteString(p.literal)
		case "%":
			b.WriteByte('%')
		case "@", "general":
			b.WriteString(General(value))
		case "am/pm":
		default:
			b.WriteString(digits(p.code, value))
		}
	}
	return b.String()
}

// digits shows a number by a code such as "#,##0.00".
func digits(code string, value float64) string {
	if i := strings.IndexAny(code, "eE"); i >= 0 {
		text := strconv.FormatFloat(value, 'E', decimals(code[:i]), 64)
		return text
	}
	for strings.HasSuffix(code, ",") { // in thousands
		value /= 1000
		code = code[:len(code)-1]
	}
	whole, fraction, _ := strings.Cut(code, ".")
	most := decimals(code)
	text := strconv.FormatFloat(value, 'f', most, 64)
	number, part, _ := strings.Cut(text, ".")
	least := strings.Count(fraction, "0")
	for len(part) > least && strings.HasSuffix(part, "0") {
		part = part[:len(part)-1]
	}
	if zeros := strings.Count(whole, "0"); len(number) < zeros {
		number = strings.Repeat("0", zeros-len(number)) + number
	} else if number == "0" && zeros == 0 && part != "" {
		number = ""
	}
	if strings.Contains(whole, ",") {
		number = grouped(number)
	}
	if part != "" {
		number += "." + part
	}
	return number
}

func decimals(code string) int {
	_, fraction, _ := strings.Cut(code, ".")
	return min(strings.Count(fraction, "0")+strings.Count(fraction, "#")+strings.Count(fraction, "?"), 30)
}

func grouped(number string) string {
	var b strings.Builder
	for i := range len(number) {
		if i > 0 && (len(number)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(number[i])
	}
	return b.String()
}

// Time returns the moment that a number of days means.
func Time(days float64, base1904 bool) time.Time {
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case base1904:
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 60: // the calendar of spreadsheets has a day too much in February 1900
		epoch = epoch.AddDate(0, 0, 1)
	}
	whole := math.Floor(days)
	ms := math.Round((days - whole) * 86400e3)
	return epoch.AddDate(0, 0, int(whole)).Add(time.Duration(ms) * time.Millisecond)
}

func showDate(section []piece, value float64, base1904 bool) string {
	t := Time(value, base1904)
	half := false
	for _, p := range section {
		half = half || p.code == "am/pm"
	}
	if !hasFraction(section) {
		t = t.Round(time.Second)
	}
	var b strings.Builder
	last := ""
	for i, p := range section {
		switch p.code {
		case "":
			b.WriteString(p.literal)
			continue
		case "m", "mm":
			if strings.Contains(last, "h") || strings.HasPrefix(next(section[i+1:]), "s") {
				b.WriteString(pad(t.Minute(), len(p.code)))
			} else {
				b.WriteString(pad(int(t.Month()), len(p.code)))
			}
		default:
			b.WriteString(datePart(p.code, t, value, half))
		}
		last = p.code
	}
	return strings.TrimSpace(b.String())
}

func hasFraction(section []piece) bool {
	for _, p := range section {
		if strings.HasPrefix(p.code, ".") {
			return true
		}
	}
	return false
}

func next(section []piece) string {
	for _, p := range section {
		if p.code != "" {
			return p.code
		}
	}
	return ""
}

func pad(n, width int) string { return fmt.Sprintf("%0*d", min(width, 2), n) }

func datePart(code string, t time.Time, value float64, half bool) string {
	switch {
	case code == "[h]":
		return strconv.FormatInt(int64(math.Floor(value*24+1e-7)), 10)
	case code == "[m]":
		return strconv.FormatInt(int64(math.Floor(value*1440+1e-6)), 10)
	case code == "[s]":
		return strconv.FormatInt(int64(math.Floor(value*86400+1e-4)), 10)
	case code == "am/pm":
		return t.Format("PM")
	case code[0] == 'y':
		if len(code) <= 2 {
			return t.Format("06")
		}
		return t.Format("2006")
	case code == "mmm":
		return t.Format("Jan")
	case code[0] == 'm' && len(code) == 5:
		return t.Format("January")[:1]
	case code[0] == 'm':
		return t.Format("January")
	case code == "d" || code == "dd":
		return pad(t.Day(), len(code))
	case code == "ddd":
		return t.Format("Mon")
	case code[0] == 'd':
		return t.Format("Monday")
	case code[0] == 'h':
		hour := t.Hour()
		if half {
			hour = (hour+11)%12 + 1
		}
		return pad(hour, len(code))
	case code[0] == 's':
		return pad(t.Second(), len(code))
	case strings.HasPrefix(code, "."):
		fraction := fmt.Sprintf("%03d", t.Nanosecond()/1e6)
		return "." + fraction[:min(len(code)-1, 3)]
	}
	return ""
}
