package schedule

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/handles"
	"toolcrib/tools/internal/inner"
	"toolcrib/tools/schedule/internal/slots"
)

//go:embed schedule_create.md
var scheduleCreateDoc string

// CreateIn is a schedule.
type CreateIn struct {
	Name      string        `json:"name" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Name of the schedule: letters, digits, ., _ and -." alias:"id"`
	When      string        `json:"when" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"Cron expression, every 15m, at 2026-01-31 09:00, or in 20m." alias:"cron,schedule,expression"`
	Tool      string        `json:"tool" jsonschema:"minLength=1,maxLength=128" jsonschema_description:"Tool to call." alias:"tool_name"`
	Arguments schema.Object `json:"arguments,omitempty" jsonschema_description:"Arguments of the call, as the tool takes them." alias:"args,input,parameters"`
	Zone      string        `json:"zone,omitempty" jsonschema:"maxLength=64" jsonschema_description:"IANA zone of the times, such as Europe/Berlin; default that of the server." alias:"timezone,tz"`
	Missed    string        `json:"missed,omitempty" jsonschema:"enum=once,enum=skip,enum=all,default=once" jsonschema_description:"What runs that were missed become: one late run, none, or each."`
	Overlap   string        `json:"overlap,omitempty" jsonschema:"enum=skip,enum=queue,enum=replace,default=skip" jsonschema_description:"What happens if the run before has not ended: leave this one out, wait, or end the other."`
	Until     string        `json:"until,omitempty" jsonschema:"maxLength=40" jsonschema_description:"Time after which there are no more runs."`
	MaxRuns   int           `json:"max_runs,omitempty" jsonschema:"minimum=1,maximum=1000000000" jsonschema_description:"Number of runs after which there are no more; default no limit."`
	Retries   int           `json:"retries,omitempty" jsonschema:"minimum=0,maximum=10,default=0" jsonschema_description:"How often a call is repeated that ended as unavailable or timed out."`
}

// CreateOut is the schedule that was made.
type CreateOut struct {
	Name, Tool string
	Next       []time.Time
	Either     bool   // a day matches by its day of month or its day of week
	Runner     string // who runs it
}

// Text implements [tools.Texter].
func (o CreateOut) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schedule %s calls %s\nnext: %s\n", o.Name, o.Tool, stamps(o.Next))
	if o.Either {
		b.WriteString("a day matches by its day of month or its day of week, since both are restricted\n")
	}
	fmt.Fprintf(&b, "%s\n", o.Runner)
	return b.String()
}

func scheduleCreateTool(d Deps) tools.Tool {
	return tools.New(tools.Def[CreateIn, CreateOut]{
		Name: "schedule_create", Title: "Run a tool at its times", Doc: scheduleCreateDoc, Tags: []string{"schedules"},
		Foreign: []tools.Foreign{{Name: "schedule_cron"}, {Name: "ScheduleCronTool"}},
		Access:  tools.Write, Effects: tools.State,
		Limits: tools.Limits{Facts: map[string]any{"caught": mostCaught, "kept": mostResult, "queued": mostQueued}},
		Examples: []tools.Example[CreateIn]{{
			Say: "Look for large files on the first day of each year.",
			In: CreateIn{
				Name: "large", When: "0 9 1 1 *", Zone: "UTC", Tool: "glob", Arguments: schema.Object(`{"pattern":["**/*.iso"]}`),
				Missed: "once", Overlap: "skip",
			},
			Want: "schedule large calls glob\nnext: …-01-01 09:00 UTC, …-01-01 09:00 UTC, …-01-01 09:00 UTC\n…\n",
		}},
		Confirm: d.confirmCreate,
		Redact:  d.redactCreate,
		Run:     d.create,
	})
}

func (d Deps) create(ctx context.Context, in CreateIn) (CreateOut, error) {
	p, err := d.plan(ctx, in)
	if err != nil {
		return CreateOut{}, err
	}
	s := tools.Session(ctx)
	k, err := d.keeper(s)
	if err != nil {
		return CreateOut{}, err
	}
	r := row{ID: handles.New(tools.Anonymous), Principal: s.Principal, Name: in.Name, Spec: p.spec, Created: p.now, Cursor: p.now}
	r.Spec.Consented = p.question != "" // which the user has been asked
	if err := k.store.add(ctx, r, d.Settings.Now().Schedules.Most); err != nil {
		return CreateOut{}, err
	}
	k.look()
	return CreateOut{Name: in.Name, Tool: p.spec.Tool, Next: p.next, Either: p.times.Either(), Runner: d.runner(s)}, nil
}

