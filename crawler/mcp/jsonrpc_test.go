package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

type rpcCase struct {
	Case   string          `json:"case"`
	SentID json.RawMessage `json:"sent_id"`
	Raw    string          `json:"raw"`
	Expect string          `json:"expect"`
}

func TestFieldResponses(t *testing.T) {
	// What each case's expect line means in faults of this package.
	want := map[string]struct {
		faults []string
		result string // "" when there must be none
		code   int64
	}{
		"string id for number":       {[]string{FaultIDType}, `{}`, 0},
		"number id for string":       {[]string{FaultIDWrong}, `{}`, 0},
		"float form of same integer": {[]string{FaultIDForm}, `{}`, 0},
		"big id kept exact":          {[]string{FaultIDWrong}, `{}`, 0},
		"case-folded keys":           {[]string{FaultUnknown}, `{"tools":[]}`, 0},
		"kelvin and long s":          {[]string{FaultUnknown}, "", -32601},
		"duplicate member":           {[]string{FaultDuplicate}, `{"tools":[{"name":"two"}]}`, 0},
		"result and error":           {[]string{FaultBoth}, `{}`, 1},
		"neither":                    {[]string{FaultNeither}, "", 0},
		"NaN":                        {[]string{FaultNotJSON}, "", 0},
		"error is a string":          {[]string{FaultError}, "", 0},
		"null id on parse error":     {nil, "", -32700},
	}
	lines := bytes.Split(bytes.TrimSpace(field(t, "rpc/responses.jsonl")), []byte("\n"))
	if len(lines) != len(want) {
		t.Fatalf("%d cases, want %d", len(lines), len(want))
	}
	for _, line := range lines {
		var c rpcCase
		unmarshal(t, line, &c)
		t.Run(c.Case, func(t *testing.T) {
			w, ok := want[c.Case]
			if !ok {
				t.Fatal("a case without expectation")
			}
			for _, stream := range []bool{false, true} {
				h := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
					if stream {
						rw.Header().Set("Content-Type", "text/event-stream")
						rw.Write([]byte("data: " + c.Raw + "\n\n"))
						return
					}
					writeJSON(rw, 200, c.Raw)
				})
				r := Request{Method: "tools/list", ID: c.SentID}
				if string(c.SentID) == "null" || c.SentID == nil {
					r = Request{Method: "malformed", Body: []byte(`{"jsonrpc":"2.0",`)}
				}
				a := newClient(t, h, Options{}).Send(context.Background(), r)
				wantKinds(t, a.Faults, w.faults...)
				if string(a.Result()) != w.result {
					t.Errorf("result %s, want %s", a.Result(), w.result)
				}
				if e := a.RPCError(); e != nil && e.Code != w.code || e == nil && w.code != 0 {
					t.Errorf("error %v, want code %d", e, w.code)
				}
				if c.Case == "error is a string" && (a.RPCError() == nil || a.RPCError().Message != "nope") {
					t.Errorf("error %v, want the string as message", a.RPCError())
				}
			}
		})
	}
}

