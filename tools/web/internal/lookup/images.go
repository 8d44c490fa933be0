package lookup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The addresses of the services for images, where the configuration names no other.
const (
	OpenverseAddress = "https://api.openverse.org"
	CommonsAddress   = "https://commons.wikimedia.org"
	SerpAPIAddress   = "https://serpapi.com"
)

// Openverse is the catalog of openly licensed images. It wants no key.
func Openverse(address string) Backend {
	d := dialect{said: func(body []byte) string {
		var e struct{ Detail any }
		_ = json.Unmarshal(body, &e) // what is no JSON is no error of its form
		text, _ := e.Detail.(string)
		return text
	}}
	return Backend{
		Name: "openverse", Ignores: []string{"language", "region", "freshness"},
		request: func(q Query) (*http.Request, error) {
			return get(address, "/v1/images/", http.Header{}, "q", q.Text, "page_size", strconv.Itoa(min(q.Limit, 20)), "page", strconv.Itoa(q.Page))
		},
		read: results(d.refusal, func(r struct {
			Title, URL, Thumbnail, Creator, License string
			Page                                    string `json:"foreign_landing_url"`
			Version                                 string `json:"license_version"`
			Width, Height                           int
		}) Hit {
			return Hit{Title: clean(r.Title), URL: cmp.Or(r.Page, r.URL), Image: Image{
				URL: r.URL, Thumbnail: r.Thumbnail, Width: r.Width, Height: r.Height,
				License: license(r.License, r.Version), Creator: clean(r.Creator),
			}}
		}),
	}
}

// license returns the usual name of a license that Openverse names by a code.
func license(code, version string) string {
	switch code {
	case "":
		return ""
	case "cc0":
		return strings.TrimSpace("CC0 " + version)
	case "pdm":
		return "public domain"
	}
	return strings.TrimSpace("CC " + strings.ToUpper(clean(code)) + " " + version)
}

// Commons is Wikimedia Commons. It wants no key.
func Commons(address string) Backend {
	d := dialect{said: func(body []byte) string {
		var e struct {
			Error struct{ Code, Info string }
		}
		_ = json.Unmarshal(body, &e) // what is no JSON is no error of its form
		return strings.TrimSpace(e.Error.Code + " " + e.Error.Info)
	}, by: func(_ int, said string) Outcome {
		if strings.HasPrefix(said, "ratelimited") || strings.HasPrefix(said, "maxlag") {
			return Limited
		}
		return ""
	}}
	type value struct{ Value any }
	type page struct {
		Title string
		Index int
		Info  []struct {
			URL, DescriptionURL, ThumbURL string
			Width, Height                 int
			Meta                          struct{ LicenseShortName, Artist value } `json:"extmetadata"`
		} `json:"imageinfo"`
	}
	return Backend{
		Name: "commons", Ignores: []string{"language", "region", "freshness"},
		request: func(q Query) (*http.Request, error) {
			return get(address, "/w/api.php", http.Header{},
				"action", "query", "format", "json", "generator", "search", "gsrnamespace", "6", "gsrsearch", "filetype:bitmap "+q.Text,
				"gsrlimit", strconv.Itoa(min(q.Limit, 50)), "gsroffset", strconv.Itoa(q.Limit*(q.Page-1)),
				"prop", "imageinfo", "iiprop", "url|size|extmetadata", "iiurlwidth", "320")
		},
		read: reads(d.refusal, func(answer struct {
			Complete any `json:"batchcomplete"`
			Continue any
			Query    struct{ Pages map[string]page }
		}) ([]Hit, error) {
			if len(answer.Query.Pages) == 0 {
				return nil, absent(answer.Complete != nil || answer.Continue != nil)
			}
			var pages []page
			for _, p := range answer.Query.Pages {
				if len(p.Info) > 0 {
					pages = append(pages, p)
				}
			}
			slices.SortFunc(pages, func(a, b page) int { return cmp.Compare(a.Index, b.Index) })
			var hits []Hit
			for _, p := range pages {
				i := p.Info[0]
				text := func(v value) string { s, _ := v.Value.(string); return clean(s) }
				hits = append(hits, Hit{Title: clean(strings.TrimPrefix(p.Title, "File:")), URL: i.DescriptionURL, Image: Image{
					URL: i.URL, Thumbnail: i.ThumbURL, Width: i.Width, Height: i.Height,
					License: text(i.Meta.LicenseShortName), Creator: text(i.Meta.Artist),
				}})
			}
			return hits, nil
		}),
	}
}

