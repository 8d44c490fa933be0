package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// However many categories there are, the text stays within its limit: those that do not
// fit are named, with the way to them.
func TestGuidesFit(t *testing.T) {
	list := categories()
	for i := range 16 {
		id := fmt.Sprintf("more%d", i)
		list = append(list, tools.Category{ID: id, Guide: strings.Repeat(id+" does much, ", 10) + "and more", Tools: []tools.Tool{{Name: id, Category: id}}})
	}
	enabled := catalog.Tools(list)
	const limit = 1500
	text := catalog.Guides(list, enabled, enabled, true, limit)
	lines := strings.Split(text, "\n")
	last := lines[len(lines)-1]
	if len(text) > limit || !strings.HasPrefix(last, "more tools: ") || !strings.HasSuffix(last, ", more15; search_tools finds them by what they do.") {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
	for _, c := range list {
		if len(c.Tools) > 0 && strings.Count(text, "\n"+c.ID+": ")+strings.Count("\n"+text, "\n"+c.ID+": ") == 0 && !strings.Contains(last, c.ID) {
			t.Errorf("%s is not named:\n%s", c.ID, text)
		}
	}
	direct := slices.DeleteFunc(slices.Clone(enabled), func(t tools.Tool) bool { return t.Category == "bridge" })
	without := catalog.Guides(list, direct, direct, true, limit)
	if strings.Contains(without, "search_tools") || !strings.Contains(without, "more tools: ") {
		t.Errorf("without search_tools:\n%s", without)
	}
}

// What outlasts the client is told of where the tool that shows it can be called.
func TestGuidesOutlasting(t *testing.T) {
	list := categories()
	all := catalog.Tools(list)
	const clause = "job_list shows those of before"
	if got := catalog.Guides(list, all, all, true, 5000); !strings.Contains(got, clause) {
		t.Errorf("got\n%s", got)
	}
	if got := catalog.Guides(list, all, all, false, 5000); strings.Contains(got, clause) {
		t.Errorf("got\n%s", got)
	}
}
