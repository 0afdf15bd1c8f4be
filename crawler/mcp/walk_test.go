package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// names lists the names of the items of a walk.
func names(t testing.TB, items []json.RawMessage) []string {
	t.Helper()
	list := []string{}
	for _, item := range items {
		object, _ := Object(item)
		name, _ := stringOf(object["name"])
		list = append(list, name)
	}
	return list
}

func walkOver(t testing.TB, o Options, page func(cursor *string) string) (*Walk, *fake) {
	t.Helper()
	s := &fake{f: func(w http.ResponseWriter, _ *http.Request, c call) { result(w, c, page(c.Cursor)) }}
	session := &Session{Client: newClient(t, s, o), Version: V20260728, Modern: true}
	return session.List(context.Background(), "tools/list", "tools"), s
}

func TestFieldCursorEmpty(t *testing.T) {
	var c struct {
		Serve map[string]json.RawMessage `json:"serve"`
	}
	var want struct {
		Tools []string `json:"tools"`
	}
	unmarshal(t, field(t, "catalog/cursor_empty.json"), &c)
	unmarshal(t, field(t, "catalog/cursor_empty.json.expect.json"), &want)
	w, _ := walkOver(t, Options{}, func(cursor *string) string {
		if cursor == nil {
			return string(c.Serve["no cursor"])
		}
		return string(c.Serve["cursor empty"])
	})
	if got := names(t, w.Items); !slices.Equal(got, want.Tools) || w.Pages != 2 || w.Err != nil {
		t.Errorf("%q in %d pages, want %q; %v", got, w.Pages, want.Tools, w.Err)
	}
	wantKinds(t, w.Faults)
}

func TestFieldCursorSame(t *testing.T) {
	var c struct {
		Page json.RawMessage `json:"page"`
	}
	var want struct {
		Max   int      `json:"requests_max"`
		Tools []string `json:"tools"`
	}
	unmarshal(t, field(t, "catalog/cursor_same.json"), &c)
	unmarshal(t, field(t, "catalog/cursor_same.json.expect.json"), &want)
	w, s := walkOver(t, Options{}, func(*string) string { return string(c.Page) })
	if got := names(t, w.Items); !slices.Equal(got, want.Tools) || len(s.log()) > want.Max || w.Err != nil {
		t.Errorf("%q after %d requests, want %q after at most %d; %v", got, len(s.log()), want.Tools, want.Max, w.Err)
	}
	wantKinds(t, w.Faults, FaultCursorStuck)
}

func TestFieldNullFields(t *testing.T) {
	w, _ := walkOver(t, Options{}, func(*string) string { return string(field(t, "catalog/null_fields.json")) })
	if got := names(t, w.Items); !slices.Equal(got, []string{"n"}) || w.Pages != 1 || w.Err != nil {
		t.Errorf("%q %d %v", got, w.Pages, w.Err)
	}
	wantKinds(t, w.Faults, FaultCursorNull)
}

