package documents

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/documents/internal/passage"
	"toolcrib/tools/internal/inner"
	"toolcrib/tools/internal/lexical"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/outbound"
)

// pageTool reads pages. Its calls are judged, recorded and bounded as those of a client are,
// and it keeps what it has read.
const pageTool = "web_fetch"

// Limits of what is read of one address.
const (
	partChars = 45_000
	mostParts = 40
)

// ofWeb reports whether an entry is an address.
func ofWeb(entry string) bool {
	return strings.HasPrefix(entry, "http://") || strings.HasPrefix(entry, "https://")
}

// withoutSecrets returns the name of a document for results: that of an address without secrets.
func withoutSecrets(name string) string {
	if ofWeb(name) {
		return outbound.Shown(name)
	}
	return name
}

// web adds what is at addresses to a collection and its contents. A further page of a result
// is of what the page before was found in.
func (d *deps) web(ctx context.Context, x *index.Index, c *collection, all *contents, urls []string, further bool) error {
	known, err := x.Files(ctx, urls...)
	if err != nil {
		return err
	}
	stale := slices.DeleteFunc(slices.Clone(urls), func(url string) bool { return further && known[url].Modified > 0 })
	if err := d.mayRead(ctx, stale); err != nil {
		return err
	}
	var mu sync.Mutex
	var readings []index.Reading
	failed := map[string]bool{}
	g, group := tools.NewGroup(ctx, 4)
	for _, url := range stale {
		g.Go(func() error {
			one, err := d.page(group, x, url)
			if group.Err() != nil {
				return group.Err()
			}
			if _, asked := errors.AsType[*tools.PendingAsk](err); asked { // about the only one
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed[url] = true
				c.notRead(url, tools.AsError(err).Msg)
				return nil
			}
			readings = append(readings, one)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if len(readings) > 0 {
		if err := x.Put(ctx, readings); err != nil {
			return err
		}
	}
	if known, err = x.Files(ctx, urls...); err != nil {
		return err
	}
	all.documents += len(urls)
	for _, url := range urls {
		if f, ok := known[url]; ok && !failed[url] {
			all.add(c, url, f)
		}
	}
	return nil
}

// mayRead has the user asked about all addresses at once, where the policy wants that.
func (d *deps) mayRead(ctx context.Context, urls []string) error {
	if d.caller == nil || len(urls) == 0 {
		return nil
	}
	specs := make([]tools.CallSpec, len(urls))
	for i, url := range urls {
		args, err := pageArgs(url, nil)
		if err != nil {
			return err
		}
		specs[i] = tools.CallSpec{Name: pageTool, Args: args}
	}
	_, err := d.caller.Preflight(ctx, specs)
	return err
}

// page reads what is at an address.
func (d *deps) page(ctx context.Context, x *index.Index, url string) (index.Reading, error) {
	text, err := d.pageText(ctx, url)
	if err != nil {
		return index.Reading{}, err
	}
	sum := sha256.Sum256([]byte(text))
	one := index.Reading{Path: url, Size: int64(len(text)), Modified: time.Now().UnixNano(), Key: index.Key(sum[:], ".web")}
	if has, err := x.Has(ctx, one.Key); has || err != nil {
		return one, err
	}
	one.Parsed, one.Passages = true, passage.OfLines(text, true)
	var t lexical.Tokenizer
	for i := range one.Passages {
		p := &one.Passages[i]
		if lines := strings.Contains(p.Place, "-"); lines { // of the text that the page became
			p.Place = "lines " + p.Place
		} else {
			p.Place = "line " + p.Place
		}
		one.Words = append(one.Words, index.Words(&t, p))
	}
	return one, nil
}

// pageText returns the text of a page, in all its parts.
func (d *deps) pageText(ctx context.Context, url string) (string, error) {
	if d.caller == nil {
		return "", tools.Errorf(tools.Unsupported, "no tool reads pages here")
	}
	var b strings.Builder
	var next map[string]any
	for range mostParts {
		args, err := pageArgs(url, next)
		if err != nil {
			return "", err
		}
		result, err := d.caller.Call(ctx, pageTool, args)
		if err != nil {
			return "", err
		}
		_, body, _ := strings.Cut(inner.Text(result), "\n\n") // above are a status and what is said of the page
		b.WriteString(body)
		var more bool
		if next, more = result.Meta[tools.MetaNext].(map[string]any); !more {
			return b.String(), nil
		}
	}
	return "", tools.Errorf(tools.TooLarge, "it has more than %s", textfile.Count(utf8.RuneCountInString(b.String()), "character"))
}

// pageArgs returns the arguments of a call for a part of a page; next are those that differ
// from the ones for the first part.
func pageArgs(url string, next map[string]any) (json.RawMessage, error) {
	args := map[string]any{"url": url, "limit": partChars}
	maps.Copy(args, next)
	return json.Marshal(args)
}

// divided returns the entries that are addresses, without repetition, and the others.
func divided(paths, urls []string) (rest, web []string) {
	for _, entry := range slices.Concat(urls, paths) {
		switch {
		case !ofWeb(entry) && !slices.Contains(urls, entry):
			rest = append(rest, entry)
		case !slices.Contains(web, entry):
			web = append(web, entry)
		}
	}
	return rest, web
}