// SearXNGImages is an instance of SearXNG.
func SearXNGImages(address string) Backend {
	return Backend{
		Name: "searxng",
		request: func(q Query) (*http.Request, error) {
			return get(address, "/search", http.Header{}, "q", q.operators(), "format", "json", "categories", "images",
				"language", locale(q), "time_range", q.Freshness, "pageno", strconv.Itoa(q.Page), "safesearch", "1")
		},
		read: results(searxng, func(r struct {
			Title, URL, Resolution string
			Image                  string `json:"img_src"`
			Thumbnail              string `json:"thumbnail_src"`
		}) Hit {
			width, height := size(r.Resolution)
			return Hit{Title: clean(r.Title), URL: r.URL, Image: Image{URL: whole(r.Image), Thumbnail: whole(r.Thumbnail), Width: width, Height: height}}
		}),
	}
}

// whole returns an address with the scheme that an instance may leave out.
func whole(address string) string {
	if strings.HasPrefix(address, "//") {
		return "https:" + address
	}
	return address
}

// size reads a resolution such as "1920 x 1080", with any sign between the numbers.
func size(text string) (width, height int) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if len(fields) != 2 {
		return 0, 0
	}
	width, _ = strconv.Atoi(fields[0]) // digits; 0 if there are too many
	height, _ = strconv.Atoi(fields[1])
	return width, height
}

// BraveImages is the API of Brave Search.
func BraveImages(address, key string) Backend {
	b := Brave(address, key)
	b.Ignores = []string{"freshness"}
	b.request = func(q Query) (*http.Request, error) {
		return get(address, "/res/v1/images/search", http.Header{"X-Subscription-Token": {key}},
			"q", q.operators(), "count", strconv.Itoa(q.window(200)), "country", strings.ToUpper(q.Region), "search_lang", q.Language)
	}
	b.paged = true
	b.read = results(brave.refusal, func(r struct {
		Title, URL string
		Thumbnail  struct{ Src string }
		Properties struct {
			URL           string
			Width, Height int
		}
	}) Hit {
		return Hit{Title: clean(r.Title), URL: r.URL, Image: Image{
			URL: r.Properties.URL, Thumbnail: r.Thumbnail.Src, Width: r.Properties.Width, Height: r.Properties.Height,
		}}
	})
	return b
}

// SerperImages is the API of Serper, which asks Google.
func SerperImages(address, key string) Backend {
	b := Serper(address, key)
	b.request = serperRequest(address, "/images", key)
	b.read = reads(serper.refusal, func(answer struct {
		Parameters json.RawMessage `json:"searchParameters"`
		Images     *[]struct {
			Title, ImageURL, ThumbnailURL, Link string
			ImageWidth, ImageHeight             int
		}
	}) ([]Hit, error) {
		if answer.Images == nil {
			return nil, absent(answer.Parameters != nil)
		}
		var hits []Hit
		for _, r := range *answer.Images {
			hits = append(hits, Hit{Title: clean(r.Title), URL: r.Link, Image: Image{
				URL: r.ImageURL, Thumbnail: r.ThumbnailURL, Width: r.ImageWidth, Height: r.ImageHeight,
			}})
		}
		return hits, nil
	})
	return b
}

