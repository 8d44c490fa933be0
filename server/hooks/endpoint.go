package hooks

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"toolcrib/tools/outbound"
)

// endpoint is a hook that is an address. Redirects are not followed: where the
// call goes, the configuration says.
type endpoint struct {
	url    string
	header http.Header
	client *outbound.Client
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
	if e.client, err = outbound.To(e.url); err != nil {
		return nil, err
	}
	return e, nil
}

// ask implements external.
func (e *endpoint) ask(ctx context.Context, input []byte) ([]byte, error) {
	res, err := e.client.Do(ctx, outbound.Request{
		Method: http.MethodPost, URL: e.url, Header: e.header, Body: input,
		MaxBytes: maxAnswer, Timeout: -1, Redirects: -1,
	})
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.Status != http.StatusOK && res.Status != http.StatusNoContent {
		return nil, fmt.Errorf("the address answered %d %s", res.Status, http.StatusText(res.Status))
	}
	return io.ReadAll(res.Body)
}
