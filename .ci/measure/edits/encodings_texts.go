package edits

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os/exec"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/tools/txtar"
)

//go:embed encodings
var encodingTexts embed.FS

// encodingSample is a text in an encoding.
type encodingSample struct {
	language, encoding string
	data               []byte
	text               string // "" where it cannot be decoded
}

// servedEncoding is an encoding and the languages that are written in it.
type servedEncoding struct {
	name      string
	charset   encoding.Encoding // nil = by the program iconv: there is no decoder
	languages string
}

func servedEncodings() []servedEncoding {
	const (
		western  = "en de fr es it pt ca nl sv da nb fi is sq"
		central  = "pl cs sk hu sl hr ro"
		cyrillic = "ru uk be bg sr mk"
		baltic   = "lv lt et"
	)
	return []servedEncoding{
		{"windows-1252", charmap.Windows1252, western}, {"iso-8859-1", charmap.ISO8859_1, western}, {"iso-8859-15", charmap.ISO8859_15, western},
		{"macintosh", charmap.Macintosh, western}, {"ibm850", charmap.CodePage850, western}, {"ibm858", charmap.CodePage858, "de fr es it nl fi"},
		{"ibm437", charmap.CodePage437, "en de fr es it sv fi"}, {"ibm860", charmap.CodePage860, "pt"}, {"ibm863", charmap.CodePage863, "fr"}, {"ibm865", charmap.CodePage865, "da nb"},
		{"windows-1250", charmap.Windows1250, central}, {"iso-8859-2", charmap.ISO8859_2, central}, {"ibm852", charmap.CodePage852, central}, {"iso-8859-16", charmap.ISO8859_16, "ro"},
		{"windows-1251", charmap.Windows1251, cyrillic}, {"iso-8859-5", charmap.ISO8859_5, cyrillic}, {"x-mac-cyrillic", charmap.MacintoshCyrillic, cyrillic}, {"ibm855", charmap.CodePage855, cyrillic},
		{"koi8-r", charmap.KOI8R, "ru bg"}, {"koi8-u", charmap.KOI8U, "uk"}, {"ibm866", charmap.CodePage866, "ru bg"},
		{"windows-1253", charmap.Windows1253, "el"}, {"iso-8859-7", charmap.ISO8859_7, "el"},
		{"windows-1254", charmap.Windows1254, "tr"}, {"iso-8859-9", charmap.ISO8859_9, "tr"},
		{"windows-1255", charmap.Windows1255, "he"}, {"iso-8859-8", charmap.ISO8859_8, "he"}, {"ibm862", charmap.CodePage862, "he"},
		{"windows-1256", charmap.Windows1256, "ar fa"}, {"iso-8859-6", charmap.ISO8859_6, "ar"},
		{"windows-1257", charmap.Windows1257, baltic}, {"iso-8859-13", charmap.ISO8859_13, baltic}, {"iso-8859-4", charmap.ISO8859_4, baltic},
		{"windows-1258", charmap.Windows1258, "vi"}, {"windows-874", charmap.Windows874, "th"},
		{"iso-8859-3", charmap.ISO8859_3, "mt eo"}, {"iso-8859-10", charmap.ISO8859_10, "is"}, {"iso-8859-14", charmap.ISO8859_14, "cy ga"},
		{"gbk", simplifiedchinese.GBK, "zh-hans zh-hant"}, {"gb18030", simplifiedchinese.GB18030, "zh-hans"}, {"hz-gb-2312", simplifiedchinese.HZGB2312, "zh-hans"},
		{"big5", traditionalchinese.Big5, "zh-hant"}, {"shift_jis", japanese.ShiftJIS, "ja"}, {"euc-jp", japanese.EUCJP, "ja"},
		{"iso-2022-jp", japanese.ISO2022JP, "ja"}, {"euc-kr", korean.EUCKR, "ko"},
		{"johab", nil, "ko"}, {"iso-2022-kr", nil, "ko"}, {"euc-tw", nil, "zh-hant"}, {"iso-2022-cn", nil, "zh-hans"},
	}
}

