package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
	"toolcrib/tools/web/internal/forecast"
	"toolcrib/tools/web/internal/lookup"
	"toolcrib/tools/web/internal/robots"
)

// Settings are those of the category.
type Settings struct {
	Web        Web      `file:"web" help:"the web: which services are asked, their addresses, robots.txt, user agent" live:"yes" topic:"web"`
	WebHosts   []string `flag:"web-hosts" env:"TOOLCRIB_WEB_HOSTS" arg:"HOSTS" help:"the only hosts that web tools reach, in the forms of --network-hosts (default every public host)" live:"yes"`
	WebPrivate []string `flag:"web-private" env:"TOOLCRIB_WEB_PRIVATE" arg:"HOSTS" help:"hosts that web tools reach although their addresses are private, in the same forms (default none)" live:"yes"`
	Browser    string   `flag:"browser" env:"TOOLCRIB_BROWSER" arg:"FILE" help:"the Chromium that renders pages (default the first that is found)" live:"yes"`
	SearXNG    string   `flag:"searxng" env:"SEARXNG_URL" arg:"URL" help:"a SearXNG instance that web_search and image_search ask, such as http://localhost:8888; its settings must allow json" live:"yes"`
	Brave      string   `env:"BRAVE_API_KEY" arg:"KEY" help:"key of Brave Search, for web_search and image_search" live:"yes"`
	Tavily     string   `env:"TAVILY_API_KEY" arg:"KEY" help:"key of Tavily, for web_search" live:"yes"`
	Exa        string   `env:"EXA_API_KEY" arg:"KEY" help:"key of Exa, for web_search" live:"yes"`
	Serper     string   `env:"SERPER_API_KEY" arg:"KEY" help:"key of Serper, for web_search and image_search" live:"yes"`
	SerpAPI    string   `env:"SERPAPI_API_KEY" arg:"KEY" help:"key of SerpApi, for image_search, and the only one that finds images like an image" live:"yes"`
	AMap       string   `env:"AMAP_API_KEY" arg:"KEY" help:"key of AMap, for weather in China" live:"yes"`
}

// Web has the settings that only a file has.
type Web struct {
	Search    []string          `json:"search,omitempty" jsonschema:"enum=brave,enum=tavily,enum=exa,enum=serper,enum=searxng,enum=duckduckgo" jsonschema_description:"services that web_search asks (default every one that has a key or an address, and duckduckgo if none finds anything)"`
	Images    []string          `json:"images,omitempty" jsonschema:"enum=brave,enum=serper,enum=serpapi,enum=searxng,enum=openverse,enum=commons" jsonschema_description:"services that image_search asks (default every one that has a key or an address, openverse and commons)"`
	Robots    string            `json:"robots,omitempty" jsonschema:"enum=obey,enum=ignore" jsonschema_description:"whether pages are left alone that robots.txt asks programs not to read (default obey)"`
	Agent     string            `json:"agent,omitempty" jsonschema_description:"the user agent of requests for pages (default toolcrib with its version)"`
	Addresses map[string]string `json:"addresses,omitempty" jsonschema_description:"URLs of services in the place of their own, by name: brave, tavily, exa, serper, serpapi, duckduckgo, openverse, commons, open-meteo, geocoding, amap"`
}

// addresses are the services' own.
var addresses = map[string]string{
	"brave": lookup.BraveAddress, "tavily": lookup.TavilyAddress, "exa": lookup.ExaAddress, "serper": lookup.SerperAddress,
	"serpapi": lookup.SerpAPIAddress, "duckduckgo": lookup.DuckDuckGoAddress, "openverse": lookup.OpenverseAddress,
	"commons": lookup.CommonsAddress, "open-meteo": forecast.OpenMeteoAddress, "geocoding": forecast.GeocodingAddress, "amap": forecast.AMapAddress,
}

// address returns the URL of a service.
func (set *Settings) address(service string) string {
	if configured := set.Web.Addresses[service]; configured != "" {
		return configured
	}
	return addresses[service]
}

