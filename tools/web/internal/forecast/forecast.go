// Package forecast asks weather services: Open-Meteo, which wants no key, and AMap, which
// knows the districts of China.
//
// Start at [Service.Report]; openmeteo.go and amap.go have the two services. Requests go
// through a [lookup.Ask]; the package sends nothing by itself.
package forecast

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"toolcrib/tools"
	"toolcrib/tools/web/internal/lookup"
)

// The addresses of the services, where the configuration names no other.
const (
	OpenMeteoAddress = "https://api.open-meteo.com"
	GeocodingAddress = "https://geocoding-api.open-meteo.com"
	AMapAddress      = "https://restapi.amap.com"
)

// Service asks both services. Without a key of AMap it asks Open-Meteo alone.
type Service struct {
	Ask                        lookup.Ask
	OpenMeteo, Geocoding, AMap string // addresses
	AMapKey                    string
}

// Query is the weather that is wanted.
type Query struct {
	Location string // a name in any language, "latitude,longitude", or a district code of AMap
	Days     int    // of the forecast, 1 to 7
	Imperial bool   // °F, mph and inches; else °C, km/h and mm
}

// Report is the weather at a place. Values that a service does not tell are "".
type Report struct {
	Source string
	Place  Place
	Now    Now
	Days   []Day
	Others []Place // of the same name
}

// Place is a place on the map.
type Place struct {
	Name                string
	Latitude, Longitude float64
	Zone                string // the time zone of all times
}

// Now is the weather at a time, with units.
type Now struct{ Time, Sky, Temperature, Feels, Humidity, Wind, Rain, Clouds string }

// Day is the forecast for a day, with units.
type Day struct{ Date, Sky, Low, High, Rain, Chance, Wind, Sunrise, Sunset string }

// Report returns the weather. Its errors are of package tools.
func (s Service) Report(ctx context.Context, q Query) (Report, error) {
	code := districtCode(q.Location)
	switch {
	case s.AMapKey != "" && (code || chinese(q.Location)):
		r, err := s.amap(ctx, q)
		if err == nil || code {
			return r, err
		}
		r, otherwise := s.openMeteo(ctx, q)
		if otherwise != nil {
			return Report{}, err
		}
		return r, nil
	case code:
		return Report{}, tools.Errorf(tools.Unavailable, "%s is a district code of AMap, and no key of AMap is configured", q.Location).
			WithHint("give the name of the place, or its latitude and longitude as 39.9,116.4")
	}
	return s.openMeteo(ctx, q)
}

// districtCode reports whether a location is a code of six digits.
func districtCode(location string) bool {
	_, err := strconv.ParseUint(location, 10, 32)
	return err == nil && len(location) == 6
}

func chinese(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) >= 0 &&
		strings.IndexFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul) }) < 0
}

// coordinates reads "latitude,longitude".
func coordinates(location string) (latitude, longitude float64, ok bool) {
	a, b, found := strings.Cut(location, ",")
	latitude, err := strconv.ParseFloat(strings.TrimSpace(a), 64)
	longitude, err2 := strconv.ParseFloat(strings.TrimSpace(b), 64)
	return latitude, longitude, found && err == nil && err2 == nil
}

// get asks a service and reads its answer in JSON. said returns what an answer says of an
// error, "" if it is none.
func (s Service) get(ctx context.Context, service, address, path string, params map[string]string, into any, said func() string) error {
	values := url.Values{}
	for name, value := range params {
		values.Set(name, value)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+path+"?"+values.Encode(), nil)
	if err != nil {
		return tools.Errorf(tools.InvalidArgument, "the address of %s in the configuration: %v", service, err)
	}
	req.Header.Set("Accept", "application/json")
	a, err := s.Ask(ctx, req)
	if err != nil {
		return cmp.Or(ctx.Err(), error(tools.Errorf(tools.Unavailable, "%s cannot be reached: %v", service, err)))
	}
	wrong := json.Unmarshal(a.Body, into)
	if wrong == nil {
		if say := said(); say != "" {
			return tools.Errorf(tools.Unavailable, "%s says: %s", service, say)
		}
	}
	switch {
	case a.Status == http.StatusTooManyRequests:
		return tools.Errorf(tools.Unavailable, "%s has been asked too often from here", service).WithHint("try again later")
	case a.Status != http.StatusOK:
		return tools.Errorf(tools.Unavailable, "%s answered HTTP %d", service, a.Status)
	case wrong != nil:
		return tools.Errorf(tools.Unavailable, "the answer of %s cannot be read: %d bytes that are not the JSON it sends", service, len(a.Body)).
			WithHint("if an address of it is configured, check that")
	}
	return nil
}

// compass names a direction in degrees.
func compass(degrees float64) string {
	names := []string{"N", "NE", "E", "SE", "S", "SW", "W", "NW"}
	return names[int(degrees/45+0.5)&7]
}

// skies are the codes of the World Meteorological Organization (table 4677) that Open-Meteo
// uses.
var skies = map[int]string{
	0: "clear sky", 1: "mainly clear", 2: "partly cloudy", 3: "overcast", 45: "fog", 48: "freezing fog",
	51: "light drizzle", 53: "drizzle", 55: "dense drizzle", 56: "light freezing drizzle", 57: "freezing drizzle",
	61: "light rain", 63: "rain", 65: "heavy rain", 66: "light freezing rain", 67: "freezing rain",
	71: "light snow", 73: "snow", 75: "heavy snow", 77: "snow grains",
	80: "light showers", 81: "showers", 82: "violent showers", 85: "light snow showers", 86: "snow showers",
	95: "thunderstorm", 96: "thunderstorm with hail", 99: "thunderstorm with heavy hail",
}

// number formats a value that may be missing, with its unit.
func number(value *float64, unit string) string {
	if value == nil {
		return ""
	}
	text := strconv.FormatFloat(*value, 'f', -1, 64)
	if unit == "" || slices.Contains([]string{"%", "°C", "°F"}, unit) {
		return text + unit
	}
	return text + " " + unit
}
