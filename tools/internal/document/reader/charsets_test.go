package reader_test

import (
	"strings"
	"testing"

	"toolcrib/tools/internal/text/textfile"
)

// Texts in the encodings that users of converters name.
func TestCharsets(t *testing.T) {
	const chinese = "姓名,城市,备注\n王小明,北京,这是一个用来检测编码的句子\n李雷,上海,数据文件经常使用这种编码\n"
	const japanese = "名前,都市,備考\n山田太郎,東京,これは文字コードを判定するための文です\n鈴木一郎,大阪,データファイルでよく使われます\n"
	const russian = "имя,город,заметка\nИван,Москва,это предложение для проверки кодировки\nАнна,Казань,файлы часто бывают такими\n"
	for _, c := range []struct{ name, encoding, text, want string }{
		{"a.csv", "gb18030", chinese, "| 王小明 | 北京 |"},
		{"a.csv", "shift_jis", japanese, "| 山田太郎 | 東京 |"},
		{"a.csv", "windows-1251", russian, "| Иван | Москва |"},
		{"a.csv", "utf-16le", "\uFEFF" + chinese, "| 王小明 | 北京 |"},
		{"a.html", "gb18030", `<html><meta charset="gb2312"><p>` + chinese, "王小明,北京"},
		{"a.html", "euc-jp", `<html><meta http-equiv="Content-Type" content="text/html; charset=euc-jp"><p>` + japanese, "山田太郎,東京"},
		{"a.xml", "iso-8859-2", `<?xml version="1.0" encoding="iso-8859-2"?><x>Zażółć gęślą</x>`, "Zażółć gęślą"},
		{"a.eml", "utf-8", "From: a\nTo: b\nSubject: =?gb2312?B?zfXQocP3?=\n\ntext", "# 王小明"},
	} {
		t.Run(c.name+" "+c.encoding, func(t *testing.T) {
			encoding, ok := textfile.Lookup(c.encoding)
			if !ok {
				t.Fatal("no such encoding")
			}
			data, err := encoding.Encode(c.text)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := read(t, bomb{name: c.name, data: data}.source())
			if err != nil {
				t.Fatal(err)
			}
			if got := doc.Markdown(); !strings.Contains(got, c.want) {
				t.Errorf("no %q in %s", c.want, got)
			}
		})
	}
}
