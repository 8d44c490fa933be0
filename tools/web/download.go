package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/losses"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/outbound"
	"toolcrib/workspace"
)

//go:embed download.md
var downloadDoc string

// DownloadIn is a file of the web and where it goes.
type DownloadIn struct {
	URL          string `json:"url" jsonschema:"minLength=1,maxLength=8000" jsonschema_description:"http or https" alias:"uri,link,address"`
	Path         string `json:"path" jsonschema_description:"file to write, or a directory with / at its end for a name of the server's" path:"any" alias:"file_path,destination,save_path,output,filename"`
	Overwrite    bool   `json:"overwrite,omitempty" jsonschema:"default=false" jsonschema_description:"replace what is at path" alias:"force"`
	ExpectedHash string `json:"expected_hash,omitempty" jsonschema:"minLength=12,maxLength=64" jsonschema_description:"SHA-256 that the file must have, or its first 12 digits or more" alias:"sha256,checksum,hash"`
}

// DownloadOut is the file.
type DownloadOut struct {
	Path, URL string
	Size      int64
	Type      string
	Hash      string
	Resumed   int64 // bytes that an earlier call had read
	Notes     []string
}

func downloadTool(e *engine) tools.Tool {
	return tools.New(tools.Def[DownloadIn, DownloadOut]{
		Name: "download", Title: "Download a file", Doc: downloadDoc, Tags: []string{"web", "http", "files", "save"},
		Access: tools.Write, Effects: tools.Network | tools.Workspace | tools.Destroys, Streams: true,
		Timeout: downloadTime + time.Minute,
		Limits:  tools.Limits{Facts: map[string]any{"most": textfile.Size(mostDownload), "time": "30 minutes"}},
		Redact: func(_ context.Context, in DownloadIn) DownloadIn {
			in.URL = outbound.Shown(in.URL)
			return in
		},
		Confirm: downloadQuestion,
		Examples: []tools.Example[DownloadIn]{{
			Say:   "a data set",
			In:    DownloadIn{URL: "https://data.example.org/kites.csv", Path: "data/"},
			Want:  "data/kites.csv: downloaded 18 B of text/csv from https://data.example.org/kites.csv; hash …",
			After: map[string]string{"data/kites.csv": "name,count\nred,12\n"},
		}},
		Run: e.download,
	})
}

const (
	mostDownload = 2 << 30
	downloadTime = 30 * time.Minute
	partsFolder  = "downloads"
	partTime     = 24 * time.Hour // that a part is kept for
)

func downloadQuestion(ctx context.Context, in DownloadIn) (tools.Question, error) {
	if !in.Overwrite {
		return tools.Question{}, nil // what exists is not replaced
	}
	return losses.Overwriting(ctx, in.Path)
}

func (e *engine) download(ctx context.Context, in DownloadIn) (DownloadOut, error) {
	u, err := address(in.URL)
	if err != nil {
		return DownloadOut{}, err
	}
	at, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return DownloadOut{}, err
	}
	info, exists, err := at.Find(true)
	if err != nil {
		return DownloadOut{}, err
	}
	into := strings.HasSuffix(in.Path, "/") || exists && info.Kind == workspace.KindDirectory
	if exists && !into && !in.Overwrite {
		return DownloadOut{}, tools.Errorf(tools.AlreadyExists, "%s exists", at).WithHint("overwrite=true replaces it")
	}
	part, err := openPart(ctx, u.String())
	if err != nil {
		return DownloadOut{}, err
	}
	defer part.close()
	out := DownloadOut{URL: shown(u.String())}
	res, err := reaching(ctx, e, func() (received, error) {
		if err := e.mayRead(ctx, u, 0); err != nil {
			return received{}, err
		}
		return e.fetchPart(ctx, u.String(), part, &out)
	})
	if err != nil {
		return DownloadOut{}, err
	}
	if in.ExpectedHash != "" {
		if sum, err := part.hash(); err != nil {
			return DownloadOut{}, err
		} else if !strings.HasPrefix(sum, strings.ToLower(in.ExpectedHash)) {
			part.drop()
			return DownloadOut{}, tools.Errorf(tools.Conflict, "%s: the hash of what the server sent is %s, not %s", out.URL, sum, in.ExpectedHash).
				WithHint("nothing was written; check where the expected hash is from")
		}
	}
	if into {
		if at, err = at.Join(fileName(res.header, res.url)); err != nil {
			return DownloadOut{}, err
		}
		if there, why := losses.Irreversible(ctx, at, true); why != "" && in.Overwrite { // its name was not known when the user could be asked
			return DownloadOut{}, tools.Errorf(tools.AlreadyExists, "%s exists; %s", there, why).WithHint("give its whole path, so that the user can be asked")
		}
	}
	return e.keepPart(ctx, in, at, part, out)
}

