package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/outbound"
	"toolcrib/tools/web/internal/lookup"
)

//go:embed image_search.md
var imageSearchDoc string

// ImageSearchIn is what to look for: words, or an image.
type ImageSearchIn struct {
	Query    string   `json:"query,omitempty" jsonschema:"maxLength=400" jsonschema_description:"what the images show" alias:"q,keywords,text"`
	Image    string   `json:"image,omitempty" jsonschema:"maxLength=2000" jsonschema_description:"public URL of an image, to find images like it, instead of query" alias:"image_url,url,img_url"`
	Path     string   `json:"path,omitempty" jsonschema_description:"image of the workspace, to find images like it; the user is asked" path:"file" alias:"file,file_path,image_path"`
	Limit    int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,default=10" jsonschema_description:"most results" alias:"count,num,max_results,top_k,n"`
	Page     int      `json:"page,omitempty" jsonschema:"minimum=1,maximum=10,default=1" jsonschema_description:"page of the results"`
	Show     int      `json:"show,omitempty" jsonschema:"minimum=0,maximum=6,default=0" jsonschema_description:"show small versions of so many results"`
	Backends []string `json:"backends,omitempty" jsonschema:"enum=brave,enum=serper,enum=serpapi,enum=searxng,enum=openverse,enum=commons,maxItems=6" jsonschema_description:"services to ask, instead of all that are configured" alias:"engines,providers"`
}

// ImageSearchOut is what was found.
type ImageSearchOut struct {
	Found
	Dead  int // hits left out because their image is not there
	shown []tools.Block
}

func imageSearchTool(e *engine) tools.Tool {
	return tools.New(tools.Def[ImageSearchIn, ImageSearchOut]{
		Name: "image_search", Title: "Search for images", Doc: imageSearchDoc, Tags: []string{"web", "search", "images", "photos", "similar images"},
		Access: tools.External, Effects: tools.Network, Repeatable: true,
		Redact: func(_ context.Context, in ImageSearchIn) ImageSearchIn {
			in.Image = outbound.Shown(in.Image)
			return in
		},
		Confirm: e.imageQuestion,
		Examples: []tools.Example[ImageSearchIn]{{
			Say:  "images that may be used",
			In:   ImageSearchIn{Query: "red kite", Limit: 1, Backends: []string{"openverse"}},
			Want: "1 result for \"red kite\" (" + outside + ")\n\n1. Red kite\nhttps://photos.example.org/kite\nimage https://img.example.org/kite.png, 800x600, CC BY 4.0, by A. Bird\n\nopenverse: ok, 1",
		}},
		Run: e.imageSearch,
	})
}

// imageQuestion asks before an image of the workspace leaves the machine.
func (e *engine) imageQuestion(ctx context.Context, in ImageSearchIn) (tools.Question, error) {
	if in.Path == "" || e.settings.Now().SerpAPI == "" {
		return tools.Question{}, nil
	}
	path, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return tools.Question{}, err
	}
	return tools.Question{Message: fmt.Sprintf("send the image %s to SerpApi, which asks Google for images like it", path)}, nil
}

func (e *engine) imageSearch(ctx context.Context, in ImageSearchIn) (ImageSearchOut, error) {
	given := 0
	for _, text := range [...]string{in.Query, in.Image, in.Path} {
		if text != "" {
			given++
		}
	}
	if given != 1 {
		return ImageSearchOut{}, tools.Errorf(tools.InvalidArgument, "give one of query, image and path")
	}
	what, text := "images", in.Query
	var list []lookup.Backend
	var err error
	if in.Query != "" {
		list, err = choose(e.backends(true), in.Backends, e.settings.Now().Web.Images)
	} else {
		what = "alike"
		text, list, err = e.alike(ctx, in)
	}
	if err != nil {
		return ImageSearchOut{}, err
	}
	out := ImageSearchOut{}
	if out.Found, err = e.search(ctx, what, list, lookup.Query{Text: text, Limit: in.Limit, Page: in.Page}); err != nil {
		return ImageSearchOut{}, err
	}
	out.Query = cmp.Or(in.Query, in.Path, shown(in.Image))
	out.Hits, out.Dead = e.living(ctx, out.Hits)
	out.shown = e.thumbnails(ctx, out.Hits, in.Show)
	return out, ctx.Err()
}

// alike returns the service that finds images like one, and how that one is named.
func (e *engine) alike(ctx context.Context, in ImageSearchIn) (name string, list []lookup.Backend, err error) {
	set := e.settings.Now()
	switch {
	case in.Image != "" && !strings.HasPrefix(in.Image, "http://") && !strings.HasPrefix(in.Image, "https://"):
		return "", nil, tools.Errorf(tools.InvalidArgument, "image is not a URL").WithHint("a file of the workspace is given as path")
	case set.SerpAPI == "":
		return "", nil, tools.Errorf(tools.Unavailable, "no service that finds images like an image is configured").
			WithHint("describe the image in words as query, or let the user set SERPAPI_API_KEY for the server")
	}
	var image []byte
	name = in.Image
	if in.Path != "" {
		if image, err = e.light(ctx, in.Path); err != nil {
			return "", nil, err
		}
		sum := sha256.Sum256(image)
		name = hex.EncodeToString(sum[:])
	}
	return name, []lookup.Backend{lookup.SerpAPILens(set.address("serpapi"), set.SerpAPI, image)}, nil
}

