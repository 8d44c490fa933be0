//go:build unix

package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A client that follows a schedule is told when a run of it has a result, and reads that.
func TestScheduleFollowed(t *testing.T) {
	t.Parallel()
	const uri = "toolcrib://schedule/tick"
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			c := clientOver(t, over, t.TempDir())
			told := make(chan string, 100)
			c.OnNotification(func(n mcp.JSONRPCNotification) {
				if n.Method == "notifications/resources/updated" {
					told <- n.Params.AdditionalFields["uri"].(string)
				}
			})
			call := callsOf(t, c)
			if got := call("schedule_create", map[string]any{"name": "tick", "when": "every 2s", "tool": "calculate", "arguments": map[string]any{"expression": "6*7"}}); !strings.Contains(got, "schedule tick calls calculate") {
				t.Fatal(got)
			}
			var follow mcp.SubscribeRequest
			follow.Params.URI = uri
			if err := c.Subscribe(t.Context(), follow); err != nil { //nolint:staticcheck // clients of that era subscribe
				t.Fatal(err)
			}
			var read mcp.ReadResourceRequest
			read.Params.URI = uri
			for end := time.After(30 * time.Second); ; {
				select {
				case got := <-told:
					if got != uri {
						t.Errorf("told of %s", got)
					}
				case <-end:
					t.Fatal("nothing was told of a result")
				}
				res, err := c.ReadResource(t.Context(), read)
				if err != nil {
					t.Fatal(err)
				}
				if text := res.Contents[0].(mcp.TextResourceContents).Text; strings.Contains(text, ": ok") && strings.Contains(text, "    42") {
					break
				}
			}
			if got := call("schedule_delete", map[string]any{"name": "tick"}); !strings.Contains(got, "is deleted") {
				t.Error(got)
			}
		})
	}
}
