package run_test

import "testing"

func TestWebCrawlOnReadOnly(t *testing.T) {
	onReadOnly(t, "web_crawl", map[string]string{
		`{"urls":["http://10.0.0.1/"]}`: unreachable,
	})
}
