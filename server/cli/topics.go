package cli

import (
	"embed"
	"fmt"
	"strings"
	"text/tabwriter"

	"toolcrib/server/licences"
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

// whole returns the text of a topic with what is known only to the program.
func (t topic) whole() (string, error) {
	if t.name != "licences" {
		return t.text, nil
	}
	all, err := licences.All()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(t.text + "\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, l := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\n", l.Part, l.Version, l.Name)
	}
	if err := table.Flush(); err != nil {
		return "", err
	}
	for _, l := range all {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", l.Part, strings.TrimSpace(l.Text))
	}
	return b.String(), nil
}

func topicNames() []string {
	var names []string
	for _, t := range topics() {
		names = append(names, t.name)
	}
	return names
}
