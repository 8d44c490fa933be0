package schedule

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"toolcrib/tools"
)

//go:embed schedule_resource.md
var scheduleResourceDoc string

// scheduleURI is the prefix of the URIs of schedules.
const scheduleURI = "toolcrib://schedule/"

// ResourceIn says which schedule to read.
type ResourceIn struct {
	Name string `json:"name" jsonschema:"maxLength=64" jsonschema_description:"Name of the schedule."`
}

// ResourceOut is a schedule with its runs.
type ResourceOut struct{ uri, text string }

// Content returns it as one block.
func (o ResourceOut) Content() []tools.Block {
	return []tools.Block{{Kind: tools.ResourceBlock, URI: o.uri, MIME: "text/plain", Text: o.text}}
}

// Sources returns the resources of the category.
func Sources(d Deps) []tools.Source {
	return []tools.Source{{
		Name: "schedule", Title: "Schedules", MIME: "text/plain",
		Description: "Your schedules, with what came of their last runs.",
		Template:    scheduleURI + "{name}", Needs: "schedule_list",
		Read: tools.New(tools.Def[ResourceIn, ResourceOut]{
			Name: "schedule_resource", Title: "Read a schedule as a resource", Doc: scheduleResourceDoc,
			Access: tools.Read, Effects: tools.None, Repeatable: true,
			Limits: tools.Limits{Text: tools.MaxResource},
			Examples: []tools.Example[ResourceIn]{{
				Say: "Read what came of a schedule.", In: ResourceIn{Name: "large"}, Before: d.exampleSchedule, Want: "",
			}},
			Run: d.read,
		}),
		Args: func(uri string) (json.RawMessage, bool) {
			name, ok := strings.CutPrefix(uri, scheduleURI)
			args, err := json.Marshal(ResourceIn{Name: name})
			return args, ok && name != "" && err == nil
		},
		List: func(ctx context.Context) ([]tools.Resource, error) {
			out, err := d.look(ctx, "", 1)
			var all []tools.Resource
			for _, l := range out.all {
				all = append(all, tools.Resource{
					URI: scheduleURI + l.Name, Name: "schedule " + l.Name, Title: l.Spec.When + ", calls " + l.Spec.Tool, MIME: "text/plain", Size: -1,
				})
			}
			return all, err
		},
		Complete: func(ctx context.Context, variable, prefix string) ([]string, error) {
			out, err := d.look(ctx, "", 1)
			var names []string
			for _, l := range out.all {
				if variable == "name" && strings.HasPrefix(l.Name, prefix) {
					names = append(names, l.Name)
				}
			}
			return names, err
		},
		Version: d.version,
	}}
}

func (d Deps) read(ctx context.Context, in ResourceIn) (ResourceOut, error) {
	out, err := d.look(ctx, in.Name, mostRuns)
	return ResourceOut{scheduleURI + in.Name, out.Text()}, err
}

// version changes with every run that begins or ends.
func (d Deps) version(ctx context.Context, uri string) (string, error) {
	out, err := d.look(ctx, strings.TrimPrefix(uri, scheduleURI), 1)
	if err != nil {
		return "", err
	}
	l := out.all[0]
	var version strings.Builder
	fmt.Fprintf(&version, "%d %d %s", l.Ran, l.Missed, l.Over)
	for _, run := range l.runs {
		fmt.Fprintf(&version, " %s %s %d", run.Run, run.State, run.Ended.UnixMilli())
	}
	return version.String(), nil
}