func TestWalkRules(t *testing.T) {
	tool := func(name string) string { return `{"name":"` + name + `"}` }
	tests := []struct {
		name   string
		page   func(n int, cursor *string) string // n counts from 1
		items  []string
		pages  int
		faults []string
		failed bool
	}{
		{"one page", func(int, *string) string { return `{"tools":[` + tool("a") + `]}` }, []string{"a"}, 1, nil, false},
		{"same cursor, new entries", func(n int, _ *string) string {
			return fmt.Sprintf(`{"tools":[%s],"nextCursor":"x"}`, tool(fmt.Sprint(n)))
		}, []string{"1", "2"}, 2, []string{FaultCursorStuck}, false},
		{"new cursor, same entries", func(n int, _ *string) string {
			return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, tool("a"), n)
		}, []string{"a"}, 2, []string{FaultCursorStuck}, false},
		{"empty cursor for ever", func(n int, _ *string) string {
			return fmt.Sprintf(`{"tools":[%s],"nextCursor":""}`, tool(fmt.Sprint(n)))
		}, []string{"1", "2"}, 2, []string{FaultCursorStuck}, false},
		{"two pages in turn", func(n int, _ *string) string {
			return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, tool(fmt.Sprint(n%2)), n)
		}, []string{"1", "0"}, 3, []string{FaultCursorStuck}, false},
		{"empty pages for ever", func(n int, _ *string) string { return fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, n) },
			[]string{}, 11, []string{FaultCursorStuck}, false},
		{"an empty page in between", func(n int, _ *string) string {
			return []string{`{"tools":[` + tool("a") + `],"nextCursor":"1"}`, `{"tools":[],"nextCursor":"2"}`, `{"tools":[` + tool("b") + `]}`}[n-1]
		}, []string{"a", "b"}, 3, nil, false},
		{"null entries", func(int, *string) string { return `{"tools":[null,` + tool("a") + `,7,[]]}` }, []string{"a"}, 1,
			[]string{FaultNullEntry, FaultNullEntry, FaultNullEntry}, false},
		{"null list", func(int, *string) string { return `{"tools":null}` }, []string{}, 1, []string{FaultNullEntry}, false},
		{"cursor is a number", func(int, *string) string { return `{"tools":[],"nextCursor":7}` }, []string{}, 1, []string{FaultCursorType}, false},
		{"member in another case", func(int, *string) string { return `{"Tools":[` + tool("a") + `]}` }, []string{}, 1, nil, true},
		{"not a list", func(int, *string) string { return `{"tools":{}}` }, []string{}, 1, nil, true},
		{"not an object", func(int, *string) string { return `[]` }, []string{}, 0, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			w, _ := walkOver(t, Options{}, func(cursor *string) string { n++; return tt.page(n, cursor) })
			if got := names(t, w.Items); !slices.Equal(got, tt.items) || w.Pages != tt.pages || (w.Err != nil) != tt.failed {
				t.Errorf("%q in %d pages, want %q in %d; err %v", got, w.Pages, tt.items, tt.pages, w.Err)
			}
			wantKinds(t, w.Faults, tt.faults...)
		})
	}
}

func TestWalkBounds(t *testing.T) {
	n := 0
	endless := func(*string) string {
		n++
		return fmt.Sprintf(`{"tools":[{"name":"%d"},{"name":"%d-"}],"nextCursor":"%d"}`, n, n, n)
	}
	w, s := walkOver(t, Options{MaxPages: 7}, endless)
	wantKinds(t, w.Faults, FaultCursorStuck)
	if len(s.log()) != 7 || len(w.Items) != 14 {
		t.Errorf("%d requests, %d items", len(s.log()), len(w.Items))
	}
	w, s = walkOver(t, Options{MaxItems: 5}, endless)
	wantKinds(t, w.Faults, FaultTruncated)
	if len(s.log()) != 3 || len(w.Items) != 5 {
		t.Errorf("%d requests, %d items", len(s.log()), len(w.Items))
	}
	w, _ = walkOver(t, Options{MaxMessage: 1000}, func(*string) string {
		n++
		return fmt.Sprintf(`{"tools":[{"name":"%d","x":%q}],"nextCursor":"%d"}`, n, strings.Repeat("x", 800), n)
	})
	wantKinds(t, w.Faults, FaultTruncated)
	if w.Pages != 5 { // the fifth page passes 4 x 1000 bytes
		t.Errorf("%d pages", w.Pages)
	}
}

func TestWalkFails(t *testing.T) {
	s := &fake{f: func(w http.ResponseWriter, _ *http.Request, c call) {
		if c.Cursor == nil {
			result(w, c, `{"tools":[{"name":"a"}],"nextCursor":"2"}`)
			return
		}
		failWith(w, 200, c, `{"code":-32603,"message":"boom"}`)
	}}
	session := &Session{Client: newClient(t, s, Options{}), Version: V20251125}
	w := session.List(context.Background(), "tools/list", "tools")
	if w.Err == nil || !strings.Contains(w.Err.Error(), "boom") || len(w.Items) != 1 || len(w.Answers) != 2 {
		t.Errorf("%+v", w)
	}
}
