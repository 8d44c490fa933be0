package documents

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

// publicSets are read below sets/ of the cache.
var publicSets = []struct{ file, from string }{
	{"cranfield/cran.all.1400", "cran.all.1400 and cranqrel of noramtboraas/information-retrieval with cran.qry of cky008/CS7IS3A1"},
	{"jaquad/jaquad_dev_0000.json", "data/dev of SkelterLabsInc/JaQuAD"},
	{"iapp/test.jsonl", "squad_format/data/test.jsonl of iapp-technology/iapp-wiki-qa-dataset"},
	{"arcd/arcd.json", "data/arcd.json of husseinmozannar/SOQAL"},
}

// Retrieval ranks passages beside FTS5's tokenizers, and searches a tree that changes, files of
// all formats, and a tree that two servers index.
func Retrieval(ctx context.Context, env harness.Environment) error {
	sets := filepath.Join(env.Cache, "sets")
	for _, set := range publicSets {
		if _, err := os.Stat(filepath.Join(sets, set.file)); err != nil {
			if env.Full() {
				return fmt.Errorf("%s is missing: %w", set.from, err)
			}
			fmt.Printf("%s is missing\n", set.from)
		}
	}
	vars := []string{"TOOLCRIB_RETRIEVAL=" + sets, fmt.Sprintf("TOOLCRIB_RETRIEVAL_TEXTS=%d", env.Of(11_000, 1000))}
	err := harness.Suite(ctx, vars, "./tools/documents/internal/index", "^TestRetrieval$", regexp.MustCompile(`nDCG|indexed`))
	return errors.Join(err, changing(ctx, env), mixed(ctx, env), neighbours(ctx, env))
}

// changing has a server search a tree of documents while they are edited.
func changing(ctx context.Context, env harness.Environment) (err error) {
	base, dir, err := env.Scratch("retrieval")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	r := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(r, 1.1, 20, 200_000)
	n := env.Of(11_000, 300)
	name := func(i int) string { return fmt.Sprintf("%02d/%05d.md", i%100, i) }
	text := func(i int, mark string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "# Page %d\n\nunique%d %s ", i, i, mark)
		for range 300 {
			fmt.Fprintf(&b, "w%xing ", words.Uint64())
		}
		return b.String() + "\n"
	}
	tree := map[string]string{}
	for i := range n {
		tree[name(i)] = text(i, "")
	}
	if err := harness.WriteTree(dir, tree); err != nil {
		return err
	}
	server, err := harness.UseTools(ctx, env.Writer(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	search := func(query string) (string, error) {
		return server.Must("search_documents", map[string]any{"query": query, "limit": 5})
	}
	start := time.Now()
	for left := true; left; {
		answer, err := search("unique0")
		if err != nil {
			return err
		}
		left = strings.Contains(answer, "not yet searched")
	}
	fmt.Printf("%d documents searched after %.1f s\n", n, time.Since(start).Seconds())
	var took []float64
	wrong := 0
	for range 100 {
		i := r.IntN(n)
		start := time.Now()
		answer, err := search(fmt.Sprintf("unique%d w%xing w%xing", i, words.Uint64()%20, words.Uint64()%20))
		if err != nil {
			return err
		}
		took = append(took, harness.Milliseconds(time.Since(start)))
		if !strings.Contains(answer, fmt.Sprintf("/%05d.md", i)) {
			wrong++
		}
	}
	unseen := 0
	edits := env.Of(1000, 20)
	for e := range edits {
		i := r.IntN(n)
		mark := fmt.Sprintf("edit%dz", e)
		if err := harness.WriteTree(dir, map[string]string{name(i): text(i, mark)}); err != nil {
			return err
		}
		answer, err := search(mark)
		if err != nil {
			return err
		}
		if !strings.Contains(answer, fmt.Sprintf("/%05d.md", i)) {
			unseen++
		}
	}
	fmt.Printf("a call p50 %.1f ms; %d of 100 words not found; %d of %d edits not seen by the next call\n", harness.Median(took), wrong, unseen, edits)
	if wrong+unseen > 0 {
		return errors.New("the index is not up to date")
	}
	return nil
}
