package lab

import (
	"encoding/json"
	"io"
	"net/http"
)

// scripted answers legacy MCP from fixed data, so that it can be wrong in
// ways that an SDK does not let one be.
type scripted struct {
	version string         // answered to initialize
	name    string         // in serverInfo
	results map[string]any // result by method; a method that is missing is -32601
	status  map[string]int // HTTP status by method; default 200
}

func (s scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&message); err != nil {
		s.reply(w, http.StatusBadRequest, json.RawMessage("null"), nil, -32700)
		return
	}
	if message.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	status := http.StatusOK
	if given, ok := s.status[message.Method]; ok {
		status = given
	}
	if message.Method == "initialize" {
		s.reply(w, status, message.ID, map[string]any{
			"protocolVersion": s.version,
			"capabilities":    map[string]any{"tools": map[string]any{}},
			"serverInfo":      map[string]any{"name": s.name, "version": "0.3.0"},
		}, 0)
		return
	}
	result, ok := s.results[message.Method]
	if !ok {
		s.reply(w, http.StatusOK, message.ID, nil, -32601)
		return
	}
	s.reply(w, status, message.ID, result, 0)
}

func (s scripted) reply(w http.ResponseWriter, status int, id json.RawMessage, result any, code int) {
	answer := map[string]any{"jsonrpc": "2.0", "id": id}
	if code != 0 {
		answer["error"] = map[string]any{"code": code, "message": "refused"}
	} else {
		answer["result"] = result
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(answer) //nolint:errcheck // the client may have gone
}

// list is a tools/list result of raw definitions.
func list(tools ...string) map[string]any {
	items := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		items[i] = json.RawMessage(t)
	}
	return map[string]any{"tools": items}
}

// page is a web page where an MCP endpoint was announced.
func page() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<!doctype html><title>Welcome</title><p>Nothing here speaks MCP.") //nolint:errcheck // the client may have gone
	})
}

// refusing answers 401 without saying where a token would come from.
func refusing() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "who are you?", http.StatusUnauthorized)
	})
}

// broken answers 500 to everything.
func broken() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "internal error", http.StatusInternalServerError)
	})
}
