package agents

import (
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
)

// Trim makes the results fit together: a result that is longer than its fair share is cut as its
// own tool cuts it.
func (o ParallelCallsOut) Trim(budget int) ParallelCallsOut {
	for _, b := range (ParallelCallsOut{calls: bare(o.calls), took: o.took}).Content() {
		budget -= len(b.Text)
	}
	sizes := make([]int, len(o.calls))
	for i, c := range o.calls {
		sizes[i] = textSize(c.result)
	}
	share := fairShare(sizes, budget)
	cut := make([]*call, len(o.calls))
	for i, c := range o.calls {
		copied := *c
		if sizes[i] > share {
			copied.result = fitted(c.result, share)
		}
		cut[i] = &copied
	}
	for i, c := range o.calls { // to the copies
		if c.same != nil {
			cut[i].same = cut[slices.Index(o.calls, c.same)]
		}
	}
	return ParallelCallsOut{calls: cut, took: o.took}
}

// bare returns the calls without their results.
func bare(calls []*call) []*call {
	list := make([]*call, len(calls))
	for i, c := range calls {
		copied := *c
		copied.result = tools.Result{}
		list[i] = &copied
	}
	for i, c := range calls {
		if c.same != nil {
			list[i].same = list[slices.Index(calls, c.same)]
		}
	}
	return list
}

// textSize returns the bytes of text of a result, with the line end that it may get.
func textSize(r tools.Result) (n int) {
	for _, b := range r.Content {
		n += len(b.Text) + 1
	}
	return n
}

// fairShare returns the most bytes of each of several sizes so that they fit into a budget: what
// the small ones leave is divided among the large ones.
func fairShare(sizes []int, budget int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, size := range sorted {
		share := budget / (len(sorted) - i)
		if size > share {
			return max(share, 0)
		}
		budget -= size
	}
	return budget
}

// fitted returns a result with at most limit bytes of text.
func fitted(r tools.Result, limit int) tools.Result {
	if r.Fit != nil {
		if small, err := r.Fit(limit - len(r.Content)); err == nil && textSize(small) <= limit {
			small.Structured = r.Structured
			return small
		}
	}
	mark := fmt.Sprintf("[cut: %d bytes in all; make this call by itself]", textSize(r))
	room := max(limit-len(mark)-2, 0)
	kept := r.Content[:0:0]
	for _, b := range r.Content {
		if b.Kind != tools.TextBlock {
			if len(b.Text) <= room {
				kept, room = append(kept, b), room-len(b.Text)
			}
			continue
		}
		b.Text = strings.ToValidUTF8(b.Text[:min(len(b.Text), room)], "")
		room -= len(b.Text)
		kept = append(kept, b)
	}
	kept = append(kept, tools.Text(mark))
	r.Content = kept
	return r
}