// light returns an image of the workspace, of no more bytes than a service takes.
func (e *engine) light(ctx context.Context, name string) ([]byte, error) {
	path, err := tools.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	file, err := path.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head := make([]byte, 512)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	pic, err := e.converter.Show(ctx, io.NewSectionReader(file, 0, file.Info().Size), http.DetectContentType(head[:n]))
	if err != nil {
		return nil, tools.Errorf(tools.Unsupported, "%s: %v", path, err)
	}
	if len(pic.Block.Data) <= lookup.MaxSerpAPIImage {
		return pic.Block.Data, nil
	}
	img, _, err := image.Decode(bytes.NewReader(pic.Block.Data))
	if err != nil {
		return nil, err
	}
	flat := image.NewRGBA(img.Bounds()) // on white, since JPEG has no transparency
	draw.Draw(flat, flat.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(flat, flat.Rect, img, flat.Rect.Min, draw.Over)
	var b bytes.Buffer
	for quality := 85; quality > 0; quality -= 20 {
		b.Reset()
		if err := jpeg.Encode(&b, flat, &jpeg.Options{Quality: quality}); err != nil {
			return nil, err
		}
		if b.Len() <= lookup.MaxSerpAPIImage {
			return b.Bytes(), nil
		}
	}
	return nil, tools.Errorf(tools.TooLarge, "%s: the service takes images of %s", path, textfile.Size(lookup.MaxSerpAPIImage)).WithHint("give a smaller copy")
}

const (
	lookTime      = 5 * time.Second // for all links of a result together
	mostThumbnail = 2 << 20
)

// living leaves out hits whose image is not there any more. One whose server says nothing in
// time stays.
func (e *engine) living(ctx context.Context, hits []lookup.Hit) (living []lookup.Hit, dead int) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	gone := make([]bool, len(hits))
	var wg sync.WaitGroup
	for i, h := range hits {
		wg.Go(func() {
			res, err := e.client().Do(ctx, outbound.Request{Method: http.MethodHead, URL: h.Image.URL, Timeout: lookTime, Tries: 1})
			if err != nil {
				code := tools.AsError(err).Code
				gone[i] = code == tools.NotFound || code == tools.Denied || code == tools.InvalidArgument
				return
			}
			_ = res.Body.Close() // it has none
			gone[i] = res.Status == http.StatusNotFound || res.Status == http.StatusGone
		})
	}
	wg.Wait()
	for i, h := range hits {
		if !gone[i] {
			living = append(living, h)
		}
	}
	return living, len(hits) - len(living)
}

// thumbnails fetches small versions of the first images, with a line before each.
func (e *engine) thumbnails(ctx context.Context, hits []lookup.Hit, most int) []tools.Block {
	hits = hits[:min(most, len(hits))]
	blocks := make([][]tools.Block, len(hits))
	var wg sync.WaitGroup
	for i, h := range hits {
		wg.Go(func() {
			image, err := e.thumbnail(ctx, cmp.Or(h.Image.Thumbnail, h.Image.URL))
			if err != nil {
				blocks[i] = []tools.Block{tools.Text(fmt.Sprintf("%d. cannot be shown: %s", i+1, tools.AsError(err).Msg))}
				return
			}
			blocks[i] = []tools.Block{tools.Text(fmt.Sprintf("%d. %s", i+1, h.Title)), image}
		})
	}
	wg.Wait()
	return slices.Concat(blocks...)
}

func (e *engine) thumbnail(ctx context.Context, url string) (tools.Block, error) {
	res, err := e.client().Do(ctx, outbound.Request{URL: url, MaxBytes: mostThumbnail, Timeout: lookTime, Tries: 1})
	if err != nil {
		return tools.Block{}, err
	}
	defer res.Body.Close()
	if res.Status != http.StatusOK {
		return tools.Block{}, tools.Errorf(tools.Unavailable, "HTTP %d", res.Status)
	}
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return tools.Block{}, err
	}
	pic, err := e.converter.Show(ctx, io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), http.DetectContentType(data))
	return pic.Block, err
}

// Text implements [tools.Texter].
func (o ImageSearchOut) Text() string {
	for i := range o.Hits {
		h := &o.Hits[i]
		parts := []string{"image " + h.Image.URL}
		if h.Image.Width > 0 && h.Image.Height > 0 {
			parts = append(parts, fmt.Sprintf("%dx%d", h.Image.Width, h.Image.Height))
		}
		if h.Image.License != "" {
			parts = append(parts, h.Image.License)
		}
		if h.Image.Creator != "" {
			parts = append(parts, "by "+h.Image.Creator)
		}
		h.Snippet = strings.Join(parts, ", ")
	}
	text := o.Found.Text()
	if o.Dead > 0 {
		text += fmt.Sprintf("; %s left out, whose image is not there any more", textfile.Count(o.Dead, "result"))
	}
	return text
}

// Content implements [tools.Contenter].
func (o ImageSearchOut) Content() []tools.Block {
	return append([]tools.Block{tools.Text(o.Text())}, o.shown...)
}

// Trim implements [tools.Trimmer]: the last results go first.
func (o ImageSearchOut) Trim(budget int) ImageSearchOut {
	for len(o.Hits) > 1 && len(o.Text()) > budget {
		o.Hits = o.Hits[:len(o.Hits)-1]
		o.Cut++
	}
	return o
}
