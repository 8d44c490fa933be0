package database

import (
	"context"
	"strings"

	"toolcrib/tools"
	"toolcrib/workspace/state"
)

// Settings say which database is used.
type Settings struct {
	Database string `env:"TOOLCRIB_DATABASE" file:"database" arg:"URL" help:"where tools keep what must last: the URL of PostgreSQL, such as postgres://user:password@host/name, so that several machines share it (default a SQLite file in the state directory)" topic:"state"`
}

// Check returns the errors of the settings.
func (set *Settings) Check(tools.Host) []tools.SettingError {
	if set.Database == "" {
		return nil
	}
	if err := Check(set.Database); err != nil {
		return []tools.SettingError{{Key: "database", Err: err, Hint: "toolcrib help state"}}
	}
	return nil
}

// Category returns a category without tools. It has the settings of the database, and its
// Close closes it.
func (s *Source) Category() tools.Category {
	return tools.Category{
		ID: "state", Title: "State that lasts",
		Settings: tools.NewSettings(Settings{}, func(set Settings, setup tools.Setup) {
			if err := s.Configure(set.Database); err != nil && setup.Log != nil {
				setup.Log.Warn("the state database did not close as it should", "err", err)
			}
		}),
		Close:  s.Close,
		Doctor: s.examine,
	}
}

// examine says whether the database can be used. It makes none.
func (s *Source) examine(ctx context.Context) []tools.Finding {
	ws := tools.Session(ctx).Workspace
	if !s.Postgres() {
		if ws.StateBase() == "" {
			return nil // that there is no state is told elsewhere
		}
		if dir, err := state.Shared(ws.StateBase(), ws.Roots()...); err == nil && !dir.HasDB(name) {
			return []tools.Finding{{State: tools.Fine, What: "database", Say: "SQLite, made in " + dir.Path() + " when it is first needed"}}
		}
	}
	db, err := s.Open(ctx, ws)
	if err != nil {
		return []tools.Finding{broken(err)}
	}
	kind, check := "PostgreSQL", "SELECT 'ok'"
	if !s.Postgres() {
		kind, check = "SQLite", "PRAGMA quick_check(1)"
	}
	var answer string
	err = db.Part("doctor").Read(ctx, func(ctx context.Context, q Query) error {
		return q.QueryRowContext(ctx, check).Scan(&answer)
	})
	switch {
	case err != nil:
		f := broken(err)
		f.Say += " (" + db.Place() + ")"
		return []tools.Finding{f}
	case answer != "ok":
		return []tools.Finding{{State: tools.Broken, What: "database", Say: "the state database is damaged: " + strings.TrimSpace(answer) + " (" + db.Place() + ")"}}
	}
	return []tools.Finding{{State: tools.Fine, What: "database", Say: kind + ", " + db.Place()}}
}

func broken(err error) tools.Finding {
	e := tools.AsError(err)
	say := e.Msg
	if e.Err != nil {
		say += ": " + e.Err.Error()
	}
	return tools.Finding{State: tools.Broken, What: "database", Say: say + "; " + e.Hint}
}
