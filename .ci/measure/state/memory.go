package state

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/.ci/measure/harness"
)

//go:embed facts.tsv
var facts string

const (
	writers = 8
	top     = 10 // results that are looked at
	wanted  = 0.95
)

// Memory has processes write one topic, and finds notes by questions, beside the memory of
// another server.
func Memory(ctx context.Context, env harness.Environment) error {
	fmt.Println("| memory: 8 processes write one topic, each round with the version of the one before | rounds | winners | versions that are kept | lost |\n|---|---|---|---|---|")
	err := onBoth(ctx, env, "files", func(ctx context.Context, w world) error {
		rounds := env.Of(200, 5)
		winners, kept, err := compete(ctx, w, rounds)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %d | %d | %d |\n", w.name, rounds, winners, kept, rounds-kept)
		if winners != rounds || kept != rounds {
			return fmt.Errorf("%d winners and %d versions in %d rounds", winners, kept, rounds)
		}
		return nil
	})
	if err != nil {
		return err
	}
	notes := notesOf()
	asked := questions(notes, env.Of(200, 20))
	fmt.Printf("\n| %d questions over %d notes, English and Chinese | recall@%d | English | Chinese | a question, median |\n|---|---|---|---|---|\n", len(asked), len(notes), top)
	if err := (world{env: env}).run(ctx, func(ctx context.Context, w world) error { return recall(ctx, w, notes, asked) }); err != nil {
		return err
	}
	return peerRecall(ctx, env, notes, asked)
}

// compete has processes write one topic and returns how many won a round, and how many
// versions are kept.
func compete(ctx context.Context, w world, rounds int) (winners, kept int, err error) {
	processes := make([]*harness.ToolUser, writers)
	for i := range processes {
		if processes[i], err = w.start(ctx); err != nil {
			return 0, 0, err
		}
	}
	for round := range rounds {
		errs := make([]error, writers)
		won := make([]bool, writers)
		var wg sync.WaitGroup
		for i, p := range processes {
			wg.Go(func() {
				var a harness.Answer
				a, errs[i] = p.Use("memory_write", map[string]any{"topic": "decision", "content": fmt.Sprintf("round %d was won by %d", round, i), "expected_version": round})
				if won[i] = !a.Failed; a.Failed && a.Code != "conflict" {
					errs[i] = errors.New(a.Text)
				}
			})
		}
		wg.Wait()
		if err := harness.FirstOf(errs); err != nil {
			return 0, 0, err
		}
		count := 0
		for _, yes := range won {
			if yes {
				count++
			}
		}
		if count != 1 {
			return 0, 0, fmt.Errorf("round %d had %d winners", round, count)
		}
		winners++
		a, err := processes[0].Must("memory_read", map[string]any{"topic": "decision", "version": round + 1})
		if err != nil {
			return 0, 0, err
		}
		if i := slices.Index(won, true); strings.HasSuffix(a, fmt.Sprintf("round %d was won by %d", round, i)) {
			kept++
		}
	}
	for _, p := range processes {
		err = errors.Join(err, p.Close())
	}
	return winners, kept, err
}

// note is a fact about an entity.
type note struct{ topic, content, question, language string }

// notesOf returns the notes of the table: each kind of fact for each entity.
func notesOf() (notes []note) {
	var entities []string
	language := ""
	for line := range strings.Lines(facts) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case fields[0] == "entities":
			entities = strings.Fields(fields[1])
			language = map[string]string{"": "English", "English": "Chinese"}[language]
		default:
			values := strings.Fields(fields[3])
			for i, e := range entities {
				fill := strings.NewReplacer("{e}", e, "{v}", values[i%len(values)])
				notes = append(notes, note{e + " " + fields[0], fill.Replace(fields[1]), fill.Replace(fields[2]), language})
			}
		}
	}
	return notes
}

// questions returns some of the notes, evenly, whose questions are asked.
func questions(notes []note, n int) (asked []int) {
	for i := range n {
		asked = append(asked, i*len(notes)/n+i%(len(notes)/n))
	}
	return asked
}

