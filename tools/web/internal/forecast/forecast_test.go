package forecast_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/web/internal/forecast"
	"toolcrib/tools/web/internal/lookup"
)

const springfields = `{"results":[
	{"name":"Springfield","latitude":37.2,"longitude":-93.3,"country_code":"US","country":"United States","admin1":"Missouri","timezone":"America/Chicago"},
	{"name":"Springfield","latitude":42.1,"longitude":-72.6,"country_code":"US","country":"United States","admin1":"Massachusetts","timezone":"America/New_York"},
	{"name":"Springfield Gardens","latitude":40.6,"longitude":-73.7,"country_code":"US","country":"United States","admin1":"New York"}]}`

const weather = `{"timezone":"Europe/Vienna",
	"current_units":{"temperature_2m":"°C","relative_humidity_2m":"%","wind_speed_10m":"km/h","precipitation":"mm"},
	"current":{"time":"2026-05-04T12:00","temperature_2m":18.5,"relative_humidity_2m":60,"weather_code":61,"wind_speed_10m":10,"wind_direction_10m":225,"precipitation":0},
	"daily_units":{"temperature_2m_min":"°C","temperature_2m_max":"°C","precipitation_probability_max":"%"},
	"daily":{"time":["2026-05-04","2026-05-05"],"weather_code":[3,999],"temperature_2m_min":[9,null],"temperature_2m_max":[19.5,20],"precipitation_probability_max":[40],"sunrise":["2026-05-04T05:30","2026-05-05T05:29"]}}`

// fake answers by the path of a request.
type fake map[string]string

func (f fake) ask(_ context.Context, req *http.Request) (lookup.Answer, error) {
	body, ok := f[req.URL.Path+"?"+req.URL.Query().Get("extensions")]
	if !ok {
		body, ok = f[req.URL.Path]
	}
	status := 200
	if !ok {
		status = 404
	}
	switch {
	case strings.HasPrefix(body, "HTTP 429"):
		status = 429
	case strings.HasPrefix(body, "HTTP 400 "):
		status, body = 400, strings.TrimPrefix(body, "HTTP 400 ")
	case body == "reset":
		return lookup.Answer{}, errors.New("connection reset")
	}
	return lookup.Answer{Status: status, Body: []byte(body)}, nil
}

func service(f fake, key string) forecast.Service {
	return forecast.Service{Ask: f.ask, OpenMeteo: "http://meteo.test", Geocoding: "http://geo.test", AMap: "http://amap.test", AMapKey: key}
}

