package hooks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// endpoint is a hook that is an address. Redirects are not followed: where the
// call goes, the configuration says.
type endpoint struct {
	url    string
	header http.Header
	client *http.Client
}

func newEndpoint(address string, header map[string]string) (*endpoint, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is no address: %w", err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q is neither http nor https", u.Scheme)
	case u.Host == "":
		return nil, fmt.Errorf("it names no host")
	case u.User != nil:
		return nil, fmt.Errorf("it holds credentials; put them into header, such as Authorization")
	}
	e := &endpoint{url: u.String(), header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}}
	for name, value := range header {
		e.header.Set(name, value)
	}
	e.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return e, nil
}

// ask implements external.
func (e *endpoint) ask(ctx context.Context, input []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(input))
	if err != nil {
		return nil, err
	}
	req.Header = e.header.Clone()
	res, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusNoContent {
		return nil, fmt.Errorf("the address answered %s", res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("the address answered more than %d bytes", maxAnswer)
	}
	return data, nil
}