// recall writes the notes and asks.
func recall(ctx context.Context, w world, notes []note, asked []int) error {
	p, err := w.start(ctx)
	if err != nil {
		return err
	}
	ids := make([]string, len(notes))
	for i, n := range notes {
		text, err := p.Must("memory_write", map[string]any{"topic": n.topic, "content": n.content})
		if err != nil {
			return err
		}
		_, rest, _ := strings.Cut(text, "[")
		ids[i], _, _ = strings.Cut(rest, "]")
	}
	s := new(score)
	for _, i := range asked {
		begin := time.Now()
		text, err := p.Must("memory_search", map[string]any{"query": notes[i].question, "limit": top})
		if err != nil {
			return err
		}
		s.add(notes[i], strings.Contains(text, "["+ids[i]+"]"), time.Since(begin))
	}
	s.print("toolcrib")
	if share := s.share(""); share < wanted {
		return fmt.Errorf("recall@%d is %.3f, not %.2f", top, share, wanted)
	}
	return p.Close()
}

// score counts the questions that were answered.
type score struct {
	found, asked map[string]int // by language
	took         []time.Duration
}

func (s *score) add(n note, found bool, took time.Duration) {
	if s.asked == nil {
		s.found, s.asked = map[string]int{}, map[string]int{}
	}
	for _, language := range []string{"", n.language} {
		s.asked[language]++
		if found {
			s.found[language]++
		}
	}
	s.took = append(s.took, took)
}

func (s *score) share(language string) float64 {
	return float64(s.found[language]) / float64(max(s.asked[language], 1))
}

func (s *score) print(name string) {
	fmt.Printf("| %s | %.3f | %.3f | %.3f | %.1f ms |\n", name, s.share(""), s.share("English"), s.share("Chinese"), harness.Milliseconds(harness.Median(s.took)))
}

// peerRecall asks the memory of the reference servers: the question as it is, and each of its
// words by itself, the notes that most words find first, as a patient model would.
func peerRecall(ctx context.Context, env harness.Environment, notes []note, asked []int) error {
	dir, remove, err := harness.Temporary("memory")
	if err != nil {
		return err
	}
	defer remove()
	cmd := exec.CommandContext(ctx, env.NPM(".bin/node"), env.NPM("@modelcontextprotocol/server-memory/dist/index.js"))
	cmd.Env = append(os.Environ(), "MEMORY_FILE_PATH="+filepath.Join(dir, "memory.jsonl"))
	p, err := harness.UseCommand(cmd)
	if err != nil {
		return fmt.Errorf("server-memory: %w; run .ci/install", err)
	}
	var entities []map[string]any
	for _, n := range notes {
		entities = append(entities, map[string]any{"name": n.topic, "entityType": "fact", "observations": []string{n.content}})
	}
	if _, err := p.Must("create_entities", map[string]any{"entities": entities}); err != nil {
		return err
	}
	search := func(query string) (names []string, err error) {
		text, err := p.Must("search_nodes", map[string]any{"query": query})
		if err != nil {
			return nil, err
		}
		var graph struct{ Entities []struct{ Name string } }
		err = json.Unmarshal([]byte(text), &graph)
		for _, e := range graph.Entities {
			names = append(names, e.Name)
		}
		return names, err
	}
	whole, words := new(score), new(score)
	for _, i := range asked {
		begin := time.Now()
		names, err := search(notes[i].question)
		if err != nil {
			return err
		}
		whole.add(notes[i], slices.Contains(names[:min(len(names), top)], notes[i].topic), time.Since(begin))
		begin = time.Now()
		hits := map[string]int{}
		for word := range strings.FieldsFuncSeq(notes[i].question, func(r rune) bool { return strings.ContainsRune(" ?？，,", r) }) {
			if names, err = search(word); err != nil {
				return err
			}
			for _, name := range names {
				hits[name]++
			}
		}
		ranked := make([]string, 0, len(hits))
		for _, n := range notes { // those that are as good stay in their order
			if hits[n.topic] > 0 {
				ranked = append(ranked, n.topic)
			}
		}
		slices.SortStableFunc(ranked, func(a, b string) int { return cmp.Compare(hits[b], hits[a]) })
		words.add(notes[i], slices.Contains(ranked[:min(len(ranked), top)], notes[i].topic), time.Since(begin))
	}
	whole.print("server-memory, the question")
	words.print("server-memory, each word of it")
	return p.Close()
}
