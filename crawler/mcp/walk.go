package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

const (
	maxEmptyPages = 10 // pages without an entry, one after the other
	maxPageFaults = 20 // null entries named one by one
	walkShare     = 4  // all pages of a list hold at most this many times MaxMessage
)

// List reads a paginated list to its end, such as "tools/list" with its member
// "tools" (https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination).
//
// A missing nextCursor ends the list; an empty one is a cursor and followed
// once. The walk stops, with a fault, at a cursor that was asked before, at a
// page with the same entries as an earlier one, which adds nothing, and at the
// bounds of the client. Faults holds those of the walk; those of each answer
// are in Answers.
func (s *Session) List(ctx context.Context, method, member string) *Walk {
	w := &walker{
		Walk:    &Walk{},
		client:  s.Client,
		method:  method,
		member:  member,
		cursors: map[string]bool{},
		pages:   map[[sha256.Size]byte]bool{},
	}
	var params map[string]any
	for {
		a := s.Call(ctx, method, params)
		w.Answers = append(w.Answers, a)
		w.bytes += int64(len(a.Body))
		if a.Reply != nil && a.Stream {
			w.bytes += int64(len(a.Reply.Raw))
		}
		cursor, more := w.page(a)
		if !more {
			return w.Walk
		}
		params = map[string]any{"cursor": cursor}
	}
}

type walker struct {
	*Walk
	client  *Client
	method  string
	member  string
	cursors map[string]bool
	pages   map[[sha256.Size]byte]bool
	empty   int
	bytes   int64
	nulls   int
}

func (w *walker) fault(kind, format string, args ...any) {
	w.Faults = append(w.Faults, Fault{kind, fmt.Sprintf(format, args...)})
}

// page takes the entries of a page and returns the cursor of the next.
func (w *walker) page(a *Answer) (cursor string, more bool) {
	members, err := w.read(a)
	if err != nil {
		w.Err = err
		return "", false
	}
	w.Pages++
	var entries []json.RawMessage
	switch list := members[w.member]; kindOf(list) {
	case '[':
		if err := json.Unmarshal(list, &entries); err != nil {
			w.Err = fmt.Errorf("%s: read %q: %w", w.method, w.member, err)
			return "", false
		}
	case '0':
		w.fault(FaultNullEntry, "%s: %q is null, not a list", w.method, w.member)
	default:
		w.Err = fmt.Errorf("%s: %q is %s, not a list", w.method, w.member, quoteOrMissing(list))
		return "", false
	}
	if !w.fresh(entries) {
		w.fault(FaultCursorStuck, "%s: page %d has the same entries as an earlier page", w.method, w.Pages)
		return "", false
	}
	if !w.take(entries) {
		return "", false
	}
	return w.next(members)
}

// read returns the members of the result.
func (w *walker) read(a *Answer) (map[string]json.RawMessage, error) {
	switch {
	case a.RPCError() != nil:
		return nil, fmt.Errorf("%s: %w", w.method, a.RPCError())
	case a.Result() == nil && a.Err != nil:
		return nil, a.Err
	case a.Result() == nil:
		return nil, fmt.Errorf("%s: status %d without a result", w.method, a.Status)
	}
	members, ok := Object(a.Result())
	if !ok {
		return nil, fmt.Errorf("%s: the result is not an object: %s", w.method, quote(a.Result()))
	}
	return members, nil
}

// fresh says whether no page had these entries before; pages without entries
// may repeat, but not without end.
func (w *walker) fresh(entries []json.RawMessage) bool {
	if len(entries) == 0 {
		w.empty++
		return w.empty <= maxEmptyPages
	}
	w.empty = 0
	sum := sha256.New()
	for _, entry := range entries {
		fmt.Fprintf(sum, "%d:", len(entry))
		sum.Write(entry)
	}
	var key [sha256.Size]byte
	sum.Sum(key[:0])
	if w.pages[key] {
		return false
	}
	w.pages[key] = true
	return true
}

// take adds the entries that are objects; false when the bound is reached.
func (w *walker) take(entries []json.RawMessage) bool {
	for i, entry := range entries {
		if len(w.Items) >= w.client.o.MaxItems {
			w.fault(FaultTruncated, "%s: cut at %d entries", w.method, w.client.o.MaxItems)
			return false
		}
		if kindOf(entry) == '{' {
			w.Items = append(w.Items, entry)
			continue
		}
		if w.nulls++; w.nulls <= maxPageFaults {
			w.fault(FaultNullEntry, "%s: %s[%d] on page %d is %s, not an object", w.method, w.member, i, w.Pages, quote(entry))
		}
	}
	return true
}

// next judges nextCursor and the bounds.
func (w *walker) next(members map[string]json.RawMessage) (string, bool) {
	raw, ok := members["nextCursor"]
	if !ok {
		return "", false
	}
	cursor, ok := stringOf(raw)
	switch {
	case kindOf(raw) == '0':
		w.fault(FaultCursorNull, "%s: nextCursor on page %d is null", w.method, w.Pages)
		return "", false
	case !ok:
		w.fault(FaultCursorType, "%s: nextCursor on page %d is %s", w.method, w.Pages, quote(raw))
		return "", false
	case w.cursors[cursor]:
		w.fault(FaultCursorStuck, "%s: page %d names the cursor %q, which was asked before", w.method, w.Pages, clip(cursor))
		return "", false
	case w.Pages >= w.client.o.MaxPages:
		w.fault(FaultCursorStuck, "%s: page %d, the last one read, still names another", w.method, w.Pages)
		return "", false
	case w.bytes > walkShare*w.client.o.MaxMessage:
		w.fault(FaultTruncated, "%s: cut after %d bytes", w.method, w.bytes)
		return "", false
	}
	w.cursors[cursor] = true
	return cursor, true
}
