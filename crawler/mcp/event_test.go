package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

type sseExpect struct {
	Chunks   [][]byte          `json:"chunks_b64"`
	Messages []json.RawMessage `json:"messages"`
	LastID   string            `json:"last_event_id"`
	RetryMS  int64             `json:"retry_ms"`
}

// chunks hands out one chunk a Read.
type chunks struct{ parts [][]byte }

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.parts[0])
	if c.parts[0] = c.parts[0][n:]; len(c.parts[0]) == 0 {
		c.parts = c.parts[1:]
	}
	return n, nil
}

// drain reads a stream to its end and shows all that came out of it.
func drain(r io.Reader, max int64) (events []Event, lastID string, retry time.Duration, err error) {
	er := NewEventReader(r, max)
	for {
		event, err := er.Next()
		if err != nil {
			return events, er.LastID(), er.Retry(), err
		}
		events = append(events, *event)
	}
}

func TestFieldStreams(t *testing.T) {
	files, _ := filepath.Glob("testdata/field/sse/*.sse")
	if len(files) != 11 {
		t.Fatalf("%d stream cases, want 11", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			name := "sse/" + filepath.Base(file)
			data := field(t, name)
			var want sseExpect
			unmarshal(t, field(t, name+".expect.json"), &want)
			if !bytes.Equal(bytes.Join(want.Chunks, nil), data) {
				t.Fatal("the chunks are not the file")
			}
			events, lastID, retry, err := drain(&chunks{want.Chunks}, 1<<20)
			if err != io.EOF {
				t.Fatalf("err = %v", err)
			}
			if want.Messages != nil {
				var got []*Message
				for _, e := range events {
					if len(bytes.TrimSpace(e.Data)) == 0 {
						continue
					}
					messages, faults := ReadMessages(e.Data)
					wantKinds(t, faults)
					got = append(got, messages...)
				}
				if len(got) != len(want.Messages) {
					t.Fatalf("%d messages, want %d", len(got), len(want.Messages))
				}
				for i := range got {
					sameJSON(t, got[i].Raw, want.Messages[i])
				}
			}
			if lastID != want.LastID || retry.Milliseconds() != want.RetryMS {
				t.Errorf("last id %q retry %s, want %q %d ms", lastID, retry, want.LastID, want.RetryMS)
			}
		})
	}
}

// Expectations by hand from the HTML standard, section "Interpreting an event
// stream".
func TestEventRules(t *testing.T) {
	tests := []struct {
		name, in string
		want     []Event
		err      error
	}{
		{"empty", "", nil, io.EOF},
		{"two events", "data: a\n\ndata: b\n\n", []Event{{Data: []byte("a")}, {Data: []byte("b")}}, io.EOF},
		{"mixed ends", "data: a\rdata: b\r\ndata: c\n\r\n", []Event{{Data: []byte("a\nb\nc")}}, io.EOF},
		{"only one space dropped", "data:  a \n\n", []Event{{Data: []byte(" a ")}}, io.EOF},
		{"no colon", "data\ndata\n\n", []Event{{Data: []byte("\n")}}, io.EOF},
		{"event without data is none", "event: x\n\ndata: a\n\n", []Event{{Data: []byte("a")}}, io.EOF},
		{"name", "event: x\ndata: a\n\n", []Event{{Name: "x", Data: []byte("a")}}, io.EOF},
		{"unknown field", "foo: x\ndata: a\n\n", []Event{{Data: []byte("a")}}, io.EOF},
		{"field names have case", "Data: a\n\n", nil, io.EOF},
		{"id is kept over events", "id: 7\ndata: a\n\ndata: b\n\n", []Event{{Data: []byte("a"), ID: "7"}, {Data: []byte("b"), ID: "7"}}, io.EOF},
		{"id with NUL is ignored", "id: 7\x00\ndata: a\n\n", []Event{{Data: []byte("a")}}, io.EOF},
		{"empty id resets", "id: 7\ndata: a\n\nid\ndata: b\n\n", []Event{{Data: []byte("a"), ID: "7"}, {Data: []byte("b")}}, io.EOF},
		{"BOM only at the start", "\xef\xbb\xbfdata: a\n\xef\xbb\xbfdata: b\n\n", []Event{{Data: []byte("a")}}, io.EOF},
		{"unfinished is dropped", "data: a\n\ndata: b\n", []Event{{Data: []byte("a")}}, ErrUnfinished},
		{"unfinished line", "data: a\n\ndata: b", []Event{{Data: []byte("a")}}, ErrUnfinished},
		{"trailing comment is no event", "data: a\n\n: bye\n", []Event{{Data: []byte("a")}}, io.EOF},
		{"bad retry", "retry: 1x\nretry: -1\nretry:\nretry: +5\ndata: a\n\n", []Event{{Data: []byte("a")}}, io.EOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for cut := 0; cut <= len(tt.in); cut++ { // every way to cut it in two
				got, _, retry, err := drain(&chunks{[][]byte{[]byte(tt.in[:cut]), []byte(tt.in[cut:])}}, 1<<20)
				if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tt.want) || err != tt.err || retry != 0 {
					t.Fatalf("cut at %d: %q %v %s, want %q %v", cut, got, err, retry, tt.want, tt.err)
				}
			}
		})
	}
}