// Check returns the errors of the settings.
func (set *Settings) Check(tools.Host) (wrong []tools.SettingError) {
	for _, name := range slices.Sorted(maps.Keys(set.Web.Addresses)) {
		key := "web.addresses." + name
		if addresses[name] == "" {
			wrong = append(wrong, tools.SettingError{Key: "web", Err: fmt.Errorf("%s: no service has this name; there are %s", key, strings.Join(slices.Sorted(maps.Keys(addresses)), ", "))})
		} else if err := serves(set.Web.Addresses[name]); err != nil {
			wrong = append(wrong, tools.SettingError{Key: "web", Err: fmt.Errorf("%s: %w", key, err)})
		}
	}
	if set.SearXNG != "" {
		if err := serves(set.SearXNG); err != nil {
			wrong = append(wrong, tools.SettingError{Key: "searxng", Err: fmt.Errorf("searxng: %w", err), Hint: "--searxng takes a URL such as http://localhost:8888"})
		}
	}
	for _, part := range []struct {
		key   string
		rules outbound.Rules
	}{{"web_hosts", outbound.Rules{Hosts: set.WebHosts}}, {"web_private", outbound.Rules{Private: set.WebPrivate}}} {
		if _, err := outbound.NewGuard(part.rules); err != nil {
			wrong = append(wrong, tools.SettingError{Key: part.key, Err: err})
		}
	}
	for _, list := range []struct {
		key   string
		names []string
		have  map[string]lookup.Backend
	}{{"search", set.Web.Search, set.pages()}, {"images", set.Web.Images, set.pictures()}} {
		for _, name := range list.names {
			if _, ok := list.have[name]; !ok {
				wrong = append(wrong, tools.SettingError{Key: "web", Err: fmt.Errorf("web.%s: %s has no key or address; %s", list.key, name, wants[name])})
			}
		}
	}
	return wrong
}

// serves returns why a text is not the URL of a service.
func serves(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is not a URL such as https://search.example.com", text)
	}
	return nil
}

// wants says how a service becomes available.
var wants = map[string]string{
	"brave": "set BRAVE_API_KEY", "tavily": "set TAVILY_API_KEY", "exa": "set EXA_API_KEY", "serper": "set SERPER_API_KEY",
	"serpapi": "set SERPAPI_API_KEY", "searxng": "set SEARXNG_URL",
}

// pages returns the services for pages that can be asked, by name.
func (set *Settings) pages() map[string]lookup.Backend {
	all := map[string]lookup.Backend{"duckduckgo": lookup.DuckDuckGo(set.address("duckduckgo"), time.Now)}
	if set.Brave != "" {
		all["brave"] = lookup.Brave(set.address("brave"), set.Brave)
	}
	if set.Tavily != "" {
		all["tavily"] = lookup.Tavily(set.address("tavily"), set.Tavily)
	}
	if set.Exa != "" {
		all["exa"] = lookup.Exa(set.address("exa"), set.Exa, time.Now)
	}
	if set.Serper != "" {
		all["serper"] = lookup.Serper(set.address("serper"), set.Serper)
	}
	if set.SearXNG != "" {
		all["searxng"] = lookup.SearXNG(set.SearXNG)
	}
	return all
}

// pictures returns the services for images that can be asked, by name.
func (set *Settings) pictures() map[string]lookup.Backend {
	all := map[string]lookup.Backend{
		"openverse": lookup.Openverse(set.address("openverse")), "commons": lookup.Commons(set.address("commons")),
	}
	if set.Brave != "" {
		all["brave"] = lookup.BraveImages(set.address("brave"), set.Brave)
	}
	if set.Serper != "" {
		all["serper"] = lookup.SerperImages(set.address("serper"), set.Serper)
	}
	if set.SerpAPI != "" {
		all["serpapi"] = lookup.SerpAPI(set.address("serpapi"), set.SerpAPI)
	}
	if set.SearXNG != "" {
		all["searxng"] = lookup.SearXNGImages(set.SearXNG)
	}
	return all
}

// agent is the user agent of requests for pages, by a version of the program.
func (set *Settings) agent(version string) string {
	if set.Web.Agent == "" && strings.HasPrefix(version, "v") {
		return "toolcrib/" + version[1:]
	}
	return cmp.Or(set.Web.Agent, "toolcrib")
}

// robot is the name of the program in robots.txt.
func (set *Settings) robot() string { return robots.Token(set.agent("")) }

// webRules are for addresses that calls name.
func (set *Settings) webRules() outbound.Rules {
	return outbound.Rules{Hosts: set.WebHosts, Private: set.WebPrivate, Settings: "web"}
}

// rules let requests of services reach the hosts that the configuration names, private ones
// too.
func (set *Settings) rules() outbound.Rules {
	rules := outbound.Rules{Search: true}
	for _, address := range slices.Concat(slices.Collect(maps.Values(set.Web.Addresses)), []string{set.SearXNG}) {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			rules.Private = append(rules.Private, u.Host)
		}
	}
	return rules
}
