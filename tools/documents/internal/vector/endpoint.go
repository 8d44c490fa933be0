package vector

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
)

// Limits of one request, and of its answer.
const (
	usualBatch = 64
	batchBytes = 200_000
	textBytes  = 24_000 // of one text: about what the models take
	leastBytes = 200    // a text that is too long even so is no text
	mostBytes  = 64 << 20
	longest    = time.Minute // with all tries
	tries      = 4
)

// Endpoint asks a service for embeddings, such as https://api.openai.com/v1/embeddings.
type Endpoint struct {
	Client     *outbound.Client
	URL        string // of its directory, such as https://api.openai.com/v1, or whole
	Model      string
	Key        string // "" = it wants none
	Dimensions int    // to ask for; 0 = those that the model has
	Most       int    // texts in a request; 0 = 64
}

// Name implements [Model].
func (e *Endpoint) Name() string {
	host := e.URL
	if u, err := url.Parse(e.URL); err == nil {
		host = u.Host + u.Path
	}
	return fmt.Sprintf("%s of %s, %d", e.Model, host, e.Dimensions)
}

// Batch implements [Model].
func (e *Endpoint) Batch(texts []string) int {
	most := e.Most
	if most <= 0 {
		most = usualBatch
	}
	n, size := 0, 0
	for n < min(len(texts), most) {
		if size += min(len(texts[n]), textBytes); size > batchBytes && n > 0 {
			break
		}
		n++
	}
	return n
}

// Vectors implements [Model]. Texts that the endpoint finds too many or too long are sent in
// halves.
func (e *Endpoint) Vectors(ctx context.Context, texts []string) (all [][]int8, err error) {
	for len(texts) > 0 {
		n := e.Batch(texts)
		some, err := e.halves(ctx, texts[:n])
		all = append(all, packed(some)...)
		if err != nil {
			return all, err
		}
		texts = texts[n:]
	}
	for _, v := range all {
		if len(v) != len(all[0]) {
			return nil, e.wrong("vectors of %d and of %d numbers in one answer", len(all[0]), len(v))
		}
	}
	return all, nil
}

func (e *Endpoint) halves(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, tooLarge, err := e.ask(ctx, texts)
	switch {
	case err == nil || !tooLarge || ctx.Err() != nil:
		return vectors, err
	case len(texts) > 1:
		first, err := e.halves(ctx, texts[:len(texts)/2])
		if err != nil {
			return first, err
		}
		rest, err := e.halves(ctx, texts[len(texts)/2:])
		return append(first, rest...), err
	case len(texts[0]) > leastBytes:
		return e.halves(ctx, []string{clip(texts[0], min(len(texts[0]), textBytes)/2)})
	}
	return nil, err
}

// ask makes one request. tooLarge reports whether less of the texts may be accepted.
func (e *Endpoint) ask(ctx context.Context, texts []string) (vectors [][]float32, tooLarge bool, err error) {
	input := make([]string, len(texts))
	for i, text := range texts {
		if input[i] = clip(text, textBytes); strings.TrimSpace(input[i]) == "" {
			input[i] = "." // an empty text is an error at some
		}
	}
	body := map[string]any{"model": e.Model, "input": input, "encoding_format": "float"}
	if e.Dimensions > 0 {
		body["dimensions"] = e.Dimensions
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, false, err
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	if e.Key != "" {
		header.Set("Authorization", "Bearer "+e.Key)
	}
	address := strings.TrimSuffix(e.URL, "/")
	if !strings.HasSuffix(address, "/embeddings") {
		address += "/embeddings"
	}
	res, err := e.Client.Do(ctx, outbound.Request{
		Method: http.MethodPost, URL: address, Header: header, Body: data,
		MaxBytes: mostBytes, Timeout: longest, Tries: tries, Redirects: -1,
	})
	if err != nil {
		return nil, false, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, false, err
	}
	if res.Status != http.StatusOK {
		tooLarge = res.Status == http.StatusBadRequest || res.Status == http.StatusRequestEntityTooLarge || res.Status == http.StatusUnprocessableEntity
		return nil, tooLarge, e.refused(res.Status, answer)
	}
	vectors, err = e.read(answer, len(texts))
	return vectors, false, err
}

// read reads an answer, which must have a vector of each text.
func (e *Endpoint) read(answer []byte, texts int) ([][]float32, error) {
	var got struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, e.wrong("no JSON with embeddings: %s", clip(strings.ToValidUTF8(string(answer), "?"), 200))
	}
	vectors := make([][]float32, texts)
	found := 0
	for at, d := range got.Data {
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= texts || vectors[at] != nil {
			return nil, e.wrong("a vector of text %d, of %d texts", at+1, texts)
		}
		length := 0.0
		for _, v := range d.Embedding {
			length += float64(v) * float64(v)
		}
		if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
			return nil, e.wrong("a vector without a direction")
		}
		vectors[at] = d.Embedding
		found++
	}
	if found < texts {
		return nil, e.wrong("vectors of %d of %d texts", found, texts)
	}
	return vectors, nil
}

// refused returns the error of an answer that is none.
func (e *Endpoint) refused(status int, answer []byte) error {
	say := fmt.Sprintf("the endpoint of embeddings answers HTTP %d %s", status, http.StatusText(status))
	var got struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(answer, &got) == nil && got.Error != nil {
		var of struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(got.Error, &of) != nil {
			_ = json.Unmarshal(got.Error, &of.Message) // some send a text alone
		}
		if of.Message != "" {
			say += ": " + clip(of.Message, 300)
		}
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return tools.Errorf(tools.Denied, "%s", say).WithHint("the user can set TOOLCRIB_EMBEDDING_TOKEN")
	case http.StatusNotFound:
		return tools.Errorf(tools.NotFound, "%s", say).WithHint("the user can correct documents.embeddings or documents.model of the configuration")
	}
	return tools.Errorf(tools.Unavailable, "%s", say)
}

func (e *Endpoint) wrong(format string, args ...any) error {
	return tools.Errorf(tools.Unavailable, "the endpoint of embeddings answers with %s", fmt.Sprintf(format, args...))
}

// clip returns the start of a text, of at most so many bytes and of whole characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
