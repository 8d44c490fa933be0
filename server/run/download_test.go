package run_test

import "testing"

func TestDownloadOnReadOnly(t *testing.T) {
	onReadOnly(t, "download", map[string]string{
		`{"url":"http://169.254.1.1/","path":"x"}`: refusedFor("workspace,network,destroys"),
	})
}
