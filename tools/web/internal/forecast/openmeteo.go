package forecast

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"toolcrib/tools"
)

// found is a place as Open-Meteo's search of names has it.
type found struct {
	Name                string
	Latitude, Longitude float64
	Timezone            string
	Admin1, Admin2      string
	Country             string
	CountryCode         string `json:"country_code"`
}

// place returns a place with a name that [Query] takes.
func (f found) place() Place {
	parts := []string{f.Name}
	for _, part := range []string{f.Admin1, f.Country} {
		if part != "" && part != parts[len(parts)-1] {
			parts = append(parts, part)
		}
	}
	return Place{Name: strings.Join(parts, ", "), Latitude: f.Latitude, Longitude: f.Longitude, Zone: f.Timezone}
}

// is reports whether the place lies in all of regions.
func (f found) is(regions []string) bool {
	return !slices.ContainsFunc(regions, func(region string) bool {
		return !slices.ContainsFunc([]string{f.Admin1, f.Admin2, f.Country, f.CountryCode}, func(name string) bool { return strings.EqualFold(name, region) })
	})
}

// mostPlaces is how many places of a name are looked at, and mostOthers how many are listed.
const (
	mostPlaces = 50
	mostOthers = 5
)

// locate finds the places of a name, the best known first. A name may be followed by its
// region and country after commas.
func (s Service) locate(ctx context.Context, location string) ([]found, error) {
	parts := strings.FieldsFunc(location, func(r rune) bool { return r == ',' || r == '，' })
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	if len(parts) == 0 {
		return nil, tools.Errorf(tools.InvalidArgument, "the location is empty").WithHint("give the name of a place, or its latitude and longitude as 39.9,116.4")
	}
	names := parts[:1]
	if short := strings.TrimRight(parts[0], "市区區县縣省"); short != parts[0] && len(short) >= len("北京") {
		names = append(names, short)
	}
	var all []found
	for _, name := range names {
		var answer struct {
			Results []found
			Error   bool
			Reason  string
		}
		params := map[string]string{"name": name, "count": strconv.Itoa(mostPlaces), "language": language(name), "format": "json"}
		if err := s.get(ctx, "Open-Meteo", s.Geocoding, "/v1/search", params, &answer, func() string { return failed(answer.Error, answer.Reason) }); err != nil {
			return nil, err
		}
		if all = append(all, answer.Results...); len(all) > 0 {
			break
		}
	}
	if len(all) == 0 {
		return nil, tools.Errorf(tools.NotFound, "no place is called %q", parts[0]).
			WithHint("write its name as on a map, in any language, or give its latitude and longitude as 39.9,116.4")
	}
	within := slices.DeleteFunc(slices.Clone(all), func(f found) bool { return !f.is(parts[1:]) })
	if len(within) == 0 {
		var names []string
		for _, f := range all[:min(len(all), mostOthers)] {
			names = append(names, f.place().Name)
		}
		return nil, tools.Errorf(tools.NotFound, "no place called %q lies in %s", parts[0], strings.Join(parts[1:], ", ")).
			WithHint("there are: %s", strings.Join(names, "; "))
	}
	return within, nil
}

// language returns the language in which a name is likely to be known.
func language(name string) string {
	for _, r := range name {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "ja"
		case unicode.Is(unicode.Hangul, r):
			return "ko"
		case unicode.Is(unicode.Han, r):
			return "zh"
		case unicode.Is(unicode.Cyrillic, r):
			return "ru"
		}
	}
	return "en"
}

// failed returns what an answer says of an error.
func failed(is bool, reason string) string {
	if is {
		return cmp.Or(reason, "an error without a reason")
	}
	return ""
}

