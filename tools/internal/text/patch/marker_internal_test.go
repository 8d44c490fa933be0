package patch

import (
	"regexp"
	"testing"
)

// FuzzMarker compares the reading of markers with the expression that says what they are.
func FuzzMarker(f *testing.F) {
	for _, seed := range []string{
		"*** Begin Patch", " ***\tEND patch *** ')]} ", "*** End of File***", "*** End Patch x", "***Add File: a/b ***", "*** Update File :x***", "*** Move to: ***",
		"*** move to:  \"a b\"  *** \t", "**** Add File: x", "*** Delete File x", "*** Environment ID: 7", "*** Add File:", "*** Add File: \xff", "*** end  patch", "***", "*** Add File: x\r",
		"*** Move to: a *** ***", "*** Move to: a\v***",
	} {
		f.Add(seed)
	}
	rule := regexp.MustCompile(`(?i)^[ \t]*\*{3}[ \t]*(?:` +
		`(begin patch|end patch|end of file)[ \t]*(?:\*{3})?["')\]}]*` +
		`|(add file|update file|delete file|move to|environment id)[ \t]*:[ \t]*((?s).*?)(?:[ \t]+\*{3})?)[ \t]*$`)
	f.Fuzz(func(t *testing.T, text string) {
		want, wanted := notMarker, ""
		if found := rule.FindStringSubmatch(text); found != nil {
			want, wanted = markerNamed(found[1]+found[2]), unquote(found[3])
		}
		if m, path := markerOf(text); m != want || path != wanted {
			t.Errorf("%q is %d %q, want %d %q", text, m, path, want, wanted)
		}
	})
}
