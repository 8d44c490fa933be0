package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"toolcrib/server"
	"toolcrib/tools"
)

// sampler is a tool that asks the client's model.
func sampler() tools.Tool {
	return tools.New(tools.Def[nothingIn, textOut]{
		Name: "sampler", Title: "Sampler", Doc: "Asks the client's model.", Access: tools.Write, Effects: tools.State,
		Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
			s := tools.Session(ctx)
			if s.Sample == nil {
				return textOut{fmt.Sprintf("none: %t", s.Client.Sampling)}, nil
			}
			answer, err := s.Sample(ctx, map[string]any{"maxTokens": 1})
			return textOut{fmt.Sprintf("tools %t: %s %v", s.Client.SamplingTools, answer, err)}, nil
		},
	})
}

// A tool can ask the model of a client that offers it, in the revisions in which a call can ask.
func TestSampling(t *testing.T) {
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		for capability, want := range map[string]string{
			`{}`: "none: false", `{"sampling":{}}`: `tools false: {\"model\":\"m\"}`, `{"sampling":{"tools":{}}}`: `tools true: {\"model\":\"m\"}`,
		} {
			hello := strings.Replace(strings.Replace(initialize, `"capabilities":{}`, `"capabilities":`+capability, 1), "2025-11-25", revision, 1)
			t.Run(revision+" "+capability, func(t *testing.T) {
				s := newServer(t, with(sampler()))
				t.Run("stdio", func(t *testing.T) {
					client := connect(t, s)
					client.fresh = make(chan string, 1)
					client.send(hello, initDone)
					<-client.fresh
					client.send(eras()[0].call("1", "sampler", "", ""))
					got := readLine(t, <-client.fresh)
					if got.Method == "sampling/createMessage" {
						client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"model":"m"}}`, got.ID))
						got = readLine(t, <-client.fresh)
					}
					if !strings.Contains(string(got.Result), want) {
						t.Errorf("%s, want %s", got.Result, want)
					}
				})
			})
		}
	}
	t.Run("refused", func(t *testing.T) {
		client := connect(t, newServer(t, with(sampler())))
		client.fresh = make(chan string, 1)
		client.send(strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"sampling":{}}`, 1), initDone)
		<-client.fresh
		client.send(eras()[0].call("1", "sampler", "", ""))
		asked := readLine(t, <-client.fresh)
		client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"the user said no"}}`, asked.ID))
		if got := string(readLine(t, <-client.fresh).Result); !strings.Contains(got, "the user said no") {
			t.Error(got)
		}
	})
	t.Run("http", func(t *testing.T) {
		w := serveHTTP(t, newServer(t, with(sampler())), server.HTTP{Auth: gate(t)})
		session := w.hello(`{"sampling":{}}`)
		res := w.open(t.Context(), eras()[0].call("1", "sampler", "", ""), session)
		defer res.Body.Close()
		last := ""
		for message := range events(res.Body) {
			last = message
			if m := readLine(t, message); m.Method == "sampling/createMessage" {
				w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"model":"m"}}`, m.ID), session)
			}
		}
		if !strings.Contains(last, `{\"model\":\"m\"}`) {
			t.Error(last)
		}
	})
	t.Run("2026-07-28", func(t *testing.T) {
		client := connect(t, newServer(t, with(sampler())))
		client.fresh = make(chan string, 1)
		client.send(strings.Replace(eras()[1].call("1", "sampler", "", ""), `clientCapabilities":{}`, `clientCapabilities":{"sampling":{}}`, 1))
		if got := string(readLine(t, <-client.fresh).Result); !strings.Contains(got, "none: true") {
			t.Errorf("a call that cannot ask has asked: %s", got)
		}
	})
}