// unicodeForms are the forms of Unicode, two of which each text is written in.
func unicodeForms() []servedEncoding {
	return []servedEncoding{
		{name: "utf-8", charset: encoding.Nop}, {name: "utf-8 with BOM", charset: unicode.UTF8BOM},
		{name: "utf-16le", charset: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}, {name: "utf-16be", charset: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
		{name: "utf-16le with BOM", charset: unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)}, {name: "utf-16be with BOM", charset: unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
		{name: "utf-32le", charset: utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)}, {name: "utf-32be", charset: utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
		{name: "utf-32le with BOM", charset: utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)},
	}
}

// encodingSamples returns the texts of a half in all encodings of their languages.
func encodingSamples(ctx context.Context, half string) ([]encodingSample, error) {
	data, err := encodingTexts.ReadFile("encodings/" + half + ".txtar")
	if err != nil {
		return nil, err
	}
	var samples []encodingSample
	forms := unicodeForms()
	for i, f := range txtar.Parse(data).Files {
		text := string(f.Data)
		if n := len([]rune(text)); n < 300 {
			return nil, fmt.Errorf("%s of the %s half has %d characters, want 300", f.Name, half, n)
		}
		for _, e := range []servedEncoding{forms[i%len(forms)], forms[(i+4)%len(forms)]} {
			data, err := e.charset.NewEncoder().Bytes(f.Data)
			if err != nil {
				return nil, fmt.Errorf("%s in %s: %w", f.Name, e.name, err)
			}
			samples = append(samples, encodingSample{f.Name, e.name, data, text})
		}
		for _, e := range servedEncodings() {
			if !strings.Contains(" "+e.languages+" ", " "+f.Name+" ") {
				continue
			}
			s, ok, err := e.sample(ctx, f.Name, text)
			if err != nil {
				return nil, err
			}
			if ok {
				samples = append(samples, s)
			}
		}
	}
	return samples, nil
}

// plainer has signs and letters that older encodings lack as people wrote them there.
var plainer = strings.NewReplacer("„", `"`, "“", `"`, "”", `"`, "«", `"`, "»", `"`, "’", "'", "‘", "'", "–", "-", "—", "-", "ș", "ş", "ț", "ţ", "Ș", "Ş", "Ț", "Ţ", "\u200c", "")

// sample encodes a text; ok is false if the encoding lacks letters of it.
func (e servedEncoding) sample(ctx context.Context, language, text string) (s encodingSample, ok bool, err error) {
	if e.charset == nil {
		cmd := exec.CommandContext(ctx, "iconv", "-f", "UTF-8", "-t", e.name)
		cmd.Stdin = strings.NewReader(text)
		data, err := cmd.Output()
		if err != nil {
			return s, false, fmt.Errorf("%s by iconv: %w", e.name, err)
		}
		return encodingSample{language, e.name, data, ""}, true, nil
	}
	if e.name == "windows-1258" {
		text = tonesApart(text)
	}
	for _, t := range []string{text, plainer.Replace(text)} {
		data, err := e.charset.NewEncoder().Bytes([]byte(t))
		if err != nil || bytes.ContainsRune(data, '\x1a') {
			continue
		}
		if back, err := e.charset.NewDecoder().Bytes(data); err == nil && string(back) == t {
			return encodingSample{language, e.name, data, t}, true, nil
		}
	}
	return s, false, nil
}

// tonesApart takes the tones from the letters, as windows-1258 has them.
func tonesApart(text string) string {
	var b strings.Builder
	for _, r := range text {
		base, tone := "", ""
		for _, c := range norm.NFD.String(string(r)) {
			if strings.ContainsRune("\u0300\u0301\u0303\u0309\u0323", c) {
				tone += string(c)
			} else {
				base += string(c)
			}
		}
		b.WriteString(norm.NFC.String(base) + tone)
	}
	return b.String()
}