// planned is a schedule that could be made.
type planned struct {
	spec     spec
	now      time.Time
	times    slots.Times
	next     []time.Time // the first three
	question string      // what the user must be asked; "" = nothing
}

const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

func (d Deps) plan(ctx context.Context, in CreateIn) (planned, error) {
	if d.Caller == nil {
		return planned{}, tools.Errorf(tools.Unavailable, "no other tool can be called from here")
	}
	if err := d.serves(tools.Session(ctx)); err != nil {
		return planned{}, err
	}
	if strings.Trim(in.Name, nameCharacters) != "" || strings.HasPrefix(in.Name, ".") {
		return planned{}, tools.Errorf(tools.InvalidArgument, "/name: %q has other characters than letters, digits, ., _ and -", in.Name)
	}
	zone, err := d.zone(in.Zone)
	if err != nil {
		return planned{}, err
	}
	p := planned{now: d.Now()}
	if p.times, err = slots.Parse(in.When, zone, p.now); err != nil {
		return planned{}, tools.Errorf(tools.InvalidArgument, "/when: %v", err).WithHint("such as 0 9 * * mon-fri, every 15m, at 2026-01-31 09:00, or in 20m")
	}
	p.spec = spec{When: in.When, Zone: in.Zone, Tool: in.Tool, Missed: in.Missed, Overlap: in.Overlap, MaxRuns: in.MaxRuns, Retries: in.Retries}
	if zone != time.Local {
		p.spec.Zone = zone.String()
	}
	if in.Until != "" {
		until, err := slots.Parse("at "+in.Until, zone, p.now)
		if err != nil {
			return planned{}, tools.Errorf(tools.InvalidArgument, "/until: %v", err)
		}
		p.spec.Until, _ = until.Once()
	}
	for at := p.now; len(p.next) < 3; {
		next, more := p.times.Next(at)
		if !more || !p.spec.Until.IsZero() && next.After(p.spec.Until) || in.MaxRuns > 0 && len(p.next) == in.MaxRuns {
			break
		}
		p.next, at = append(p.next, next), next
	}
	if len(p.next) == 0 {
		return planned{}, tools.Errorf(tools.InvalidArgument, "/when: %s is past, so it would never run", in.When)
	}
	p.spec.Args = in.Arguments.Arguments()
	tool, err := d.tool(ctx, in.Tool, p.spec.Args)
	if err != nil {
		return planned{}, err
	}
	if tool.Category == "schedule" {
		return planned{}, tools.Errorf(tools.Denied, "/tool: a schedule does not call %s", tool.Name)
	}
	p.spec.Repeat = tool.Repeatable
	if p.question, err = d.Caller.Judge(ctx, tools.CallSpec{Name: in.Tool, Args: p.spec.Args}); err != nil {
		return planned{}, err
	}
	if p.question == "" && (tool.Access == tools.Exec || tool.Access == tools.External || tool.Access == tools.Delegates) {
		p.question = tool.Title + "?"
	}
	return p, nil
}

// confirmCreate asks about what nobody can be asked about when it runs.
func (d Deps) confirmCreate(ctx context.Context, in CreateIn) (tools.Question, error) {
	p, err := d.plan(ctx, in)
	if err != nil || p.question == "" {
		return tools.Question{}, err
	}
	return tools.Question{Message: fmt.Sprintf("Let it run by itself, at %s (%s)?\n%s\ntool: %s\narguments: %s",
		stamps(p.next), in.When, p.question, p.spec.Tool, p.spec.Args)}, nil
}

// redactCreate leaves out what the tool itself keeps out of records.
func (d Deps) redactCreate(ctx context.Context, in CreateIn) CreateIn {
	in.Arguments = inner.Told(ctx, d.Caller, in.Tool, in.Arguments, nil)
	return in
}

// runner says who runs schedules.
func (d Deps) runner(s *tools.SessionInfo) string {
	standing := d.stands(s)
	d.mu.Lock()
	outlasts := d.outlasts
	d.mu.Unlock()
	switch {
	case !standing:
		return "it runs only while a server works in this root, and this process is none; toolcrib schedule install lets the system start one"
	case s.Principal != tools.Local:
		return "this server runs it for as long as it is up"
	case outlasts && d.Settings.Now().Schedules.Keep:
		return "this server runs it; it stays in the background for its schedules, until the machine stops or the user ends it"
	case outlasts:
		return "this server runs it; it ends when no client and no job needs it, unless schedules.keep is set; toolcrib schedule install lets the system run one always"
	}
	return "this server runs it, until its client ends; toolcrib schedule install lets the system run one always"
}
