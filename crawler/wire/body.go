package wire

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"sync"
)

// ErrTooLarge is the error of reading past Options.MaxBody decoded bytes.
var ErrTooLarge = errors.New("the answer is over the limit of decoded bytes")

// wrapBody puts decoding, the limit and the record between a response and its
// reader. Bytes reach the reader as they come: event streams depend on it.
func (l *Line) wrapBody(ctx context.Context, cancel context.CancelFunc, x *Exchange, resp *http.Response) {
	raw := &counter{r: resp.Body}
	b := &recordedBody{line: l, x: x, ctx: ctx, cancel: cancel, raw: raw, closer: resp.Body, left: l.door.o.MaxBody, sum: sha256.New()}
	b.decoded = raw
	if encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); encoding == "gzip" || encoding == "x-gzip" {
		b.decoded = &lazyGzip{r: raw}
		b.encoded = true
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
		resp.Uncompressed = true
	}
	resp.Body = b
}

// counter counts what came over the wire.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// lazyGzip reads the gzip header with the first byte asked for: a stream may
// send its header and nothing else for a while.
type lazyGzip struct {
	r   io.Reader
	z   *gzip.Reader
	err error
}

func (g *lazyGzip) Read(p []byte) (int, error) {
	if g.z == nil && g.err == nil {
		if g.z, g.err = gzip.NewReader(g.r); g.err != nil && !errors.Is(g.err, io.EOF) {
			g.err = fmt.Errorf("decode gzip: %w", g.err)
		}
	}
	if g.err != nil {
		return 0, g.err
	}
	return g.z.Read(p)
}

// recordedBody is read once; the exchange is complete when it ends or is
// closed.
type recordedBody struct {
	line    *Line
	x       *Exchange
	ctx     context.Context
	cancel  context.CancelFunc
	raw     *counter
	decoded io.Reader
	encoded bool
	closer  io.Closer

	mu     sync.Mutex
	left   int64
	size   int64
	sum    hash.Hash
	data   []byte
	cut    bool
	err    error
	finish sync.Once
}

func (b *recordedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	// One byte more than the limit is asked for, to tell an answer that is
	// just as long from one that goes on.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.decoded.Read(p)
	if int64(n) > b.left {
		n, err, b.cut = int(b.left), ErrTooLarge, true
	}
	b.left -= int64(n)
	b.size += int64(n)
	b.sum.Write(p[:n])
	if room := MaxRecordedBody - len(b.data); room > 0 {
		b.data = append(b.data, p[:min(n, room)]...)
	}
	if err != nil {
		if err != io.EOF && !b.cut && b.ctx.Err() != nil {
			err = fmt.Errorf("%w (%w)", context.Cause(b.ctx), b.ctx.Err())
		}
		b.err = err
		b.complete(err)
	}
	return n, err
}

func (b *recordedBody) Close() error {
	// Closing first ends a Read that hangs in another goroutine.
	b.cancel()
	err := b.closer.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = errors.New("read of a closed body")
	}
	b.complete(nil)
	return err
}

// complete writes what was read into the exchange, once.
func (b *recordedBody) complete(err error) {
	b.finish.Do(func() {
		body := &Body{Size: b.size, SHA256: hex.EncodeToString(b.sum.Sum(nil)), Data: b.data, Truncated: b.cut}
		if b.encoded {
			body.WireSize = b.raw.n
		}
		b.line.mu.Lock()
		defer b.line.mu.Unlock()
		b.x.ResponseBody = body
		b.x.TotalMS = b.line.since(b.x)
		if err != nil && err != io.EOF {
			b.x.Error = err.Error()
		}
	})
}

var _ http.RoundTripper = (*Line)(nil)
