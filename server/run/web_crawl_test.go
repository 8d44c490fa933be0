package run_test

import "testing"

func TestWebCrawlOnReadOnly(t *testing.T) {
	onReadOnly(t, "web_crawl", map[string]string{
		`{"urls":["http://169.254.1.1/"]}`: unreachable,
	})
}
