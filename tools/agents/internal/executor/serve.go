package executor

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"toolcrib/tools/agents/internal/model"
)

// server is the MCP server of a run. It answers the lines of the program's connections, and
// hands its calls of tools to the run.
type server struct {
	tools []model.Tool
	write func(conn string, line []byte)
	call  func(*call) // must not block

	mu   sync.Mutex
	open map[string]context.CancelFunc // of calls, by connection and ID
}

// call is a call of a tool that waits for its result.
type call struct {
	name      string
	arguments json.RawMessage
	ctx       context.Context // ends if the program gives it up
	conn      string
	id        json.RawMessage
	server    *server
}

// versions are the revisions of the protocol that are answered alike.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// errors of JSON-RPC.
const (
	methodNotFound = -32601
	invalidParams  = -32602
)

// take answers a line of a connection.
func (s *server) take(conn string, line []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Version   string          `json:"protocolVersion"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Request   json.RawMessage `json:"requestId"`
		}
	}
	if json.Unmarshal(line, &m) != nil || m.Method == "" {
		return // an answer, though nothing was asked, or no message
	}
	if m.ID == nil {
		if m.Method == "notifications/cancelled" {
			s.end(conn, m.Params.Request)
		}
		return
	}
	switch m.Method {
	case "initialize":
		version := versions[0]
		if slices.Contains(versions, m.Params.Version) {
			version = m.Params.Version
		}
		s.answer(conn, m.ID, object{
			"protocolVersion": version, "capabilities": object{"tools": object{}}, "serverInfo": object{"name": serverName, "version": "1"},
		})
	case "ping":
		s.answer(conn, m.ID, object{})
	case "tools/list":
		list := []object{}
		for _, t := range s.tools {
			list = append(list, object{"name": t.Name, "description": t.Description, "inputSchema": t.Schema})
		}
		s.answer(conn, m.ID, object{"tools": list})
	case "tools/call":
		if m.Params.Name == "" {
			s.refuse(conn, m.ID, invalidParams, "the name of the tool is missing")
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		s.mu.Lock()
		if s.open == nil {
			s.open = map[string]context.CancelFunc{}
		}
		s.open[conn+string(m.ID)] = cancel
		s.mu.Unlock()
		s.call(&call{m.Params.Name, m.Params.Arguments, ctx, conn, m.ID, s})
	default:
		s.refuse(conn, m.ID, methodNotFound, "there is no method "+m.Method)
	}
}

// reply gives a call its result.
func (c *call) reply(text string, failed bool) {
	c.server.end(c.conn, c.id)
	c.server.answer(c.conn, c.id, object{"content": []object{{"type": "text", "text": text}}, "isError": failed})
}

// end ends the context of a call.
func (s *server) end(conn string, id json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.open[conn+string(id)]; cancel != nil {
		cancel()
		delete(s.open, conn+string(id))
	}
}

func (s *server) answer(conn string, id json.RawMessage, result any) {
	s.send(conn, object{"jsonrpc": "2.0", "id": id, "result": result})
}

func (s *server) refuse(conn string, id json.RawMessage, code int, message string) {
	s.send(conn, object{"jsonrpc": "2.0", "id": id, "error": object{"code": code, "message": message}})
}

func (s *server) send(conn string, message object) {
	s.write(conn, []byte(encode(message)))
}
