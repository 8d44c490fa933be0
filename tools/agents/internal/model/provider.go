package model

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Dialect is how an endpoint is asked.
type Dialect string

// The dialects.
const (
	Chat     Dialect = "chat"     // POST URL/chat/completions
	Messages Dialect = "messages" // POST URL/messages
)

// Endpoint is a model and the service that runs it, as the configuration has it.
type Endpoint struct {
	Provider   string  `json:"provider,omitempty" jsonschema:"enum=openai,enum=anthropic,enum=deepseek,enum=glm,enum=qwen,enum=gemini,enum=local,enum=client" jsonschema_description:"whose service it is; it sets url, dialect and what is special about it; client = the model of the client, where it offers sampling"`
	URL        string  `json:"url,omitempty" jsonschema_description:"the service in the place of the provider's, such as http://localhost:8080/v1"`
	Dialect    Dialect `json:"dialect,omitempty" jsonschema:"enum=chat,enum=messages" jsonschema_description:"how it is asked: /chat/completions as OpenAI, or /messages as Anthropic (default the provider's, else chat)"`
	Model      string  `json:"model" jsonschema_description:"the model's name at the service"`
	Key        string  `json:"key,omitempty" secret:"yes" jsonschema_description:"key of the service; ${NAME} takes it from the environment"`
	Window     int     `json:"window,omitempty" jsonschema:"minimum=1" jsonschema_description:"tokens that the model can read and write in all (default 128000)"`
	MaxOutput  int     `json:"max_output,omitempty" jsonschema:"minimum=1" jsonschema_description:"tokens of one answer, thinking too (default 8192)"`
	Thinking   string  `json:"thinking,omitempty" jsonschema:"enum=off,enum=low,enum=medium,enum=high" jsonschema_description:"how much the model thinks before it answers (default as the provider has it)"`
	PriceIn    float64 `json:"price_in,omitempty" jsonschema_description:"price of a million tokens read, in the currency of max_cost"`
	PriceOut   float64 `json:"price_out,omitempty" jsonschema_description:"of a million tokens written"`
	PriceCache float64 `json:"price_cache,omitempty" jsonschema_description:"of a million tokens read from the provider's cache (default price_in)"`
	PriceKept  float64 `json:"price_kept,omitempty" jsonschema_description:"of a million tokens written to the provider's cache (default price_in)"`
}

// provider is what is known of a service.
type provider struct {
	url      string
	dialect  Dialect
	limit    string // the field of the limit of tokens
	thinking func(level string, limit int) (field string, value any)
	returns  bool // thinking goes back with the results of tools
	fixed    bool // a model takes no temperature while it thinks
}

// ofClient is the provider of models that the client asks.
const ofClient = "client"

// OfClient reports whether the client asks the model.
func (e *Endpoint) OfClient() bool { return e.Provider == ofClient }

// providers are the services by name. An endpoint without one has the habits of "local".
var providers = map[string]provider{
	"openai":    {url: "https://api.openai.com/v1", dialect: Chat, limit: "max_completion_tokens", thinking: effort, fixed: true},
	"anthropic": {url: "https://api.anthropic.com/v1", dialect: Messages, limit: "max_tokens", thinking: budget, returns: true, fixed: true},
	"deepseek":  {url: "https://api.deepseek.com/v1", dialect: Chat, limit: "max_tokens", thinking: typed, returns: true},
	"glm":       {url: "https://open.bigmodel.cn/api/paas/v4", dialect: Chat, limit: "max_tokens", thinking: typed, returns: true},
	"qwen":      {url: "https://dashscope.aliyuncs.com/compatible-mode/v1", dialect: Chat, limit: "max_tokens", thinking: enabled},
	"gemini":    {url: "https://generativelanguage.googleapis.com/v1beta/openai", dialect: Chat, limit: "max_tokens", thinking: effort},
	ofClient:    {},
	"local":     {dialect: Chat, limit: "max_tokens", thinking: effort},
}

// The ways in which services are told how much to think.

func effort(level string, _ int) (field string, value any) {
	if level == "off" {
		level = "none"
	}
	return "reasoning_effort", level
}

func typed(level string, _ int) (field string, value any) {
	if level == "off" {
		return "thinking", map[string]any{"type": "disabled"}
	}
	return "thinking", map[string]any{"type": "enabled"}
}

func enabled(level string, _ int) (field string, value any) { return "enable_thinking", level != "off" }

// budget leaves at least half of the answer for what is said.
func budget(level string, limit int) (field string, value any) {
	tokens := map[string]int{"low": 2048, "medium": 8192, "high": 24576}[level]
	if tokens = min(tokens, limit/2); tokens < 1024 {
		return "thinking", map[string]any{"type": "disabled"}
	}
	return "thinking", map[string]any{"type": "enabled", "budget_tokens": tokens}
}

func (e *Endpoint) provider() provider {
	p := providers[cmp.Or(e.Provider, "local")]
	if e.Provider == "" && e.Dialect == Messages {
		p = providers["anthropic"]
	}
	p.dialect = cmp.Or(e.Dialect, p.dialect)
	p.url = strings.TrimRight(cmp.Or(e.URL, p.url), "/")
	return p
}

// Base returns the URL that the paths of requests are added to.
func (e *Endpoint) Base() string { return e.provider().url }

// String names the endpoint by its model and the host that is asked.
func (e *Endpoint) String() string {
	if e.OfClient() {
		return cmp.Or(e.Model, "the model") + " of the client"
	}
	host := e.Base()
	if u, err := url.Parse(host); err == nil {
		host = u.Host
	}
	return e.Model + " at " + host
}

// Check returns what is wrong with the settings of an endpoint.
func (e *Endpoint) Check() error {
	if _, ok := providers[cmp.Or(e.Provider, "local")]; !ok {
		return fmt.Errorf("no provider has the name %q; there are %s", e.Provider, strings.Join(slices.Sorted(maps.Keys(providers)), ", "))
	}
	if e.OfClient() {
		if e.URL != "" || e.Key != "" || e.Dialect != "" {
			return fmt.Errorf("provider client takes no url, key and dialect: the client asks its own model")
		}
		return nil
	}
	if e.Model == "" {
		return fmt.Errorf("model is missing: the name of the model at the service")
	}
	base := e.Base()
	if base == "" {
		return fmt.Errorf("url is missing: the address of the service, such as http://localhost:11434/v1")
	}
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("url %q is not one such as https://api.example.com/v1", base)
	}
	return nil
}

// Tokens returns the window and the limit of one answer.
func (e *Endpoint) Tokens() (window, output int) {
	window = cmp.Or(e.Window, 128_000)
	return window, min(cmp.Or(e.MaxOutput, 8192), window)
}

// Cost returns what a use costs at the endpoint's prices.
func (e *Endpoint) Cost(u Use) float64 {
	return (float64(u.In)*e.PriceIn + float64(u.Out)*e.PriceOut +
		float64(u.CacheRead)*cmp.Or(e.PriceCache, e.PriceIn) + float64(u.CacheWrite)*cmp.Or(e.PriceKept, e.PriceIn)) / 1e6
}
