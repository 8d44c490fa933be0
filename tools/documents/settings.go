package documents

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/documents/internal/vector"
	"toolcrib/tools/outbound"
)

// Settings are those of the category.
type Settings struct {
	Documents      Documents `file:"documents" help:"search in documents: which searchers are fused, how much is shown, what makes vectors" live:"yes" topic:"documents"`
	EmbeddingToken string    `env:"TOOLCRIB_EMBEDDING_TOKEN" arg:"TOKEN" help:"key of the endpoint of embeddings, its bearer token" live:"yes"`
}

// Documents has the settings that only a file has.
type Documents struct {
	Searchers  []string `json:"searchers,omitempty" jsonschema:"enum=keyword,enum=vector,enum=front_page" jsonschema_description:"what mode hybrid fuses (default keyword and vector); front_page puts the first passages of a single document ahead"`
	MaxTokens  int      `json:"max_tokens,omitempty" jsonschema:"minimum=100,maximum=10000" jsonschema_description:"most tokens of the passages of a call that names no number (default 4000)"`
	Embeddings string   `json:"embeddings,omitempty" jsonschema_description:"URL of an endpoint in the form of OpenAI's, such as https://api.openai.com/v1; it gets the text of documents that are searched by vectors (default none)"`
	Model      string   `json:"model,omitempty" jsonschema_description:"model that the endpoint is asked for"`
	Dimensions int      `json:"dimensions,omitempty" jsonschema:"minimum=1,maximum=8192" jsonschema_description:"numbers of a vector that the endpoint is asked for (default those that the model has)"`
	Batch      int      `json:"batch,omitempty" jsonschema:"minimum=1,maximum=2048" jsonschema_description:"most passages in a request to the endpoint (default 64)"`
	OCR        string   `json:"ocr,omitempty" jsonschema:"pattern=^[A-Za-z_]+([+][A-Za-z_]+)*$" jsonschema_description:"languages of tesseract that images of pages are read with, such as eng+deu (default those that are installed, three at most); never: they are not read"`
	Table      string   `json:"table,omitempty" jsonschema_description:"directory with a table of static embeddings in the form of model2vec, in the place of an endpoint: model.safetensors and tokenizer.json"`
}

// Check returns the errors of the settings.
func (set *Settings) Check(tools.Host) []tools.SettingError {
	var errs []error
	d := set.Documents
	if d.Embeddings != "" {
		if u, err := url.Parse(d.Embeddings); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			errs = append(errs, fmt.Errorf("documents.embeddings: %q is not a URL such as https://api.openai.com/v1", d.Embeddings))
		}
		if d.Model == "" {
			errs = append(errs, errors.New("documents.model: the endpoint must be asked for a model"))
		}
		if d.Table != "" {
			errs = append(errs, errors.New("documents.table: vectors come from documents.embeddings; leave out one of them"))
		}
	}
	if d.Table != "" {
		if err := (&vector.Table{Dir: d.Table}).Check(); err != nil {
			errs = append(errs, fmt.Errorf("documents.table: %w", err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return []tools.SettingError{{Key: "documents", Err: err}}
	}
	return nil
}

// searchers are what mode hybrid fuses.
func (set *Settings) searchers() []string {
	if len(set.Documents.Searchers) == 0 {
		return []string{"keyword", "vector"}
	}
	return slices.Clone(set.Documents.Searchers)
}

func (set *Settings) maxTokens() int { return cmp.Or(set.Documents.MaxTokens, 4000) }

// apply makes what the settings name, which Check has accepted.
func (d *deps) apply(set Settings, setup tools.Setup) {
	var m index.Model
	switch of := set.Documents; {
	case of.Embeddings != "":
		client := new(outbound.Client)
		u, err := url.Parse(of.Embeddings)
		if err == nil {
			err = client.Configure(outbound.Options{Rules: outbound.Rules{Search: true, Private: []string{u.Host}}, Redactor: setup.Redactor})
		}
		if err != nil && setup.Log != nil {
			setup.Log.Error("the endpoint of embeddings cannot be asked", "err", err)
		}
		m = &vector.Endpoint{Client: client, URL: of.Embeddings, Model: of.Model, Key: set.EmbeddingToken, Dimensions: of.Dimensions, Most: of.Batch}
	case of.Table != "":
		m = &vector.Table{Dir: of.Table}
	}
	d.model.Store(&m)
}

// trained returns the model that the user has configured, nil = none.
func (d *deps) trained() index.Model {
	if m := d.model.Load(); m != nil {
		return *m
	}
	return nil
}
