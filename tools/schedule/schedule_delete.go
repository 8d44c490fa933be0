package schedule

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"toolcrib/tools"
	"toolcrib/tools/durable"
	"toolcrib/tools/internal/text/textfile"
)

//go:embed schedule_delete.md
var scheduleDeleteDoc string

// DeleteIn says which schedule to delete.
type DeleteIn struct {
	Name   string `json:"name" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Name of the schedule." alias:"id"`
	Cancel bool   `json:"cancel,omitempty" jsonschema:"default=false" jsonschema_description:"End the runs that have begun."`
}

// DeleteOut is what was deleted.
type DeleteOut struct {
	Name      string
	Running   int // runs that had begun
	Cancelled bool
}

// Text implements [tools.Texter].
func (o DeleteOut) Text() string {
	text := fmt.Sprintf("schedule %s is deleted", o.Name)
	switch {
	case o.Running == 0:
	case o.Cancelled:
		text += fmt.Sprintf("; %s was ended", textfile.Count(o.Running, "run"))
	default:
		text += fmt.Sprintf("; %s goes on", textfile.Count(o.Running, "run"))
	}
	return text
}

func scheduleDeleteTool(d Deps) tools.Tool {
	return tools.New(tools.Def[DeleteIn, DeleteOut]{
		Name: "schedule_delete", Title: "Delete a schedule", Doc: scheduleDeleteDoc, Tags: []string{"schedules"},
		Access: tools.Write, Effects: tools.State,
		Examples: []tools.Example[DeleteIn]{{
			Say: "Stop looking for large files.", In: DeleteIn{Name: "large"},
			Before: d.exampleSchedule, Want: "schedule large is deleted",
		}},
		Run: d.remove,
	})
}

func (d Deps) remove(ctx context.Context, in DeleteIn) (DeleteOut, error) {
	k, err := d.keeper(tools.Session(ctx))
	if err != nil {
		return DeleteOut{}, err
	}
	r, err := k.named(ctx, in.Name)
	if err != nil {
		return DeleteOut{}, err
	}
	runs, err := k.store.runs(ctx, r.ID, mostRuns)
	if err != nil {
		return DeleteOut{}, err
	}
	out := DeleteOut{Name: r.Name, Cancelled: in.Cancel}
	if err := k.store.remove(ctx, r.ID); err != nil {
		return out, err
	}
	for _, run := range runs {
		if run.State != running {
			continue
		}
		out.Running++
		if in.Cancel {
			if err := k.engine.Cancel(ctx, kind, r.ID+"/"+run.Run); err != nil && !errors.Is(err, durable.ErrNone) {
				return out, told(err)
			}
		}
	}
	k.look()
	return out, nil
}
