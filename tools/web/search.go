package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/outbound"
	"toolcrib/tools/web/internal/lookup"
)

// backends returns the services for pages, or those for images, by name. They last until
// the settings change, since DuckDuckGo's remembers when it was asked.
func (e *engine) backends(images bool) map[string]lookup.Backend {
	set := e.settings.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pages == nil {
		e.pages, e.pictures = set.pages(), set.pictures()
	}
	if images {
		return e.pictures
	}
	return e.pages
}

// order is the order in which the states of services are listed, and in which equal hits
// are ranked.
var order = []string{"brave", "exa", "serper", "tavily", "serpapi", "searxng", "openverse", "commons", "duckduckgo"}

// choose returns the services to ask: those that the call names, else those of the
// configuration, else all.
func choose(have map[string]lookup.Backend, called, configured []string) ([]lookup.Backend, error) {
	named := called
	if len(named) == 0 {
		named = configured
	}
	for _, name := range named {
		if _, ok := have[name]; !ok {
			return nil, tools.Errorf(tools.Unavailable, "%s is not configured: %s", name, wants[name]).
				WithHint("configured: %s", strings.Join(slices.Sorted(maps.Keys(have)), ", "))
		}
	}
	var list []lookup.Backend
	for _, name := range order {
		b, ok := have[name]
		switch {
		case !ok, len(named) > 0 && !slices.Contains(named, name):
			continue
		case len(called) > 0:
			b.Last = false // it is wanted
		}
		list = append(list, b)
	}
	return list, nil
}

const (
	mostAnswer = 4 << 20 // bytes that a service may answer
	answerTime = 15 * time.Second
)

// ask sends a request of a service. It implements [lookup.Ask].
func (e *engine) ask(ctx context.Context, req *http.Request) (lookup.Answer, error) {
	r := outbound.Request{Method: req.Method, URL: req.URL.String(), Header: req.Header, MaxBytes: mostAnswer, Timeout: answerTime, Tries: 1}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return lookup.Answer{}, err
		}
		r.Body = body
	}
	res, err := e.services.Do(ctx, r)
	if err != nil {
		return lookup.Answer{}, errors.New(plain(err).Msg)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return lookup.Answer{}, errors.New(plain(err).Msg)
	}
	return lookup.Answer{Status: res.Status, Header: res.Header, Body: body}, nil
}

// search asks services, or returns what they have answered before. It is an error if none of
// them could look.
func (e *engine) search(ctx context.Context, what string, list []lookup.Backend, q lookup.Query) (Found, error) {
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = b.Name
	}
	out := Found{Query: q.Text, Page: q.Page}
	key, err := json.Marshal([]any{what, names, q})
	if err != nil {
		return out, err
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if old, ok := e.answers.get(string(key)); ok {
		out.Hits, out.States, out.Age = slices.Clone(old.hits), old.states, max(time.Since(old.at), time.Second)
		return out, nil
	}
	now := answered{key: string(key), at: time.Now()}
	now.hits, now.states = lookup.Search(ctx, e.ask, list, q)
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case len(now.hits) > 0:
		e.answers.put(now)
	case !slices.ContainsFunc(now.states, func(s lookup.State) bool { return s.Outcome == lookup.Empty }):
		return out, tools.Errorf(tools.Unavailable, "no service could search: %s", stateLine(now.states)).
			WithHint("%s", wayOut(names))
	}
	out.Hits, out.States = slices.Clone(now.hits), now.states
	return out, nil
}

// keys says how more services for pages can be asked.
const keys = "set BRAVE_API_KEY, TAVILY_API_KEY, EXA_API_KEY, SERPER_API_KEY or SEARXNG_URL"

// wayOut says what to do if no service could search.
func wayOut(asked []string) string {
	if slices.Equal(asked, []string{"duckduckgo"}) {
		return "try again in some minutes, or let the user configure another service: " + keys + " for the server"
	}
	return "toolcrib doctor lists the services; try again later, or name others as backends"
}

// stateLine lists how the services did.
func stateLine(states []lookup.State) string {
	parts := make([]string, len(states))
	for i, s := range states {
		parts[i] = s.Backend + ": " + string(s.Outcome)
		if s.Hits > 0 {
			parts[i] += fmt.Sprintf(", %d", s.Hits)
		}
		if s.Say != "" {
			parts[i] += " (" + s.Say + ")"
		}
	}
	return strings.Join(parts, "; ")
}

// Found is what services have found.
type Found struct {
	Query  string
	Hits   []lookup.Hit
	States []lookup.State
	Page   int
	Age    time.Duration // 0 = the services were asked now
	Cut    int           // hits left out by Trim
}

// Text implements [tools.Texter].
func (o Found) Text() string {
	var b strings.Builder
	if len(o.Hits) == 0 {
		fmt.Fprintf(&b, "no results for %q", o.Query)
		if o.Page > 1 {
			fmt.Fprintf(&b, " on page %d", o.Page)
		}
		b.WriteByte('\n')
	} else {
		fmt.Fprintf(&b, "%s for %q (%s)", textfile.Count(len(o.Hits), "result"), o.Query, outside)
		if o.Age > 0 {
			fmt.Fprintf(&b, ", of %s ago", o.Age.Round(time.Second))
		}
		if o.Cut > 0 {
			fmt.Fprintf(&b, "; %d more left out, ask with limit=%d", o.Cut, len(o.Hits))
		}
		b.WriteByte('\n')
	}
	for i, h := range o.Hits {
		fmt.Fprintf(&b, "\n%d. %s", i+1, cmp.Or(h.Title, "(no title)"))
		if h.Date != "" {
			b.WriteString(", " + h.Date)
		}
		b.WriteString("\n" + h.URL + "\n")
		if h.Snippet != "" {
			b.WriteString(h.Snippet + "\n")
		}
	}
	b.WriteString("\n" + stateLine(o.States))
	return b.String()
}

// Trim implements [tools.Trimmer]: the last results go first.
func (o Found) Trim(budget int) Found {
	for len(o.Hits) > 1 && len(o.Text()) > budget {
		o.Hits = o.Hits[:len(o.Hits)-1]
		o.Cut++
	}
	return o
}

// answers keeps what services have found, for a while: a model often searches again for what
// it has searched before.
type answers struct {
	mu   sync.Mutex
	list []answered // the newest last
}

type answered struct {
	key    string
	at     time.Time
	hits   []lookup.Hit
	states []lookup.State
}

const (
	answersTime = 10 * time.Minute
	mostAnswers = 64
)

func (a *answers) get(key string) (answered, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = slices.DeleteFunc(a.list, func(old answered) bool { return time.Since(old.at) > answersTime })
	i := slices.IndexFunc(a.list, func(old answered) bool { return old.key == key })
	if i < 0 {
		return answered{}, false
	}
	return a.list[i], true
}

func (a *answers) put(next answered) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.list = append(a.list, next); len(a.list) > mostAnswers {
		a.list = slices.Delete(a.list, 0, 1)
	}
}
