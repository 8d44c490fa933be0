package cli

import (
	"embed"
	"strings"
)

// topicFiles holds the topics of "toolcrib help": Markdown that reads well in a
// terminal and on a code host. Each begins with "# Name: summary".
//
//go:embed help/*.md
var topicFiles embed.FS

// topic is a page of help that is not about one command.
type topic struct {
	name    string // as given to help: the name of the file
	summary string // one line, for the list
	text    string
}

// topics returns all topics by name.
func topics() []topic {
	const dir = "help"
	entries, err := topicFiles.ReadDir(dir)
	if err != nil {
		panic(err) // it is part of the program
	}
	all := make([]topic, 0, len(entries))
	for _, e := range entries {
		text, err := topicFiles.ReadFile(dir + "/" + e.Name())
		if err != nil {
			panic(err)
		}
		title, _, _ := strings.Cut(string(text), "\n")
		_, summary, _ := strings.Cut(title, ": ")
		all = append(all, topic{strings.TrimSuffix(e.Name(), ".md"), summary, string(text)})
	}
	return all
}

func findTopic(name string) (topic, bool) {
	for _, t := range topics() {
		if t.name == name {
			return t, true
		}
	}
	return topic{}, false
}

func topicNames() []string {
	var names []string
	for _, t := range topics() {
		names = append(names, t.name)
	}
	return names
}