// The last event must not wait for the byte after its CR.
func TestEventNotDelayedByCR(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go w.Write([]byte("data: a\r\r"))
	event, err := NewEventReader(r, 100).Next() // hangs when it waits
	if err != nil || string(event.Data) != "a" {
		t.Fatalf("%v %v", event, err)
	}
}

func TestEventBounds(t *testing.T) {
	for _, in := range []string{
		"data: " + strings.Repeat("x", 200) + "\n\n",
		": " + strings.Repeat("x", 200) + "\n\n",
		strings.Repeat("data: xxxxxxxx\n", 20) + "\n",
		strings.Repeat("x", 200),
	} {
		if _, _, _, err := drain(strings.NewReader(in), 100); !errors.Is(err, ErrEventTooLong) {
			t.Errorf("%.20q: %v", in, err)
		}
	}
	// Many comments are not one long event.
	in := strings.Repeat(": keepalive\n", 50) + "data: a\n\n"
	if events, _, _, err := drain(strings.NewReader(in), 100); len(events) != 1 || err != io.EOF {
		t.Errorf("%q %v", events, err)
	}
}

// How a stream is cut into reads must not change what it says.
func FuzzEventStream(f *testing.F) {
	files, _ := filepath.Glob("testdata/field/sse/*.sse")
	for _, file := range files {
		f.Add(field(f, "sse/"+filepath.Base(file)), uint8(3))
	}
	f.Add([]byte("data: a\r\n\r\rid: 1\nretry: 10\n\r\n"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		const bound = 1 << 12
		show := func(r io.Reader) string {
			events, id, retry, err := drain(r, bound)
			for _, e := range events {
				if len(e.Data) > bound {
					t.Fatalf("an event of %d bytes is over the bound", len(e.Data))
				}
			}
			return fmt.Sprintf("%q %q %s %v", events, id, retry, err)
		}
		whole := show(bytes.NewReader(data))
		if one := show(iotest.OneByteReader(bytes.NewReader(data))); one != whole {
			t.Errorf("byte by byte: %s\nwhole: %s", one, whole)
		}
		var parts [][]byte
		for rest := data; len(rest) > 0; {
			n := min(len(rest), int(size)%17+1)
			parts = append(parts, rest[:n])
			rest = rest[n:]
		}
		if cut := show(&chunks{parts}); cut != whole {
			t.Errorf("in chunks: %s\nwhole: %s", cut, whole)
		}
		// CR LF for LF says the same, where there is no lone CR.
		if bytes.IndexByte(data, '\r') < 0 && len(data) < bound/2 {
			if crlf := show(bytes.NewReader(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))); crlf != whole {
				t.Errorf("with CR LF: %s\nwhole: %s", crlf, whole)
			}
		}
	})
}