func (s Service) openMeteo(ctx context.Context, q Query) (Report, error) {
	var at Place
	var others []Place
	if latitude, longitude, ok := coordinates(q.Location); ok {
		if math.Abs(latitude) > 90 || math.Abs(longitude) > 180 {
			return Report{}, tools.Errorf(tools.InvalidArgument, "%s lies not on earth", q.Location).WithHint("latitude first, -90 to 90, then longitude, -180 to 180")
		}
		at = Place{Name: fmt.Sprintf("%g,%g", latitude, longitude), Latitude: latitude, Longitude: longitude}
	} else {
		all, err := s.locate(ctx, q.Location)
		if err != nil {
			return Report{}, err
		}
		at = all[0].place()
		for _, f := range all[1:min(len(all), mostOthers+1)] {
			if p := f.place(); p.Name != at.Name && strings.EqualFold(f.Name, all[0].Name) && !slices.ContainsFunc(others, func(o Place) bool { return o.Name == p.Name }) {
				others = append(others, p)
			}
		}
	}
	params := map[string]string{
		"latitude": strconv.FormatFloat(at.Latitude, 'f', -1, 64), "longitude": strconv.FormatFloat(at.Longitude, 'f', -1, 64),
		"current":  "temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,cloud_cover,wind_speed_10m,wind_direction_10m",
		"daily":    "weather_code,temperature_2m_min,temperature_2m_max,precipitation_sum,precipitation_probability_max,wind_speed_10m_max,sunrise,sunset",
		"timezone": "auto", "forecast_days": strconv.Itoa(q.Days),
	}
	if q.Imperial {
		params["temperature_unit"], params["wind_speed_unit"], params["precipitation_unit"] = "fahrenheit", "mph", "inch"
	}
	var a weather
	if err := s.get(ctx, "Open-Meteo", s.OpenMeteo, "/v1/forecast", params, &a, func() string { return failed(a.Error, a.Reason) }); err != nil {
		return Report{}, err
	}
	if a.Current.Time == "" && len(a.Daily.Time) == 0 {
		return Report{}, tools.Errorf(tools.Unavailable, "the answer of Open-Meteo has no weather").WithHint("if an address of it is configured, check that")
	}
	at.Zone = cmp.Or(a.Timezone, at.Zone)
	return Report{Source: "Open-Meteo", Place: at, Others: others, Now: a.now(), Days: a.days()}, nil
}

// weather is the answer of Open-Meteo.
type weather struct {
	Error    bool
	Reason   string
	Timezone string
	Current  struct {
		Time        string
		Temperature *float64 `json:"temperature_2m"`
		Feels       *float64 `json:"apparent_temperature"`
		Humidity    *float64 `json:"relative_humidity_2m"`
		Rain        *float64 `json:"precipitation"`
		Code        *float64 `json:"weather_code"`
		Clouds      *float64 `json:"cloud_cover"`
		Wind        *float64 `json:"wind_speed_10m"`
		Direction   *float64 `json:"wind_direction_10m"`
	}
	CurrentUnits map[string]string `json:"current_units"`
	Daily        struct {
		Time    []string
		Code    []*float64 `json:"weather_code"`
		Low     []*float64 `json:"temperature_2m_min"`
		High    []*float64 `json:"temperature_2m_max"`
		Rain    []*float64 `json:"precipitation_sum"`
		Chance  []*float64 `json:"precipitation_probability_max"`
		Wind    []*float64 `json:"wind_speed_10m_max"`
		Sunrise []string
		Sunset  []string
	}
	DailyUnits map[string]string `json:"daily_units"`
}

func (a *weather) now() Now {
	c, u := a.Current, a.CurrentUnits
	wind := number(c.Wind, u["wind_speed_10m"])
	if wind != "" && c.Direction != nil {
		wind += " from " + compass(*c.Direction)
	}
	return Now{
		Time: c.Time, Sky: sky(c.Code), Temperature: number(c.Temperature, u["temperature_2m"]), Feels: number(c.Feels, u["apparent_temperature"]),
		Humidity: number(c.Humidity, u["relative_humidity_2m"]), Wind: wind, Rain: number(c.Rain, u["precipitation"]), Clouds: number(c.Clouds, u["cloud_cover"]),
	}
}

func (a *weather) days() []Day {
	d, u := a.Daily, a.DailyUnits
	var days []Day
	for i, date := range d.Time {
		days = append(days, Day{
			Date: date, Sky: sky(nth(d.Code, i)),
			Low: number(nth(d.Low, i), u["temperature_2m_min"]), High: number(nth(d.High, i), u["temperature_2m_max"]),
			Rain: number(nth(d.Rain, i), u["precipitation_sum"]), Chance: number(nth(d.Chance, i), u["precipitation_probability_max"]),
			Wind: number(nth(d.Wind, i), u["wind_speed_10m_max"]), Sunrise: clock(nth(d.Sunrise, i)), Sunset: clock(nth(d.Sunset, i)),
		})
	}
	return days
}

// nth returns a value of a list that may be too short.
func nth[T any](list []T, i int) (value T) {
	if i < len(list) {
		value = list[i]
	}
	return value
}

// clock returns the time of day of a local time.
func clock(text string) string {
	_, hour, found := strings.Cut(text, "T")
	if !found {
		return text
	}
	return hour
}

func sky(code *float64) string {
	if code == nil {
		return ""
	}
	return cmp.Or(skies[int(*code)], fmt.Sprintf("weather code %g", *code))
}