func TestReadMessages(t *testing.T) {
	tests := []struct {
		in     string
		n      int
		faults []string // of the text and of the first message
	}{
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, 1, nil},
		{" \r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", 1, nil},
		{"\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"result":{}}`, 1, []string{FaultEncoding}},
		{`{"jsonrpc":"2.0","id":1,"result":{"x":"` + "\xff" + `"}}`, 1, []string{FaultEncoding}},
		{`{"jsonrpc":"2.0","id":1,"result":{}} x`, 0, []string{FaultNotJSON}},
		{`{"jsonrpc":"2.0","id":1,"result":{}}{}`, 0, []string{FaultNotJSON}},
		{``, 0, []string{FaultNotJSON}},
		{`null`, 1, []string{FaultShape}},
		{`"x"`, 1, []string{FaultShape}},
		{`[]`, 0, []string{FaultBatch}},
		{`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]`, 2, []string{FaultBatch}},
		{`[null]`, 1, []string{FaultBatch, FaultShape}},
		{`{"jsonrpc":"1.0","id":1,"result":{}}`, 1, []string{FaultVersion}},
		{`{"jsonrpc":2.0,"id":1,"result":{}}`, 1, []string{FaultVersion}},
		{`{"id":1,"result":{}}`, 1, []string{FaultVersion}},
		{`{"jsonrpc":"2.0","id":[1],"result":{}}`, 1, []string{FaultIDType}},
		{`{"jsonrpc":"2.0","id":true,"result":{}}`, 1, []string{FaultIDType}},
		{`{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, 1, []string{FaultError, FaultBoth}},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":"-32601","message":"x"}}`, 1, []string{FaultError}},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}`, 1, []string{FaultError}},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1e999,"message":"x"}}`, 1, []string{FaultError}},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601}}`, 1, []string{FaultError}},
		{`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","name":"b"}]}}`, 1, []string{FaultDuplicate}},
		{`{"jsonrpc":"2.0","id":1,"result":{"a":{"x":1},"b":{"x":1}}}`, 1, nil},
		{`{"jsonrpc":"2.0","method":7}`, 1, []string{FaultShape, FaultNeither}},
		{`{"jsonrpc":"2.0","method":"x","params":{}}`, 1, nil},
		{strings.Repeat("[", 5000) + strings.Repeat("]", 5000), 0, []string{FaultDepth}},
		{strings.Repeat(`{"a":`, 1_000_000), 0, []string{FaultDepth}},
		{`{"jsonrpc":"2.0","id":1,"result":{"x":` + strings.Repeat("[", MaxDepth-2) + strings.Repeat("]", MaxDepth-2) + `}}`, 1, nil},
		{`{"jsonrpc":"2.0","id":1,"result":{"x":` + strings.Repeat("[", MaxDepth-1) + strings.Repeat("]", MaxDepth-1) + `}}`, 0, []string{FaultDepth}},
		{`{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("[", 500) + `\"["}}`, 1, nil},
	}
	for _, tt := range tests {
		messages, faults := ReadMessages([]byte(tt.in))
		if len(messages) != tt.n {
			t.Errorf("%.60q: %d messages, want %d", tt.in, len(messages), tt.n)
			continue
		}
		if tt.n > 0 {
			faults = append(faults, messages[0].Faults...)
		}
		if got := kinds(faults); !slices.Equal(got, append([]string{}, tt.faults...)) {
			t.Errorf("%.60q: faults %q, want %q", tt.in, got, tt.faults)
		}
	}
}

func TestMessageParts(t *testing.T) {
	raw := `{ "jsonrpc" : "2.0" , "id" : "a\u0062" , "result" : { "tools" : [ 1 , {"x":[]} ] } , "result2":null}`
	messages, _ := ReadMessages([]byte(raw))
	m := messages[0]
	if string(m.ID) != `"a\u0062"` || string(m.Result) != `{ "tools" : [ 1 , {"x":[]} ] }` {
		t.Errorf("id %s result %s", m.ID, m.Result)
	}
	if matchID(json.RawMessage(`"ab"`), m.ID) != idSame {
		t.Error(`"a\u0062" is "ab"`)
	}
	messages, _ = ReadMessages([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m","data":{"supported":["2026-07-28",7],"requested":"x"},"Code":5}}`))
	e := messages[0].Error
	if e.Code != -32022 || e.Message != "m" || !slices.Equal(e.Supported(), []string{"2026-07-28"}) {
		t.Errorf("%+v %q", e, e.Supported())
	}
	if d := readDuplicate(t, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","name":"b"}]}}`); !strings.Contains(d, `"result.tools.name"`) {
		t.Errorf("detail %s", d)
	}
}

func readDuplicate(t *testing.T, in string) string {
	messages, _ := ReadMessages([]byte(in))
	wantKinds(t, messages[0].Faults, FaultDuplicate)
	return messages[0].Faults[0].Detail
}

func TestMatchID(t *testing.T) {
	tests := []struct {
		sent, got string
		want      idMatch
	}{
		{`1`, `1`, idSame},
		{`1`, `1.0`, idForm},
		{`10`, `1e1`, idForm},
		{`1`, `10e-1`, idForm},
		{`1`, `"1"`, idType},
		{`"1"`, `1`, idType},
		{`1`, `2`, idOther},
		{`1`, `-1`, idOther},
		{`1`, `null`, idOther},
		{`1`, ``, idOther},
		{`null`, `null`, idSame},
		{`0`, `-0`, idForm},
		{`9007199254740993`, `9007199254740992`, idOther},
		{`9007199254740993`, `9007199254740993.0`, idForm},
		{`9007199254740993`, `9.007199254740993e15`, idForm},
		{`1`, `1e999999999`, idOther},
		{`1`, `0.1`, idOther},
		{`"a"`, `"A"`, idOther},
		{`true`, `"true"`, idType},
	}
	for _, tt := range tests {
		if got := matchID(json.RawMessage(tt.sent), json.RawMessage(tt.got)); got != tt.want {
			t.Errorf("%s and %s: %d, want %d", tt.sent, tt.got, got, tt.want)
		}
	}
}

func FuzzReadMessages(f *testing.F) {
	for _, line := range bytes.Split(bytes.TrimSpace(field(f, "rpc/responses.jsonl")), []byte("\n")) {
		var c rpcCase
		unmarshal(f, line, &c)
		f.Add([]byte(c.Raw))
	}
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1.0,"error":{"code":-1e2,"message":"\ud800"}},null,{"a":{"b":1,"b":2}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		messages, _ := ReadMessages(bytes.Clone(data))
		if len(messages) > 0 && !json.Valid(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) {
			t.Fatal("messages out of what is not JSON")
		}
		for _, m := range messages {
			matchID(m.ID, json.RawMessage(`1`))
			// An independent reading by exact names: a map, where the last of
			// a repeated member wins.
			var object map[string]json.RawMessage
			if json.Unmarshal(m.Raw, &object) != nil || object == nil {
				if m.Result != nil || m.Error != nil || m.Method != "" {
					t.Fatalf("%s is no object", m.Raw)
				}
				continue
			}
			if !bytes.Equal(object["id"], m.ID) {
				t.Errorf("id %s, want %s", m.ID, object["id"])
			}
			if !bytes.Equal(object["result"], m.Result) {
				t.Errorf("result %s, want %s", m.Result, object["result"])
			}
		}
	})
}