// received is what is needed of a response when its body was read.
type received struct {
	url    string
	header http.Header
}

// fetchPart reads what is missing of a file, or all of it if the part does not fit any more.
func (e *engine) fetchPart(ctx context.Context, at string, p *part, out *DownloadOut) (received, error) {
	got, err := e.fetchFrom(ctx, at, p, out)
	if errors.Is(err, errPart) {
		if err := p.empty(); err != nil {
			return received{}, err
		}
		got, err = e.fetchFrom(ctx, at, p, out)
	}
	return got, err
}

// errPart says that what an earlier call has read is not the beginning of the file.
var errPart = errors.New("the server no longer has the file of which an earlier call has read a part")

func (e *engine) fetchFrom(ctx context.Context, at string, p *part, out *DownloadOut) (received, error) {
	header := http.Header{"Accept": {"*/*"}, "Accept-Encoding": {"identity"}}
	begin := p.size()
	if p.Validator == "" {
		begin = 0
	}
	if begin > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", begin))
		header.Set("If-Range", p.Validator)
	}
	have, tell := int64(0), tools.Progress(ctx)
	whole := tools.WithProgress(ctx, func(of tools.ProgressEvent) { // of all of the file, not of what is missing
		of.Done += float64(have)
		if of.Total > 0 {
			of.Total += float64(have)
		}
		tell(of)
	})
	res, err := e.client().Do(whole, outbound.Request{URL: at, Header: header, MaxBytes: mostDownload, Timeout: downloadTime})
	if err != nil {
		return received{}, err
	}
	defer res.Body.Close()
	if err := e.mayRead(ctx, parsed(res.URL), 0); err != nil {
		return received{}, err
	}
	ranges := res.Header.Get("Content-Range")
	switch {
	case begin > 0 && p.other(res.Header) && (res.Status == http.StatusPartialContent || res.Status == http.StatusRequestedRangeNotSatisfiable):
		return received{}, errPart
	case begin > 0 && res.Status == http.StatusPartialContent && strings.HasPrefix(ranges, fmt.Sprintf("bytes %d-", begin)):
		have = begin
		out.Resumed = have
	case begin > 0 && res.Status == http.StatusRequestedRangeNotSatisfiable && ranges == fmt.Sprintf("bytes */%d", begin): // nothing is missing
		out.Resumed, out.URL = begin, shown(res.URL)
		return received{res.URL, res.Header}, nil
	case begin > 0 && (res.Status == http.StatusPartialContent || res.Status == http.StatusRequestedRangeNotSatisfiable):
		return received{}, errPart
	case res.Status == http.StatusOK:
		if err := p.begin(res.Header); err != nil {
			return received{}, err
		}
	default:
		body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // for the error alone
		err := refused(&outbound.Page{URL: res.URL, Status: res.Status, Header: res.Header, Body: body})
		return received{}, cmp.Or(err, error(tools.Errorf(tools.Unsupported, "%s: HTTP %d, which has no file", out.URL, res.Status)))
	}
	n, err := io.Copy(p.file, res.Body)
	if err != nil {
		e := *tools.AsError(err)
		if p.Validator != "" && e.Code.Retryable() {
			e.Hint = "call again: it goes on after " + textfile.Size(have+n)
		}
		return received{}, &e
	}
	if res.Length >= 0 && n != res.Length {
		return received{}, tools.Errorf(tools.Unavailable, "%s: the file ends after %s of %s", out.URL, textfile.Size(have+n), textfile.Size(have+res.Length)).WithHint("call again")
	}
	out.URL = shown(res.URL)
	return received{res.URL, res.Header}, nil
}

// keepPart writes the file of the workspace.
func (e *engine) keepPart(ctx context.Context, in DownloadIn, at workspace.Path, p *part, out DownloadOut) (DownloadOut, error) {
	head := make([]byte, 512)
	n, err := p.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return DownloadOut{}, err
	}
	out.Type, _, _ = mime.ParseMediaType(http.DetectContentType(head[:n])) // what it returns can be parsed
	declared, _, err := mime.ParseMediaType(p.Type)
	if err == nil && (out.Type == "application/octet-stream" || out.Type == "text/plain") {
		out.Type = declared
	}
	if out.Type == "text/html" && !strings.HasPrefix(path.Ext(at.String()), ".htm") && path.Ext(at.String()) != "" {
		out.Notes = append(out.Notes, "it is a web page: the file may be behind a link of it, which web_fetch shows")
	}
	s := tools.Session(ctx)
	receipt, err := s.Workspace.Apply(ctx, workspace.Change{Tool: "download", Principal: s.Principal, Client: s.Client.Name, Call: s.Call, Group: s.Group, Ops: []workspace.Op{{
		Kind: workspace.OpWrite, Path: at, Expect: workspace.Expect{Absent: !in.Overwrite},
		Fill: func(to io.Writer) error {
			_, err := io.Copy(to, io.NewSectionReader(p.file, 0, p.size()))
			return err
		},
	}}})
	if e := tools.AsError(err); e != nil {
		if e.Code == tools.AlreadyExists {
			return DownloadOut{}, e.WithHint("overwrite=true replaces it")
		}
		return DownloadOut{}, err
	}
	p.drop()
	done := receipt.Done[0]
	out.Path, out.Size, out.Hash = done.Path, done.After.Size, done.After.Hash
	out.Notes = append(out.Notes, done.Notes...)
	tools.Changed(ctx, out.Path)
	return out, nil
}

