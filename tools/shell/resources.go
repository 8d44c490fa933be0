package shell

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/screen"
)

//go:embed job_resource.md
var jobResourceDoc string

// jobURI is the prefix of the URIs of jobs.
const jobURI = "toolcrib://job/"

// JobResourceIn says whose output to read.
type JobResourceIn struct {
	Job string `json:"job,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Handle of the job; default the newest."`
}

// JobResourceOut is the output of a job.
type JobResourceOut struct{ uri, text string }

// Content returns the output as one block.
func (o JobResourceOut) Content() []tools.Block {
	return []tools.Block{{Kind: tools.ResourceBlock, URI: o.uri, MIME: "text/plain", Text: o.text}}
}

// Bounds of a resource: the middle of a longer output is left out.
const (
	resourceHead = 1 << 20
	resourceTail = 2 << 20
)

// Sources returns the resources of the category.
func Sources(d Deps) []tools.Source {
	return []tools.Source{{
		Name: "job", Title: "Output of jobs", MIME: "text/plain",
		Description: "Output of the commands that you have started and that run or have ended within the hour.",
		Template:    jobURI + "{handle}", Needs: "job_output",
		Read: tools.New(tools.Def[JobResourceIn, JobResourceOut]{
			Name: "job_resource", Title: "Read the output of a job as a resource", Doc: jobResourceDoc,
			Access: tools.Read, Effects: tools.None, Repeatable: true,
			Limits:   tools.Limits{Text: tools.MaxResource},
			Examples: []tools.Example[JobResourceIn]{{Say: "Read what a job has printed."}},
			Run:      d.jobResource,
		}),
		Args: func(uri string) (json.RawMessage, bool) {
			handle, ok := strings.CutPrefix(uri, jobURI)
			args, err := json.Marshal(JobResourceIn{Job: handle})
			return args, ok && handle != "" && err == nil
		},
		List: d.listResources,
		Complete: func(ctx context.Context, variable, prefix string) ([]string, error) {
			list, err := d.listResources(ctx)
			var handles []string
			for _, r := range list {
				if handle := strings.TrimPrefix(r.URI, jobURI); variable == "handle" && strings.HasPrefix(handle, prefix) {
					handles = append(handles, handle)
				}
			}
			return handles, err
		},
		Version: d.resourceVersion,
	}}
}

func (d Deps) jobResource(ctx context.Context, in JobResourceIn) (JobResourceOut, error) {
	if err := ctx.Err(); err != nil {
		return JobResourceOut{}, err
	}
	j, err := d.job(ctx, in.Job, true)
	if err != nil {
		return JobResourceOut{}, err
	}
	text, err := whole(j.Log())
	return JobResourceOut{jobURI + j.ID, text}, err
}

// whole returns an output, without its middle if it is too long.
func whole(l *jobs.Log) (string, error) {
	head, _, err := pageAt(l, 0, resourceHead)
	if err != nil {
		return "", err
	}
	e := l.Extent()
	from := max(head.next, e.Bytes-resourceTail, e.GapTo)
	tail, _, err := lastPage(l, from, resourceTail)
	if err != nil || tail.text == "" {
		return head.text, err
	}
	if head.next == tail.from {
		raw, _, err := l.Read(0, int(tail.next))
		return screen.Clean(raw), err
	}
	return fmt.Sprintf("%s\n[%d bytes are not shown here]\n%s", head.text, tail.from-head.next, tail.text), nil
}

func (d Deps) listResources(ctx context.Context) ([]tools.Resource, error) {
	var list []tools.Resource
	if d.Jobs == nil {
		return nil, nil
	}
	for _, j := range d.Jobs.List(tools.Session(ctx).Principal) {
		if len(list) == mostListed {
			break
		}
		list = append(list, tools.Resource{
			URI: jobURI + j.ID, Name: "job " + j.ID, Title: brief(j.Text), MIME: "text/plain",
			Description: state(j), Size: -1, // of the text, which is made when it is read
		})
	}
	return list, nil
}

// resourceVersion changes with every output, and with the end.
func (d Deps) resourceVersion(ctx context.Context, uri string) (string, error) {
	handle, ok := strings.CutPrefix(uri, jobURI)
	if !ok {
		return "", tools.Errorf(tools.NotFound, "%s is not the URI of a job", uri)
	}
	j, err := d.job(ctx, handle, true)
	if err != nil {
		return "", err
	}
	_, over := overOf(j)
	return fmt.Sprintf("%d-%v", j.Log().Extent().Bytes, over), nil
}
