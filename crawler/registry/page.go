package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

const maxCursor = 4096 // bytes

// page is one answer of the list route.
type page struct {
	servers []json.RawMessage
	cursor  string // of the next page; empty on the last
}

// parsePage reads an answer of GET /v0.1/servers. The cursor is looked for
// under the names that registries have used for it; null and "" end the walk.
func parsePage(body []byte) (page, error) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	trimmed := bytes.TrimSpace(body)
	switch {
	case len(trimmed) == 0:
		return page{}, errors.New("the body is empty")
	case trimmed[0] == '<':
		return page{}, errors.New("the body is HTML, not JSON")
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(body, &top); err != nil {
		return page{}, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	raw, ok := top["servers"]
	if !ok {
		return page{}, errors.New(`the body has no "servers" list`)
	}
	var p page
	if err := json.Unmarshal(raw, &p.servers); err != nil {
		return page{}, errors.New(`"servers" is not a list`)
	}
	var metadata map[string]json.RawMessage
	// Metadata of another kind holds no cursor; the page is still a page.
	_ = json.Unmarshal(top["metadata"], &metadata)
	for _, place := range []map[string]json.RawMessage{metadata, top} {
		for _, key := range []string{"nextCursor", "next_cursor"} {
			cursor, err := parseCursor(place[key])
			if err != nil {
				return p, fmt.Errorf("%q: %w", key, err)
			}
			if p.cursor == "" {
				p.cursor = cursor
			}
		}
	}
	return p, nil
}

func parseCursor(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var cursor string
	if err := json.Unmarshal(raw, &cursor); err != nil {
		return "", errors.New("the cursor is not a string")
	}
	if len(cursor) > maxCursor {
		return "", fmt.Errorf("the cursor is %d bytes long, over the bound of %d", len(cursor), maxCursor)
	}
	if !utf8.ValidString(cursor) {
		return "", errors.New("the cursor is not UTF-8 text")
	}
	return cursor, nil
}
