// Package lookup asks search services of the web, each in its own dialect, and merges what
// they find.
//
// A [Backend] makes the request of one service and reads its answer. The state of each
// service is part of the result, so that "nothing found", "refused", "challenged" and "not
// reached" stay apart. Start at [Search]; merge.go has how hits of several services become
// one list, outcome.go what an answer that is no list of hits means.
//
// The package sends nothing by itself: requests go through an [Ask]. It imports nothing of
// the project.
package lookup

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Query is what to look for. Zero fields do not restrict.
type Query struct {
	Text             string
	Limit            int      // hits wanted, at least 1
	Page             int      // from 1
	Freshness        string   // day, week, month or year
	Language         string   // ISO 639-1, such as de
	Region           string   // ISO 3166-1, such as DE
	Include, Exclude []string // domains, with all below them
}

// Hit is one result.
type Hit struct {
	Title, URL, Snippet string
	Date                string   // as a date if the service tells one, else its own text
	Backends            []string // names of the services that found it
	Image               Image    // zero for pages
}

// Image is what a hit of an image search has besides the page it is on.
type Image struct {
	URL, Thumbnail string
	Width, Height  int
	License        string
	Creator        string
}

// State is how one service did.
type State struct {
	Backend string
	Outcome Outcome
	Say     string // what the outcome means here and what to do; may be empty
	Hits    int
}

// Answer is a response of a service with its whole body.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Ask sends a request and returns the answer. Its errors are shown to the model.
type Ask func(ctx context.Context, req *http.Request) (Answer, error)

// Backend is one service.
type Backend struct {
	Name string
	// Last says to ask the service only if no other one has found anything.
	Last bool
	// Ignores names the parts of a query that the service cannot honour: language, region,
	// freshness.
	Ignores []string

	before  func(ctx context.Context, ask Ask, q *Query) error // nil = nothing is to be asked before
	request func(q Query) (*http.Request, error)
	read    func(a Answer) ([]Hit, error)
	pause   *pause // nil = may be asked at any time
	paged   bool   // it has no pages: the answer holds those before the wanted one too
}

const (
	// eachWait is how long one service may take, othersWait how long the others are waited for
	// once one has found something.
	eachWait   = 6 * time.Second
	othersWait = 2 * time.Second
)

// Search asks all backends at once and merges their hits. The states have the order of the
// backends.
func Search(ctx context.Context, ask Ask, backends []Backend, q Query) ([]Hit, []State) {
	first := slices.DeleteFunc(slices.Clone(backends), func(b Backend) bool { return b.Last })
	last := slices.DeleteFunc(slices.Clone(backends), func(b Backend) bool { return !b.Last })
	if len(first) == 0 {
		first, last = last, nil
	}
	found, states := round(ctx, ask, first, q)
	if len(found) == 0 && len(last) > 0 && ctx.Err() == nil {
		var more []State
		found, more = round(ctx, ask, last, q)
		states = append(states, more...)
	}
	order := func(s State) int {
		return slices.IndexFunc(backends, func(b Backend) bool { return b.Name == s.Backend })
	}
	slices.SortStableFunc(states, func(a, b State) int { return cmp.Compare(order(a), order(b)) })
	return found, states
}

// round asks the backends at once.
func round(ctx context.Context, ask Ask, backends []Backend, q Query) ([]Hit, []State) {
	type reply struct {
		at    int
		hits  []Hit
		state State
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	replies := make(chan reply, len(backends))
	for i, b := range backends {
		go func() {
			hits, state := b.ask(ctx, ask, q)
			replies <- reply{i, hits, state}
		}()
	}
	lists, states := make([][]Hit, len(backends)), make([]State, len(backends))
	for i, b := range backends {
		states[i] = State{Backend: b.Name, Outcome: Slow, Say: "left out: it had not answered " + othersWait.String() + " after the others"}
	}
	var late <-chan time.Time
	for range backends {
		select {
		case r := <-replies:
			lists[r.at], states[r.at] = r.hits, r.state
			if late == nil && len(r.hits) > 0 {
				late = time.After(othersWait)
			}
			continue
		case <-late:
		}
		break
	}
	return merge(lists, q.Limit), states
}

// ask asks one service. It always returns, with a state.
func (b Backend) ask(ctx context.Context, ask Ask, q Query) ([]Hit, State) {
	hits, err := b.hits(ctx, ask, q)
	if err == nil {
		hits = slices.DeleteFunc(hits, func(h Hit) bool { return !q.admits(h.URL) })
		for i := range hits {
			hits[i].Backends = []string{b.Name}
		}
		if len(hits) > 0 {
			return hits, State{Backend: b.Name, Outcome: Fine, Say: b.ignored(q), Hits: len(hits)}
		}
		err = &problem{Empty, ""}
	}
	state := stateOf(err)
	state.Backend = b.Name
	return nil, state
}

func (b Backend) hits(ctx context.Context, ask Ask, q Query) ([]Hit, error) {
	if err := b.pause.begin(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, eachWait, &problem{Slow, "no answer in " + eachWait.String()})
	defer cancel()
	if b.before != nil {
		if err := b.before(ctx, ask, &q); err != nil {
			return nil, err
		}
	}
	req, err := b.request(q)
	if err != nil {
		return nil, err
	}
	a, err := ask(ctx, req.WithContext(ctx))
	if err != nil {
		b.pause.forget()
		return nil, cmp.Or(slow(ctx), err)
	}
	hits, err := b.read(a)
	b.pause.note(err)
	if b.paged {
		hits = q.page(hits)
	}
	return hits, err
}

// ignored says which parts of the query the service does not know.
func (b Backend) ignored(q Query) string {
	asked := map[string]bool{"language": q.Language != "", "region": q.Region != "", "freshness": q.Freshness != ""}
	parts := slices.DeleteFunc(slices.Clone(b.Ignores), func(part string) bool { return !asked[part] })
	if len(parts) == 0 {
		return ""
	}
	return "ignores " + strings.Join(parts, ", ")
}
