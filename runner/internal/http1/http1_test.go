package http1_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/http1"
)

const patience = 20 * time.Second

// echo answers with what it has understood.
func echo(_ context.Context, r *http1.Request) http1.Response {
	if r.Path == "/panic" {
		panic("on purpose")
	}
	return http1.Response{Status: 200, Body: fmt.Appendf(nil, "%s %s %q %s", r.Method, r.Path, r.Body, r.Get("x-test"))}
}

// serve starts a server and returns its address.
func serve(t testing.TB, s *http1.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Clock = clock.New()
	if s.Handle == nil {
		s.Handle = echo
	}
	if s.MaxBody == 0 {
		s.MaxBody = 64
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// ask sends bytes and returns all that comes back.
func ask(t testing.TB, addr, raw string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	io.WriteString(c, raw)
	c.(*net.TCPConn).CloseWrite()
	got, _ := io.ReadAll(c)
	return string(got)
}

// TestRequests: what is served, and what is refused with which status. RFC 9112.
func TestRequests(t *testing.T) {
	addr := serve(t, &http1.Server{})
	const post, host = "POST /a HTTP/1.1\r\n", "Host: x\r\n"
	tests := []struct {
		name, raw string
		status    int
		body      string
	}{
		{"a body", post + host + "Content-Length: 2\r\n\r\nhi", 200, `POST /a "hi" `},
		{"no body", "GET /a?b=c HTTP/1.1\r\n" + host + "X-Test:  v \r\n\r\n", 200, `GET /a "" v`},
		{"HEAD", "HEAD /a HTTP/1.1\r\n" + host + "\r\n", 200, ""},
		{"HTTP/1.0 without a host", "POST /a HTTP/1.0\r\nContent-Length: 1\r\n\r\nx", 200, `POST /a "x" `},
		{"chunked", post + host + "Transfer-Encoding: Chunked\r\n\r\n2\r\nhi\r\n0a\r\n0123456789\r\n0\r\n\r\n", 200, `POST /a "hi0123456789" `},
		{"as long as it may be", post + host + "Content-Length: 64\r\n\r\n" + strings.Repeat("x", 64), 200, ""},
		{"an encoded path", "GET /a%20b HTTP/1.1\r\n" + host + "\r\n", 200, `GET /a b "" `},
		{"expected", post + host + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nhi", 100, ""},

		{"too long", post + host + "Content-Length: 65\r\n\r\n" + strings.Repeat("x", 65), 413, ""},
		{"far too long", post + host + "Content-Length: 4611686018427387903\r\n\r\n", 413, ""},
		{"chunked, too long", post + host + "Transfer-Encoding: chunked\r\n\r\n41\r\n" + strings.Repeat("x", 65) + "\r\n0\r\n\r\n", 413, ""},
		{"a chunk of 4 GiB", post + host + "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n", 413, ""},
		{"expected, too long", post + host + "Expect: 100-continue\r\nContent-Length: 65\r\n\r\n", 413, ""},
		{"expected otherwise", post + host + "Expect: 200-ok\r\nContent-Length: 2\r\n\r\nhi", 417, ""},
		{"a long head", post + host + "X: " + strings.Repeat("x", 17000) + "\r\n\r\n", 431, ""},
		{"a long line", "GET /" + strings.Repeat("x", 17000) + " HTTP/1.1\r\n\r\n", 431, ""},
		{"many headers", post + host + strings.Repeat("X: y\r\n", 101) + "\r\n", 431, ""},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\n", 505, ""},
		{"HTTP/1.2", "GET / HTTP/1.2\r\n" + host + "\r\n", 505, ""},
		{"a panic", "GET /panic HTTP/1.1\r\n" + host + "\r\n", 500, ""},
	}
	for name, raw := range map[string]string{
		"both lengths":             post + host + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a length twice":           post + host + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
		"two lengths in one":       post + host + "Content-Length: 2, 2\r\n\r\nhi",
		"a length with a sign":     post + host + "Content-Length: +2\r\n\r\nhi",
		"a negative length":        post + host + "Content-Length: -1\r\n\r\n",
		"a hexadecimal length":     post + host + "Content-Length: 0x2\r\n\r\nhi",
		"an empty length":          post + host + "Content-Length:\r\n\r\n",
		"a length beyond 62 bits":  post + host + "Content-Length: 9223372036854775808\r\n\r\n",
		"another coding":           post + host + "Transfer-Encoding: gzip\r\n\r\n",
		"two codings":              post + host + "Transfer-Encoding: gzip, chunked\r\n\r\n",
		"chunked twice":            post + host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
		"chunked in HTTP/1.0":      "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a dressed coding":         post + host + "Transfer-Encoding: \vchunked\r\n\r\n",
		"bare LF":                  "GET / HTTP/1.1\nHost: x\n\n",
		"LF in the headers":        post + "Host: x\n\r\n",
		"bare CR":                  post + "Host: x\rX: y\r\n\r\n",
		"NUL":                      post + "Host: x\r\nX: a\x00b\r\n\r\n",
		"a folded header":          post + host + "X: a\r\n b\r\n\r\n",
		"folded at once":           post + " X: a\r\n" + host + "\r\n",
		"space before the colon":   post + "Host : x\r\n\r\n",
		"no colon":                 post + host + "X\r\n\r\n",
		"no name":                  post + host + ": x\r\n\r\n",
		"no host":                  post + "\r\n",
		"two hosts":                post + host + host + "\r\n",
		"an empty host":            post + "Host: \r\n\r\n",
		"a bad host":               post + "Host: a b\r\n\r\n",
		"a host with a path":       post + "Host: a/b\r\n\r\n",
		"no version":               "GET /\r\n" + host + "\r\n",
		"no target":                "GET HTTP/1.1\r\n" + host + "\r\n",
		"two spaces":               "GET  / HTTP/1.1\r\n" + host + "\r\n",
		"space in the target":      "GET /a b HTTP/1.1\r\n" + host + "\r\n",
		"a whole URL":              "GET http://x/ HTTP/1.1\r\n" + host + "\r\n",
		"a fragment":               "GET /#a HTTP/1.1\r\n" + host + "\r\n",
		"no ASCII":                 "GET /ä HTTP/1.1\r\n" + host + "\r\n",
		"a broken escape":          "GET /%zz HTTP/1.1\r\n" + host + "\r\n",
		"an escaped control":       "GET /%0d HTTP/1.1\r\n" + host + "\r\n",
		"a broken query":           "GET /?a=%z HTTP/1.1\r\n" + host + "\r\n",
		"lower-case version":       "GET / http/1.1\r\n" + host + "\r\n",
		"a bad method":             "G(T / HTTP/1.1\r\n" + host + "\r\n",
		"TLS":                      "\x16\x03\x01\x02\x00\x01\x00\n",
		"a chunk extension":        post + host + "Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\n\r\n",
		"a chunk with a sign":      post + host + "Transfer-Encoding: chunked\r\n\r\n+2\r\nhi\r\n0\r\n\r\n",
		"a chunk with a prefix":    post + host + "Transfer-Encoding: chunked\r\n\r\n0x2\r\nhi\r\n0\r\n\r\n",
		"a chunk with space":       post + host + "Transfer-Encoding: chunked\r\n\r\n2 \r\nhi\r\n0\r\n\r\n",
		"a chunk without end":      post + host + "Transfer-Encoding: chunked\r\n\r\n2\r\nhixx0\r\n\r\n",
		"a chunk that ends in LF":  post + host + "Transfer-Encoding: chunked\r\n\r\n2\nhi\r\n0\r\n\r\n",
		"an endless chunk size":    post + host + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 5000),
		"trailers":                 post + host + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n",
		"a header without a value": post + host + "X: \x01\r\n\r\n",
	} {
		tests = append(tests, struct {
			name, raw string
			status    int
			body      string
		}{name, raw, 400, ""})
	}
	for _, tt := range tests {
		got := ask(t, addr, tt.raw)
		if !strings.HasPrefix(got, fmt.Sprintf("HTTP/1.1 %d ", tt.status)) {
			t.Errorf("%s: %.200q, want %d", tt.name, got, tt.status)
			continue
		}
		head, body, _ := strings.Cut(got, "\r\n\r\n")
		if tt.status != 100 && !strings.Contains(head, "\r\nConnection: close") {
			t.Errorf("%s: %q", tt.name, head)
		}
		if tt.body != "" && body != tt.body {
			t.Errorf("%s: %q, want %q", tt.name, body, tt.body)
		}
	}
	for name, raw := range map[string]string{"nothing": "", "half a line": "GET /", "half a head": post + host, "half a body": post + host + "Content-Length: 9\r\n\r\nhi"} {
		if got := ask(t, addr, raw); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestClients: the client of Go and curl get along with it.
func TestClients(t *testing.T) {
	addr := serve(t, &http1.Server{MaxBody: 1 << 20})
	client := &http.Client{Timeout: patience}
	for _, body := range []io.Reader{strings.NewReader("hi"), io.MultiReader(strings.NewReader("h"), strings.NewReader("i"))} { // with a length, and chunked
		req, err := http.NewRequest("POST", "http://"+addr+"/x", body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Expect", "100-continue")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(got) != `POST /x "hi" ` || !resp.Close {
			t.Errorf("%q, %v", got, err)
		}
	}
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Log("there is no curl here")
		return
	}
	big := strings.Repeat("y", 300_000) // curl asks for 100 Continue
	for _, args := range [][]string{{"--data-binary", "@-"}, {"-H", "Transfer-Encoding: chunked", "--data-binary", "@-"}, {"-0", "--data-binary", "@-"}} {
		cmd := exec.Command(curl, append(args, "-sS", "--max-time", "20", "http://"+addr+"/x")...)
		cmd.Stdin = strings.NewReader(big)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != fmt.Sprintf("POST /x %q ", big) {
			t.Errorf("curl %q: %.200s, %v", args, out, err)
		}
	}
}

// TestUnix: it serves a socket of the file system as well.
func TestUnix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	s := &http1.Server{Clock: clock.New(), MaxBody: 10, Handle: func(_ context.Context, r *http1.Request) http1.Response {
		return http1.Response{Status: 200, Body: []byte(r.Remote)}
	}}
	go func() { done <- s.Serve(ctx, l) }()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	got, _ := io.ReadAll(c)
	if !strings.HasSuffix(string(got), "\r\n\r\nunix") {
		t.Errorf("%q", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestAccept: what is refused by its head is not waited for.
func TestAccept(t *testing.T) {
	addr := serve(t, &http1.Server{Accept: func(r *http1.Request) *http1.Response {
		no := http1.Error(401, "no")
		return &no
	}})
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 60\r\n\r\n")
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != "HTTP/1.1 401 Unauthorized\r\n" {
		t.Error(line, err)
	}
}

// TestDeadline: no byte prolongs the time of a request.
func TestDeadline(t *testing.T) {
	addr := serve(t, &http1.Server{Limit: 200 * time.Millisecond})
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	begun := time.Now()
	go func() {
		for _, b := range []byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\n\r\n" + strings.Repeat("x", 60)) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || line != "HTTP/1.1 408 Request Timeout\r\n" || time.Since(begun) < 200*time.Millisecond {
		t.Error(line, err, time.Since(begun))
	}
}

// TestSlowClients: 200 connections that send a byte a second do not delay a real
// one.
func TestSlowClients(t *testing.T) {
	addr := serve(t, &http1.Server{MaxConns: 64})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	slow := func() {
		for ctx.Err() == nil {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { c.Close() })
			for _, b := range []byte("POST / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 100)) {
				if _, err := c.Write([]byte{b}); err != nil {
					break
				}
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
			c.Close()
		}
	}
	for range 200 {
		go slow()
	}
	for i := range 20 {
		begun := time.Now()
		if got := ask(t, addr, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"); !strings.HasSuffix(got, `POST /a "hi" `) {
			t.Errorf("%d: %q", i, got)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("%d took %v", i, took)
		}
		time.Sleep(50 * time.Millisecond) // a request now and then, for a second
	}
}

// TestIdleClients: those that have their answer and do not go keep nobody out.
func TestIdleClients(t *testing.T) {
	addr := serve(t, &http1.Server{MaxConns: 16})
	for i := range 10 * 16 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(patience))
		io.WriteString(c, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 200") {
			t.Fatalf("%d: %q %v", i, line, err)
		}
	}
	// In rounds of 16, a tenth of a second each, and not a second.
	begun := time.Now()
	ask(t, addr, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
	if took := time.Since(begun); took > 800*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

// FuzzRequest: whatever comes in, it is answered once or not at all, within its
// limits.
func FuzzRequest(f *testing.F) {
	addr := serve(f, &http1.Server{MaxConns: 256})
	for _, s := range []string{
		"", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if bytes.Contains(raw, []byte("/panic")) {
			return
		}
		begun := time.Now()
		got := ask(t, addr, string(raw))
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%q took %v", raw, took)
		}
		got = strings.TrimPrefix(got, "HTTP/1.1 100 Continue\r\n\r\n")
		if got == "" {
			return
		}
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(got)), nil)
		if err != nil || resp.StatusCode == 500 {
			t.Errorf("%q was answered by %q, %v", raw, got, err)
		}
	})
}

// TestError: it is JSON whatever it says.
func TestError(t *testing.T) {
	for _, why := range []string{"", `a "b" \`, "\a\v\x7f", "\U000f0000", "\u2028", "\xff"} {
		var got struct{ Error string }
		if err := json.Unmarshal(http1.Error(400, why).Body, &got); err != nil || got.Error != strings.ToValidUTF8(why, "\ufffd") {
			t.Errorf("%q: %q, %v", why, got.Error, err)
		}
	}
}
