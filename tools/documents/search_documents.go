package documents

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/outbound"
)

//go:embed search_documents.md
var searchDocumentsDoc string

// SearchDocumentsIn says what to look for, and where.
type SearchDocumentsIn struct {
	Query       string   `json:"query,omitempty" jsonschema_description:"Question or words to look for." jsonschema:"maxLength=10000" alias:"q,question,text,search_query,search,prompt"`
	Keywords    []string `json:"keywords,omitempty" jsonschema_description:"More lists of words, such as one a language; each is searched apart." jsonschema:"maxItems=10" alias:"keyword"`
	Paths       []string `json:"paths,omitempty" jsonschema_description:"Files, directories or globs; default all documents." jsonschema:"maxItems=100" path:"any" alias:"path,globs,glob,files,file,file_path,file_paths,directory,folder,documents"`
	URLs        []string `json:"urls,omitempty" jsonschema_description:"Pages and documents of the web, in the place of all documents." jsonschema:"maxItems=20" alias:"url"`
	Mode        string   `json:"mode,omitempty" jsonschema_description:"How to rank." jsonschema:"enum=hybrid,enum=keyword,enum=vector,enum=front_page,default=hybrid" alias:"searcher,search_type,method"`
	MaxTokens   int      `json:"max_tokens,omitempty" jsonschema_description:"Most tokens of all passages; default 4000, unless the user has set another number." jsonschema:"minimum=100,maximum=10000" alias:"max_ref_token,token_budget"`
	Limit       int      `json:"limit,omitempty" jsonschema_description:"Most passages." jsonschema:"minimum=1,maximum=100,default=50" alias:"top_k,k,max_results,num_results,count,n"`
	Offset      int      `json:"offset,omitempty" jsonschema_description:"Passages to skip, as the first line of the page before gives it." jsonschema:"minimum=0,maximum=10000,default=0"`
	GroupByFile bool     `json:"group_by_file,omitempty" jsonschema_description:"Passages of a file together, in their order."`
}

// SearchDocumentsOut is the passages that were found.
type SearchDocumentsOut struct {
	result
	tools.More
}

// Text returns a status and the passages.
func (o SearchDocumentsOut) Text() string { return o.text() }

func searchDocumentsTool(d *deps) tools.Tool {
	return tools.New(tools.Def[SearchDocumentsIn, SearchDocumentsOut]{
		Name: "search_documents", Title: "Search documents", Doc: searchDocumentsDoc, Tags: []string{"documents", "search", "text", "passages", "questions", "collection"},
		Aliases: []string{"retrieval", "hybrid_search"},
		Foreign: []tools.Foreign{
			{Name: "keyword_search", Implied: map[string]any{"mode": "keyword"}},
			{Name: "vector_search", Implied: map[string]any{"mode": "vector"}},
			{Name: "front_page_search", Implied: map[string]any{"mode": "front_page"}},
		},
		Access: tools.Read, Effects: tools.None, Repeatable: true, Streams: true,
		Redact: redactSearch,
		Limits: tools.Limits{Facts: map[string]any{"tokens": document.ChunkTokens, "patience": int(patience.Seconds())}},
		Spellings: []schema.Spelling{
			schema.Values("mode", map[string]string{"bm25": "keyword", "keywords": "keyword", "lexical": "keyword", "semantic": "vector", "embedding": "vector", "front": "front_page", "auto": "hybrid"}),
		},
		Examples: []tools.Example[SearchDocumentsIn]{{
			Say: "Which document says how to renew a passport?",
			Files: map[string]string{
				"travel.md": "# Travel\n\n## Passports\n\nA passport is renewed at the town hall.\n\n## Trains\n\nSeats are booked in advance.\n",
				"rent.txt":  "The rent is due on the first day of a month.\n",
			},
			In:   SearchDocumentsIn{Query: "Where are passports renewed?", MaxTokens: 100, Paths: []string{"travel.md", "rent.txt"}},
			Want: "all 3 passages of 2 documents, since they fit\n\n[travel.md:5; Travel > Passports]\nA passport is renewed at the town hall.\n\n[travel.md:9; Travel > Trains]\nSeats are booked in advance.\n\n[rent.txt:1]\nThe rent is due on the first day of a month.\n",
		}},
		Run: d.searchDocuments,
	})
}

// redactSearch keeps secrets in addresses out of records.
func redactSearch(_ context.Context, in SearchDocumentsIn) SearchDocumentsIn {
	in.Paths, in.URLs = slices.Clone(in.Paths), slices.Clone(in.URLs)
	for i, entry := range in.Paths {
		in.Paths[i] = withoutSecrets(entry)
	}
	for i, u := range in.URLs {
		in.URLs[i] = outbound.Shown(u)
	}
	return in
}

func (d *deps) searchDocuments(ctx context.Context, in SearchDocumentsIn) (SearchDocumentsOut, error) {
	x, err := index.Open(ctx, tools.Session(ctx).Workspace, &d.indexed)
	if err != nil {
		return SearchDocumentsOut{}, err
	}
	paths, web := divided(in.Paths, in.URLs)
	c, all := &collection{}, &contents{by: map[index.ID][]string{}}
	if len(paths) > 0 || len(web) == 0 {
		if c, all, err = d.look(ctx, x, paths); err != nil {
			return SearchDocumentsOut{}, err
		}
	}
	if len(web) > 0 {
		c, all = &collection{files: c.files, closed: slices.Clone(c.closed), denied: c.denied}, all.clone()
		if err := d.web(ctx, x, c, all, web, in.Offset > 0); err != nil {
			return SearchDocumentsOut{}, err
		}
	}
	if all.documents == 0 {
		return SearchDocumentsOut{result: result{status: "there are no documents here", notes: c.notes()}}, nil
	}
	set := d.settings.Now()
	s := &search{Index: x, all: all, settings: set, model: d.trained(), request: request{
		query: in.Query, keywords: in.Keywords, mode: in.Mode, maxTokens: cmp.Or(in.MaxTokens, set.maxTokens()), limit: in.Limit, offset: in.Offset, byFile: in.GroupByFile,
	}}
	if err := s.run(ctx); err != nil {
		return SearchDocumentsOut{}, err
	}
	if all.missing > 0 {
		s.notes = fmt.Sprintf("not yet searched: %s of %d; call again to have the index go on\n", textfile.Count(all.missing, "document"), all.documents) + s.notes
	}
	s.notes += c.notes()
	out := SearchDocumentsOut{result: s.result}
	if s.next > 0 {
		out.More = tools.NextAt("offset", s.next)
	}
	return out, ctx.Err()
}
