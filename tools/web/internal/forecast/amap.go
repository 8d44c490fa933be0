package forecast

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"toolcrib/tools"
)

// amapStatus is in each answer of AMap. Errors come with HTTP 200.
type amapStatus struct{ Status, Info, Infocode string }

func (s *amapStatus) said() string {
	if s.Status == "1" {
		return ""
	}
	return strings.TrimSpace(s.Info + " " + s.Infocode)
}

// amap asks AMap: for the district of a name, then for its weather now and for the forecast,
// which are two calls.
func (s Service) amap(ctx context.Context, q Query) (Report, error) {
	code, name := q.Location, ""
	if !districtCode(code) {
		var answer struct {
			amapStatus
			Geocodes []struct {
				Adcode    any    // a text, or an empty list
				Formatted string `json:"formatted_address"`
			}
		}
		if err := s.amapGet(ctx, "/v3/geocode/geo", map[string]string{"address": q.Location}, &answer, &answer.amapStatus); err != nil {
			return Report{}, err
		}
		for _, g := range answer.Geocodes {
			if text, ok := g.Adcode.(string); ok && text != "" {
				code, name = text, g.Formatted
				break
			}
		}
		if name == "" {
			return Report{}, tools.Errorf(tools.NotFound, "AMap knows no place called %q", q.Location).
				WithHint("write the name of the city or district in Chinese, or its district code of six digits")
		}
	}
	var now struct {
		amapStatus
		Lives []struct{ Province, City, Weather, Temperature, Winddirection, Windpower, Humidity, Reporttime string }
	}
	if err := s.amapGet(ctx, "/v3/weather/weatherInfo", map[string]string{"city": code, "extensions": "base"}, &now, &now.amapStatus); err != nil {
		return Report{}, err
	}
	var next struct {
		amapStatus
		Forecasts []struct {
			Casts []struct{ Date, Dayweather, Nightweather, Daytemp, Nighttemp, Daywind, Daypower string }
		}
	}
	if err := s.amapGet(ctx, "/v3/weather/weatherInfo", map[string]string{"city": code, "extensions": "all"}, &next, &next.amapStatus); err != nil {
		return Report{}, err
	}
	if len(now.Lives) == 0 {
		return Report{}, tools.Errorf(tools.NotFound, "AMap has no weather for %s", q.Location).WithHint("name the city or the district that it belongs to")
	}
	l := now.Lives[0]
	if name == "" {
		name = l.Province + l.City
	}
	r := Report{Source: "AMap", Place: Place{Name: name + " (" + code + ")", Zone: "Asia/Shanghai"}, Now: Now{
		Time: l.Reporttime, Sky: l.Weather, Temperature: degrees(l.Temperature, q.Imperial), Humidity: with(l.Humidity, "%"), Wind: strings.TrimSpace(l.Winddirection + " " + with(l.Windpower, "级")),
	}}
	if len(next.Forecasts) > 0 {
		for _, c := range next.Forecasts[0].Casts {
			if len(r.Days) == q.Days {
				break
			}
			sky := c.Dayweather
			if c.Nightweather != "" && c.Nightweather != c.Dayweather {
				sky += ", then " + c.Nightweather
			}
			r.Days = append(r.Days, Day{
				Date: c.Date, Sky: sky, Low: degrees(c.Nighttemp, q.Imperial), High: degrees(c.Daytemp, q.Imperial),
				Wind: strings.TrimSpace(c.Daywind + " " + with(c.Daypower, "级")),
			})
		}
	}
	return r, nil
}

func (s Service) amapGet(ctx context.Context, path string, params map[string]string, into any, status *amapStatus) error {
	params["key"] = s.AMapKey
	return s.get(ctx, "AMap", s.AMap, path, params, into, status.said)
}

// with adds a unit to a value that may be missing.
func with(value, unit string) string {
	if value == "" {
		return ""
	}
	return value + unit
}

// degrees formats a temperature that AMap tells in °C.
func degrees(celsius string, imperial bool) string {
	if value, err := strconv.ParseFloat(celsius, 64); err == nil && imperial {
		return fmt.Sprintf("%.0f°F", value*9/5+32)
	}
	return with(celsius, "°C")
}
