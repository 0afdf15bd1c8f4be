package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Event is one event of a stream with at least one data line.
type Event struct {
	Name string // "" when the stream gave none, which means message
	Data []byte // the data lines, joined by line feeds; may be empty
	ID   string // the last event id at this point of the stream
}

// Errors of EventReader.Next besides those of the reader below it.
var (
	// ErrEventTooLong is returned once an event is over the bound.
	ErrEventTooLong = errors.New("the event is over the bound")
	// ErrUnfinished is returned when the stream ends inside an event; the
	// format says that such an event is dropped.
	ErrUnfinished = errors.New("the stream ended inside an event")
)

// EventReader reads an event stream
// (https://html.spec.whatwg.org/multipage/server-sent-events.html): lines end
// with LF, CR LF or CR, a byte order mark at the start is skipped, comments
// and unknown fields are ignored. It gives an event as soon as its blank line
// is there and never waits for the byte after a CR.
type EventReader struct {
	r       *bufio.Reader
	max     int64
	total   int64 // bytes of the whole stream; 0 for no bound
	started bool
	skipLF  bool
	read    int64
	lastID  string
	retry   time.Duration
}

// NewEventReader reads events of at most max bytes each, counted over all the
// lines of an event.
func NewEventReader(r io.Reader, max int64) *EventReader {
	return &EventReader{r: bufio.NewReaderSize(r, 32<<10), max: max}
}

// LastID is the last event id of the stream so far.
func (e *EventReader) LastID() string { return e.lastID }

// Retry is the reconnection time that the stream asked for, 0 when none.
func (e *EventReader) Retry() time.Duration { return e.retry }

// Next returns the next event that has data lines. After an error it must not
// be called again.
func (e *EventReader) Next() (*Event, error) {
	var (
		name    string
		data    []byte
		hasData bool
		dirty   bool // a field was seen: the end of the stream would drop it
		id      = e.lastID
		used    int64
	)
	for {
		line, err := e.line(e.max - used)
		if err != nil {
			if err == io.EOF && (dirty || len(line) > 0) {
				return nil, ErrUnfinished
			}
			return nil, err
		}
		if len(line) == 0 {
			e.lastID = id
			if hasData {
				return &Event{Name: name, Data: data[:len(data)-1], ID: id}, nil
			}
			name, dirty, used = "", false, 0
			continue
		}
		if line[0] == ':' {
			continue // a comment is not part of the event's size
		}
		used += int64(len(line))
		dirty = true
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			hasData = true
			data = append(append(data, value...), '\n')
		case "event":
			name = string(value)
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				id = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil && value[0] != '+' {
				e.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// line reads one line without its end. At the end of the stream it returns
// what was there and io.EOF.
func (e *EventReader) line(bound int64) ([]byte, error) {
	var line []byte
	for {
		if e.total > 0 && e.read > e.total {
			return nil, fmt.Errorf("%w: the stream is over %d bytes", ErrEventTooLong, e.total)
		}
		if e.r.Buffered() == 0 {
			if _, err := e.r.Peek(1); err != nil {
				return line, err
			}
		}
		chunk, _ := e.r.Peek(e.r.Buffered())
		if e.skipLF {
			e.skipLF = false
			if chunk[0] == '\n' {
				e.discard(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			line = append(line, chunk...)
			e.discard(len(chunk))
		} else {
			e.skipLF = chunk[end] == '\r'
			line = append(line, chunk[:end]...)
			e.discard(end + 1)
		}
		if int64(len(line)) > bound {
			return nil, fmt.Errorf("%w of %d bytes", ErrEventTooLong, e.max)
		}
		if end >= 0 {
			if !e.started {
				e.started = true
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			return line, nil
		}
	}
}

func (e *EventReader) discard(n int) {
	// n bytes were peeked, so they are buffered and this cannot fail.
	discarded, _ := e.r.Discard(n)
	e.read += int64(discarded)
}
