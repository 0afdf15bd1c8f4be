package wire

import (
	"bytes"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

func someExchanges() []Exchange {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return []Exchange{
		{N: 1, Started: at, Method: "CONNECT", URL: "https://mcp.test:443", RemoteAddr: "192.0.2.1:443", TLS: &TLSFacts{Version: "TLS 1.3", DNSNames: []string{"mcp.test"}, NotBefore: at, NotAfter: at.Add(time.Hour)}, TotalMS: 1.5},
		{N: 2, Started: at, Method: "POST", URL: "https://mcp.test/mcp?a=<b>", RequestHeader: http.Header{"B": {"2"}, "A": {"1", "0"}}, RequestBody: &Body{Size: 2, SHA256: "00", Data: []byte("{}")},
			Status: 200, ResponseHeader: http.Header{"Content-Type": {"application/json"}}, ResponseBody: &Body{Size: 9, SHA256: "ff", Data: []byte("\x00\xff <&>\u2028"), Truncated: true}, Error: "cut"},
	}
}

func TestRecording(t *testing.T) {
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		if err := WriteRecording(b, someExchanges()); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("equal exchanges give different bytes")
	}
	got, err := ReadRecording(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(someExchanges(), got); d != "" {
		t.Error(d)
	}
	if _, err := ReadRecording(bytes.NewReader(first.Bytes()[:first.Len()-5])); err == nil {
		t.Error("a recording that breaks off is read")
	}
	if got, err := ReadRecording(pack(t, "")); err != nil || len(got) != 0 {
		t.Errorf("an empty recording: %v, %v", got, err)
	}
}

// The zstd tool reads what is written, a line for each exchange.
func TestRecordingWithZstd(t *testing.T) {
	tool, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("zstd is not installed")
	}
	var b bytes.Buffer
	if err := WriteRecording(&b, someExchanges()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), tool, "-dc")
	cmd.Stdin = &b
	out, err := cmd.Output()
	if err != nil || bytes.Count(out, []byte("\n")) != 2 || !bytes.HasPrefix(out, []byte(`{"n":1,"started":"2026-03-01T12:00:00Z","method":"CONNECT"`)) {
		t.Errorf("%q, %v", out, err)
	}
}

func pack(t testing.TB, text string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestReadRecordingRefuses(t *testing.T) {
	line := `{"n":1,"started":"2026-03-01T12:00:00Z","method":"GET","url":"https://mcp.test/","total_ms":1}` + "\n"
	if got, err := ReadRecording(pack(t, line)); err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	for name, text := range map[string]string{
		"an unknown member":    strings.Replace(line, `"n"`, `"x":2,"n"`, 1),
		"a wrong number":       strings.Replace(line, `"n":1`, `"n":2`, 1),
		"the same twice":       line + line,
		"more than an object":  strings.TrimSpace(line) + "{}\n",
		"no JSON":              "hello\n",
		"a line that ends not": strings.TrimSpace(line),
		"an empty line":        "\n" + line,
	} {
		if _, err := ReadRecording(pack(t, text)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	if _, err := ReadRecording(strings.NewReader(line)); err == nil {
		t.Error("what is not compressed is read")
	}
}

// A recording of 300 MB in a few kilobytes is cut off.
func TestReadRecordingIsBounded(t *testing.T) {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	spaces := bytes.Repeat([]byte(" "), 1<<20)
	for range 300 {
		z.Write(spaces)
	}
	z.Close()
	if _, err := ReadRecording(&b); err == nil || !strings.Contains(err.Error(), "over") {
		t.Errorf("%v", err)
	}
}

func FuzzReadRecording(f *testing.F) {
	var b bytes.Buffer
	if err := WriteRecording(&b, someExchanges()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(pack(f, "{}\n").Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := ReadRecording(bytes.NewReader(raw))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := WriteRecording(&out, got); err != nil {
			t.Fatal(err)
		}
		again, err := ReadRecording(&out)
		if err != nil || !cmp.Equal(got, again) {
			t.Fatalf("read differently again: %v", err)
		}
	})
}

func TestMaskURL(t *testing.T) {
	for given, want := range map[string]string{
		"https://mcp.test/mcp":                            "https://mcp.test/mcp",
		"https://u:hush@mcp.test/mcp?x=1":                 "https://mcp.test/mcp?x=1",
		"https://mcp.test/?api_key=hush&x=1&Token=hush":   "https://mcp.test/?api_key=%28masked%29&x=1&Token=%28masked%29",
		"https://mcp.test/?to%6ben=hush":                  "https://mcp.test/?to%6ben=%28masked%29",
		"https://mcp.test/cb#access_token=hush":           "https://mcp.test/cb",
		"https://mcp.test/m?sessionId=hush&client_secret": "https://mcp.test/m?sessionId=%28masked%29&client_secret",
		"https://mcp.test/?code=hush&state=1":             "https://mcp.test/?code=%28masked%29&state=1",
	} {
		u, err := url.Parse(given)
		if err != nil {
			t.Fatal(err)
		}
		if got := maskURL(u); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

// No secret gets from an exchange into its record, and two requests of one
// session can be told from those of another.
func TestNothingSecretIsRecorded(t *testing.T) {
	p := listen(t, answers("HTTP/1.1 401 No\r\nSet-Cookie: hush=1\r\nMcp-Session-Id: hush\r\nContent-Location: /x?token=hush\r\nWWW-Authenticate: Bearer realm=\"r\"\r\nContent-Length: 0\r\n\r\n"))
	l := open(t, Options{}, p.url("/"), true)
	for _, session := range []string{"hush", "hush", "hush2"} {
		r := newRequest(t, "GET", p.url("/mcp?api_key=hush"), "")
		for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "Api-Key", "X-Client-Secret"} {
			r.Header.Set(name, "hush")
		}
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Accept", "application/json")
		if _, _, err := fetch(t, l, r); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := WriteRecording(&b, l.Exchanges()); err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var text bytes.Buffer
	if _, err := z.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(text.Bytes(), []byte("hush")); i >= 0 {
		t.Errorf("recorded: %s", text.Bytes()[max(0, i-60):min(text.Len(), i+20)])
	}
	x := l.Exchanges()
	session := func(i int) string { return x[i].RequestHeader.Get("Mcp-Session-Id") }
	if session(0) != session(1) || session(0) == session(2) || x[0].ResponseHeader.Get("Mcp-Session-Id") != session(0) {
		t.Errorf("sessions %q, %q, %q", session(0), session(1), session(2))
	}
	if x[0].RequestHeader.Get("Accept") != "application/json" || x[0].ResponseHeader.Get("WWW-Authenticate") != `Bearer realm="r"` {
		t.Error("what is no secret is masked")
	}
}