// serpAPI is how SerpApi refuses. It says that it found nothing in the form of an error.
var serpAPI = dialect{keyed: true, said: func(body []byte) string {
	var e struct{ Error string }
	_ = json.Unmarshal(body, &e) // what is no JSON is no error of its form
	return e.Error
}, by: func(status int, said string) Outcome {
	switch {
	case status == http.StatusOK && strings.Contains(said, "hasn't returned any results"):
		return Empty
	case strings.HasPrefix(said, "Invalid API key"):
		return Key
	}
	return ""
}}

// SerpAPI is the API of SerpApi, which asks Google for images by words.
func SerpAPI(address, key string) Backend {
	return Backend{
		Name: "serpapi",
		request: func(q Query) (*http.Request, error) {
			return get(address, "/search.json", http.Header{}, "engine", "google_images", "q", q.operators(), "api_key", key,
				"ijn", strconv.Itoa(q.Page-1), "hl", q.Language, "gl", strings.ToLower(q.Region), "tbs", letters(q.Freshness, "qdr:d", "qdr:w", "qdr:m", "qdr:y"))
		},
		read: readSerpAPI,
	}
}

// SerpAPILens is the API of SerpApi for images that look like one: the image itself, or nil =
// the one whose address is the text of the query.
func SerpAPILens(address, key string, image []byte) Backend {
	b := Backend{Name: "serpapi", Ignores: []string{"freshness"}, paged: true, read: readSerpAPI}
	named := "url"
	if image != nil {
		named = "image_id"
		b.before = func(ctx context.Context, ask Ask, q *Query) (err error) {
			q.Text, err = uploadSerpAPI(ctx, ask, address, key, image)
			return err
		}
	}
	b.request = func(q Query) (*http.Request, error) {
		return get(address, "/search.json", http.Header{}, "engine", "google_lens", named, q.Text, "api_key", key, "hl", q.Language, "country", strings.ToLower(q.Region))
	}
	return b
}

// MaxSerpAPIImage is the most bytes of an image that SerpApi takes.
const MaxSerpAPIImage = 500_000

// uploadSerpAPI sends an image to SerpApi, and returns the name that it has there for some
// minutes.
func uploadSerpAPI(ctx context.Context, ask Ask, address, key string, image []byte) (string, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err := form.WriteField("api_key", key)
	if err == nil {
		var part io.Writer
		if part, err = form.CreateFormFile("image", "image"); err == nil {
			_, err = part.Write(image)
		}
	}
	if err = cmp.Or(err, form.Close()); err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(address, "/")+"/image", &body)
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Accept", "application/json")
	a, err := ask(ctx, req)
	if err != nil {
		return "", cmp.Or(slow(ctx), err)
	}
	if a.Status == http.StatusCreated {
		a.Status = http.StatusOK
	}
	if err := serpAPI.refusal(a); err != nil {
		return "", err
	}
	var answer struct {
		ID string `json:"image_id"`
	}
	if err := decode(a, &answer); err != nil {
		return "", err
	}
	if answer.ID == "" {
		return "", absent(false)
	}
	return answer.ID, nil
}

// serpAPIResult is an image in an answer of SerpApi.
type serpAPIResult struct {
	Title, Link, Original, Image, Thumbnail string
	Width                                   int    `json:"original_width"`
	Height                                  int    `json:"original_height"`
	License                                 string `json:"license_details_url"`
}

var readSerpAPI = reads(serpAPI.refusal, func(answer struct {
	Metadata json.RawMessage `json:"search_metadata"`
	Images   []serpAPIResult `json:"images_results"`
	Matches  []serpAPIResult `json:"visual_matches"`
}) ([]Hit, error) {
	list := slices.Concat(answer.Images, answer.Matches)
	if len(list) == 0 {
		return nil, absent(answer.Metadata != nil)
	}
	var hits []Hit
	for _, r := range list {
		hits = append(hits, Hit{Title: clean(r.Title), URL: r.Link, Image: Image{
			URL: cmp.Or(r.Original, r.Image), Thumbnail: r.Thumbnail, Width: r.Width, Height: r.Height, License: clean(r.License),
		}})
	}
	return hits, nil
})