// part is a file that is downloaded, in the state of the workspace. If the download breaks
// off, it stays there for the next call. While a call has it, it has a name of its own, so
// that no other call writes to it.
type part struct {
	Validator string // ETag or date of the file; "" = it cannot be resumed
	Type      string

	root *os.Root
	name string // between calls
	mine string
	file *os.File
}

// openPart opens the part of an address, of this principal.
func openPart(ctx context.Context, at string) (_ *part, err error) {
	s := tools.Session(ctx)
	dir, err := s.Workspace.State()
	if err != nil {
		return nil, tools.Errorf(tools.Unavailable, "no state directory to download to: %v", err)
	}
	sum := sha256.Sum256([]byte(s.Principal + "\x00" + at))
	p := &part{name: hex.EncodeToString(sum[:16])}
	p.mine = p.name + "." + rand.Text()
	if p.root, err = dir.Folder(partsFolder); err != nil {
		return nil, err
	}
	p.sweep()
	if p.root.Rename(p.name, p.mine) == nil {
		data, err := p.root.ReadFile(p.name + ".json")
		if err != nil || json.Unmarshal(data, p) != nil {
			p.Validator = ""
		}
	}
	if p.file, err = p.root.OpenFile(p.mine, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		p.close()
		return nil, err
	}
	_, err = p.file.Seek(0, io.SeekEnd)
	return p, err
}

// sweep removes parts that nobody came back for.
func (p *part) sweep() {
	dir, err := p.root.Open(".")
	if err != nil {
		return // the next call tries again
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(-1) // likewise
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > partTime {
			_ = p.root.Remove(entry.Name())
		}
	}
}

// begin empties the part for a file that is read from its start.
func (p *part) begin(header http.Header) error {
	p.Type = header.Get("Content-Type")
	err := p.empty()
	if tag := header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		p.Validator = tag
	} else if tag == "" {
		p.Validator = header.Get("Last-Modified")
	}
	return err
}

// empty forgets what was read.
func (p *part) empty() error {
	p.drop()
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	_, err := p.file.Seek(0, io.SeekStart)
	return err
}

// other reports whether an answer says that it is of another version of the file.
func (p *part) other(header http.Header) bool {
	for _, name := range [...]string{"ETag", "Last-Modified"} {
		if v := header.Get(name); v != "" && strings.HasPrefix(p.Validator, `"`) == (name == "ETag") {
			return v != p.Validator
		}
	}
	return false
}

func (p *part) size() int64 {
	info, err := p.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

func (p *part) hash() (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, io.NewSectionReader(p.file, 0, p.size()))
	return hex.EncodeToString(sum.Sum(nil)), err
}

// drop forgets the part: it is written, or not wanted.
func (p *part) drop() { p.Validator = "" }

// close keeps the part for the next call if it can be resumed, and removes it otherwise.
func (p *part) close() {
	kept := false
	if p.file != nil {
		kept = p.Validator != "" && p.size() > 0
		_ = p.file.Close() // what is missing at its end is read again
	}
	if data, err := json.Marshal(p); kept && err == nil && p.root.WriteFile(p.name+".json", data, 0o600) == nil {
		kept = p.root.Rename(p.mine, p.name) == nil
	}
	if !kept {
		_ = p.root.Remove(p.mine)
		_ = p.root.Remove(p.name + ".json")
	}
	_ = p.root.Close()
}

// Text implements [tools.Texter].
func (o DownloadOut) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: downloaded %s of %s from %s", o.Path, textfile.Size(o.Size), o.Type, o.URL)
	if o.Resumed > 0 {
		fmt.Fprintf(&b, ", the first %s by an earlier call", textfile.Size(o.Resumed))
	}
	fmt.Fprintf(&b, "; hash %s", o.Hash[:min(12, len(o.Hash))])
	for _, note := range o.Notes {
		b.WriteString("\n" + note)
	}
	return b.String()
}