func TestOpenMeteo(t *testing.T) {
	s := service(fake{"/v1/search": springfields, "/v1/forecast": weather}, "")
	got, err := s.Report(t.Context(), forecast.Query{Location: "Springfield", Days: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := forecast.Report{
		Source: "Open-Meteo",
		Place:  forecast.Place{Name: "Springfield, Missouri, United States", Latitude: 37.2, Longitude: -93.3, Zone: "Europe/Vienna"},
		Others: []forecast.Place{{Name: "Springfield, Massachusetts, United States", Latitude: 42.1, Longitude: -72.6, Zone: "America/New_York"}},
		Now:    forecast.Now{Time: "2026-05-04T12:00", Sky: "light rain", Temperature: "18.5°C", Humidity: "60%", Wind: "10 km/h from SW", Rain: "0 mm"},
		Days: []forecast.Day{
			{Date: "2026-05-04", Sky: "overcast", Low: "9°C", High: "19.5°C", Chance: "40%", Sunrise: "05:30"},
			{Date: "2026-05-05", Sky: "weather code 999", High: "20°C", Sunrise: "05:29"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for location, name := range map[string]string{
		"springfield, massachusetts":     "Springfield, Massachusetts, United States",
		"Springfield, Massachusetts, us": "Springfield, Massachusetts, United States",
		" 48.2 , 16.37":                  "48.2,16.37",
	} {
		if r, err := s.Report(t.Context(), forecast.Query{Location: location, Days: 1}); err != nil || r.Place.Name != name {
			t.Errorf("%s: %q, %v, want %q", location, r.Place.Name, err, name)
		}
	}
}

func TestAMap(t *testing.T) {
	f := fake{
		"/v3/geocode/geo":              `{"status":"1","geocodes":[{"formatted_address":"北京市","adcode":[]},{"formatted_address":"北京市","adcode":"110000"}]}`,
		"/v3/weather/weatherInfo?base": `{"status":"1","lives":[{"province":"北京","city":"北京市","weather":"晴","temperature":"20","winddirection":"南","windpower":"≤3","humidity":"30","reporttime":"2026-05-04 12:00:00"}]}`,
		"/v3/weather/weatherInfo?all":  `{"status":"1","forecasts":[{"casts":[{"date":"2026-05-04","dayweather":"晴","nightweather":"多云","daytemp":"25","nighttemp":"12","daywind":"南","daypower":"1-3"},{"date":"2026-05-05"}]}]}`,
		"/v1/search":                   springfields,
		"/v1/forecast":                 weather,
	}
	want := forecast.Report{
		Source: "AMap", Place: forecast.Place{Name: "北京市 (110000)", Zone: "Asia/Shanghai"},
		Now:  forecast.Now{Time: "2026-05-04 12:00:00", Sky: "晴", Temperature: "68°F", Humidity: "30%", Wind: "南 ≤3级"},
		Days: []forecast.Day{{Date: "2026-05-04", Sky: "晴, then 多云", Low: "54°F", High: "77°F", Wind: "南 1-3级"}},
	}
	got, err := service(f, "k").Report(t.Context(), forecast.Query{Location: "北京", Days: 1, Imperial: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r, err := service(f, "k").Report(t.Context(), forecast.Query{Location: "110000", Days: 1}); err != nil || r.Place.Name != "北京北京市 (110000)" {
		t.Errorf("by code: %+v, %v", r.Place, err)
	}
	for location, source := range map[string]string{"Springfield": "Open-Meteo", "東京タワー": "Open-Meteo", "重庆": "AMap"} {
		if r, err := service(f, "k").Report(t.Context(), forecast.Query{Location: location, Days: 1}); err != nil || r.Source != source {
			t.Errorf("%s: %s, %v, want %s", location, r.Source, err, source)
		}
	}
	f["/v3/geocode/geo"] = `{"status":"0","info":"INVALID_USER_KEY","infocode":"10001"}`
	if r, err := service(f, "k").Report(t.Context(), forecast.Query{Location: "北京", Days: 1}); err != nil || r.Source != "Open-Meteo" {
		t.Errorf("AMap refuses: %s, %v", r.Source, err)
	}
}

func TestErrors(t *testing.T) {
	good := func(change ...string) fake {
		f := fake{"/v1/search": springfields, "/v1/forecast": weather}
		for i := 0; i < len(change); i += 2 {
			f[change[i]] = change[i+1]
		}
		return f
	}
	for _, tt := range []struct {
		name, location, key string
		fake                fake
		code                tools.Code
		says                string
	}{
		{"nothing of that name", "Xyzzy", "", good("/v1/search", `{"generationtime_ms":0.5}`), tools.NotFound, `no place is called "Xyzzy"`},
		{"not there", "Springfield, France", "", good(), tools.NotFound, "there are: Springfield, Missouri"},
		{"empty", " , ", "", good(), tools.InvalidArgument, "the location is empty"},
		{"not on earth", "91,0", "", good(), tools.InvalidArgument, "not on earth"},
		{"a code without a key", "110000", "", good(), tools.Unavailable, "no key of AMap"},
		{"refused", "Springfield", "", good("/v1/forecast", `HTTP 400 {"error":true,"reason":"Latitude must be in range"}`), tools.Unavailable, "Open-Meteo says: Latitude must be in range"},
		{"too often", "Springfield", "", good("/v1/forecast", `HTTP 429 {}`), tools.Unavailable, "asked too often"},
		{"a page", "Springfield", "", good("/v1/forecast", `<html>`), tools.Unavailable, "cannot be read"},
		{"half", "Springfield", "", good("/v1/forecast", weather[:100]), tools.Unavailable, "cannot be read"},
		{"another form", "Springfield", "", good("/v1/forecast", `{}`), tools.Unavailable, "has no weather"},
		{"404", "Springfield", "", fake{}, tools.Unavailable, "HTTP 404"},
		{"no connection", "Springfield", "", good("/v1/search", "reset"), tools.Unavailable, "connection reset"},
		{"a wrong key", "110000", "k", good("/v3/weather/weatherInfo", `{"status":"0","info":"INVALID_USER_KEY","infocode":"10001"}`), tools.Unavailable, "AMap says: INVALID_USER_KEY 10001"},
		{"an unknown code", "999999", "k", good("/v3/weather/weatherInfo", `{"status":"1","lives":[]}`), tools.NotFound, "no weather for 999999"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := service(tt.fake, tt.key).Report(t.Context(), forecast.Query{Location: tt.location, Days: 1})
			e, ok := errors.AsType[*tools.Error](err)
			if !ok || e.Code != tt.code || !strings.Contains(e.Error(), tt.says) {
				t.Errorf("got %v, want %s: %s", err, tt.code, tt.says)
			}
		})
	}
}
