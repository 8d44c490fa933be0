package prose_test

import (
	"strings"
	"testing"

	"toolcrib/tools/internal/text/textfile/internal/prose"
)

func TestFit(t *testing.T) {
	texts := map[string]string{
		"ru": "Утром мы пошли на рынок и купили свежей рыбы.", "el": "Το πρωί πήγαμε στην αγορά και πήραμε ψάρι.",
		"pl": "Rano poszliśmy na targ i kupiliśmy świeżą rybę.", "de": "Am Morgen gingen wir über die Straße zum Markt und kauften dort schöne Äpfel für Mutter.",
		"tr": "Sabah erkenden çarşıya gittik ve taze balık aldık, güneş doğuyordu.", "zh-hans": "早上我们去市场买了新鲜的鱼。", "ja": "朝、市場へ行って新しい魚を買いました。",
	}
	for language, text := range texts {
		fit := prose.Of(language).Fit(prose.OfRunes([]byte(text)))
		if !fit.Typical() {
			t.Errorf("%s: not typical of its language: %+v", language, fit)
		}
		for other := range texts {
			if f := prose.Of(other).Fit(prose.OfRunes([]byte(text))); other != language && (f.Bits <= fit.Bits || f.Typical()) {
				t.Errorf("%s reads as %s: %+v, in itself %+v", language, other, f, fit)
			}
		}
		if f := prose.Of(language).Fit(prose.OfRunes([]byte(strings.ReplaceAll(text, " ", "\u0085")))); strings.Contains(text, " ") && f.Typical() {
			t.Errorf("%s: control characters are typical", language)
		}
	}
	if fit := prose.Of("ru").Fit(prose.OfRunes([]byte("Да"))); fit.Typical() {
		t.Error("two letters are typical of a language")
	}
}

// Bytes read the same as the characters that they are.
func TestOfBytes(t *testing.T) {
	text := []byte("plain \xe9\xe8 words\n")
	runes := prose.OfRunes([]byte("plain éè words\n"))
	bytes := prose.OfBytes(text).Read(func(c byte) rune { return rune(c) })
	if a, b := prose.Of("fr").Fit(bytes), prose.Of("fr").Fit(runes); a != b {
		t.Errorf("%+v, want %+v", a, b)
	}
}
