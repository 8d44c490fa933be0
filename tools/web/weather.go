package web

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/web/internal/forecast"
)

//go:embed weather.md
var weatherDoc string

// WeatherIn says where.
type WeatherIn struct {
	Location string `json:"location" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"name of a place in any language, with region or country after a comma if it is ambiguous; or latitude,longitude; or an AMap district code" alias:"city,place,adcode,name,address"`
	Days     int    `json:"days,omitempty" jsonschema:"minimum=1,maximum=7,default=3" jsonschema_description:"days of forecast, today included" alias:"forecast_days"`
	Units    string `json:"units,omitempty" jsonschema:"enum=metric,enum=imperial,default=metric" jsonschema_description:"°C, km/h and mm, or °F, mph and inches" alias:"unit"`
}

// WeatherOut is the weather.
type WeatherOut struct{ forecast.Report }

func weatherTool(e *engine) tools.Tool {
	return tools.New(tools.Def[WeatherIn, WeatherOut]{
		Name: "weather", Title: "Weather and forecast", Doc: weatherDoc, Tags: []string{"web", "weather", "temperature", "rain", "wind"},
		Aliases: []string{"get_weather", "amap_weather"},
		Access:  tools.External, Effects: tools.Network, Repeatable: true,
		Examples: []tools.Example[WeatherIn]{{
			Say:  "now and tomorrow",
			In:   WeatherIn{Location: "Vienna", Days: 2},
			Want: "Vienna, Austria (48.21,16.37), by Open-Meteo\nnow, 2026-05-04T12:00 Europe/Vienna: light rain, 18.5°C, wind 10 km/h from SW\n2026-05-04: overcast, 9°C to 19.5°C\n2026-05-05: rain, 8°C to 15°C",
		}},
		Run: e.weather,
	})
}

func (e *engine) weather(ctx context.Context, in WeatherIn) (WeatherOut, error) {
	set := e.settings.Now()
	service := forecast.Service{
		Ask: e.ask, OpenMeteo: set.address("open-meteo"), Geocoding: set.address("geocoding"), AMap: set.address("amap"), AMapKey: set.AMap,
	}
	r, err := service.Report(ctx, forecast.Query{Location: in.Location, Days: in.Days, Imperial: in.Units == "imperial"})
	return WeatherOut{r}, err
}

// Text implements [tools.Texter].
func (o WeatherOut) Text() string {
	var b strings.Builder
	b.WriteString(o.Place.Name)
	if o.Place.Latitude != 0 || o.Place.Longitude != 0 {
		if at := fmt.Sprintf("%.4g,%.4g", o.Place.Latitude, o.Place.Longitude); at != o.Place.Name {
			b.WriteString(" (" + at + ")")
		}
	}
	b.WriteString(", by " + o.Source)
	if o.Now.Time != "" {
		b.WriteString("\nnow, " + strings.TrimSpace(o.Now.Time+" "+o.Place.Zone) + ": " + known(
			"", o.Now.Sky, "", o.Now.Temperature, "feels like ", o.Now.Feels, "humidity ", o.Now.Humidity,
			"wind ", o.Now.Wind, "precipitation ", o.Now.Rain, "clouds ", o.Now.Clouds))
	}
	for _, d := range o.Days {
		span := d.Low
		if d.Low != "" && d.High != "" {
			span += " to "
		}
		b.WriteString("\n" + d.Date + ": " + known("", d.Sky, "", span+d.High, "precipitation ", d.Rain, "chance of it ", d.Chance,
			"wind up to ", d.Wind, "sunrise ", d.Sunrise, "sunset ", d.Sunset))
	}
	if len(o.Others) > 0 {
		b.WriteString("\nother places of this name: ")
		for i, p := range o.Others {
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(p.Name)
		}
	}
	return b.String()
}

// known joins pairs of a label and a value, without those that have no value.
func known(pairs ...string) string {
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			parts = append(parts, pairs[i]+pairs[i+1])
		}
	}
	return strings.Join(parts, ", ")
}
