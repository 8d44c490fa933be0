package tasks

import (
	"maps"
	"regexp"
	"time"
)

const team3 = "grep -rl 'owner: team-3$' --include=service.yaml services | wc -l"

// ourQuestions answers, in this order: where is drain defined, which service has dark mode,
// who uses with_retry, who uses md5, which API version is it, at which port is s012, which
// files have legacy in their names, what is to do, what needs DEPLOY_TOKEN, and how many
// services has team 3.
func ourQuestions(p *player) {
	p.call("grep", args("pattern", "def drain"))
	p.call("grep", args("pattern", "dark-mode"))
	p.call("grep", args("pattern", "import with_retry", "mode", "files"))
	p.call("grep", args("pattern", "md5", "mode", "files"))
	p.call("grep", args("pattern", "API_VERSION ="))
	p.call("read_file", args("path", "services/s012/service.yaml"))
	p.call("glob", args("pattern", []any{"*legacy*"}))
	p.call("grep", args("pattern", "TODO"))
	p.call("grep", args("pattern", "DEPLOY_TOKEN"))
	p.run(team3)
}

// theirQuestions asks for lines to their ends: a result has only what matches.
func theirQuestions(p *player) {
	content := func(pattern string) { p.search("pattern", pattern, "searchType", "content") }
	content("def drain")
	content("dark-mode")
	content("import with_retry")
	content("md5")
	content("API_VERSION =.*")
	p.call("read_file", args("path", p.at("services/s012/service.yaml")))
	p.search("pattern", "legacy", "searchType", "files")
	content("TODO.*")
	content("DEPLOY_TOKEN")
	p.start(team3)
}

func answered(p *player) error {
	return p.said("services/s017/module031.py", "services/s023/service.yaml", "services/s028/module004.py", "legacy_auth.py", "2026-02", "port: 9012",
		"retry when the queue is full", "docs/deploy.md")
}

var (
	session = regexp.MustCompile(`session:? (search_[A-Za-z0-9_]+)`)
	going   = regexp.MustCompile(`Status: (?:RUNNING|IN PROGRESS)`)
)

// search starts a search of DesktopCommander and, if that has not ended with the answer,
// reads its results once when it has: a model takes longer to ask than a search to end.
func (p *player) search(pairs ...any) {
	all := args("path", p.dir)
	maps.Copy(all, args(pairs...))
	started := p.call("start_search", all)
	m := session.FindStringSubmatch(started)
	if m == nil || !going.MatchString(started) {
		return
	}
	more := args("sessionId", m[1])
	for range 600 {
		text := p.try("get_more_search_results", more)
		if p.err == nil && going.MatchString(text) {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		p.count(more, text)
		return
	}
}
