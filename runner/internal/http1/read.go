package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// Request is one request.
type Request struct {
	Method string
	Path   string              // decoded
	Query  map[string]string   // of each name the first
	Header map[string][]string // by the name in lower case
	Body   []byte
	Remote string // see remote

	minor   int
	length  int64 // of the body; -1: chunked
	chunked bool
}

// Get is the first header with this name, in lower case.
func (r *Request) Get(name string) string {
	if v := r.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

var tooLarge = &refusal{413, "the body is too large"}

// readHead reads the request line and the headers.
func readHead(in *bufio.Reader) (*Request, error) {
	left := maxHead
	line, err := readLine(in, &left)
	if err != nil {
		return nil, err
	}
	r := &Request{Header: map[string][]string{}}
	if err := r.first(line); err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		line, err := readLine(in, &left)
		switch {
		case errors.Is(err, io.EOF):
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case line == "":
			return r, r.framing()
		case n == maxFields:
			return nil, &refusal{431, "there are too many headers"}
		}
		name, value, err := field(line)
		if err != nil {
			return nil, err
		}
		r.Header[name] = append(r.Header[name], value)
	}
}

// readLine reads a line that ends in CRLF, which is all that may end one.
func readLine(in *bufio.Reader, left *int) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if *left -= len(part); *left < 0 {
			return "", &refusal{431, "the head is too large"}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return "", err
		}
		break
	}
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok {
		return "", bad("a line does not end in CRLF")
	}
	if bytes.IndexByte(text, '\r') >= 0 || bytes.IndexByte(text, 0) >= 0 {
		return "", bad("a line has a control character")
	}
	return string(text), nil
}

// first reads the request line.
func (r *Request) first(line string) error {
	method, rest, ok1 := strings.Cut(line, " ")
	target, version, ok2 := strings.Cut(rest, " ")
	switch {
	case !ok1 || !ok2 || !token(method) || len(method) > 20:
		return bad("the first line is none of a request")
	case len(version) != 8 || !strings.HasPrefix(version, "HTTP/") || version[6] != '.':
		return bad("the first line names no version")
	case version == "HTTP/1.0":
	case version == "HTTP/1.1":
		r.minor = 1
	default:
		return &refusal{505, "only HTTP/1.1 is spoken here"}
	}
	r.Method = method
	return r.target(target)
}

// target reads the path and the query.
func (r *Request) target(target string) error {
	if !strings.HasPrefix(target, "/") || strings.ContainsFunc(target, func(c rune) bool {
		return c <= ' ' || c >= 0x7F || c == '#' || c == '\\' || c == '"' || c == '<' || c == '>'
	}) {
		return bad("the target is no path")
	}
	path, query, _ := strings.Cut(target, "?")
	var err error
	if r.Path, err = url.PathUnescape(path); err != nil || strings.ContainsFunc(r.Path, func(c rune) bool { return c < ' ' || c == 0x7F }) {
		return bad("the path is not encoded as it should be")
	}
	r.Query = map[string]string{}
	for pair := range strings.SplitSeq(query, "&") {
		k, v, _ := strings.Cut(pair, "=")
		name, err1 := url.QueryUnescape(k)
		value, err2 := url.QueryUnescape(v)
		if err1 != nil || err2 != nil {
			return bad("the query is not encoded as it should be")
		}
		if _, there := r.Query[name]; !there && name != "" {
			r.Query[name] = value
		}
	}
	return nil
}

// field reads a header.
func field(line string) (name, value string, err error) {
	if line[0] == ' ' || line[0] == '\t' {
		return "", "", bad("a header is folded")
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || !token(name) {
		return "", "", bad("a header has no proper name")
	}
	value = strings.Trim(value, " \t")
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7F {
			return "", "", bad("a header has a control character")
		}
	}
	return strings.ToLower(name), value, nil
}

// token tells a word of RFC 9110, 5.6.2.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0 {
			continue
		}
		return false
	}
	return s != ""
}

// framing finds where the body ends, and whom it is for.
func (r *Request) framing() error {
	hosts := r.Header["host"]
	if len(hosts) > 1 || len(hosts) == 0 && r.minor > 0 || len(hosts) == 1 && !host(hosts[0]) {
		return bad("there must be one proper Host")
	}
	lengths, codings := r.Header["content-length"], r.Header["transfer-encoding"]
	switch {
	case len(lengths) > 0 && len(codings) > 0:
		return bad("there are both a Content-Length and a Transfer-Encoding")
	case len(lengths) > 1:
		return bad("there is more than one Content-Length")
	case len(codings) > 0:
		if len(codings) > 1 || !strings.EqualFold(codings[0], "chunked") || r.minor == 0 {
			return bad("the Transfer-Encoding is not chunked alone")
		}
		r.chunked, r.length = true, -1
	case len(lengths) == 1:
		n, err := strconv.ParseUint(lengths[0], 10, 62)
		if err != nil || strings.ContainsAny(lengths[0], "+_") {
			return bad("the Content-Length is no number")
		}
		r.length = int64(n)
	}
	return nil
}

// host tells what a Host may be: a name or an address, with a port or without.
func host(h string) bool {
	return h != "" && !strings.ContainsFunc(h, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(".-_:[]%", c))
	})
}

// readBody reads a body of at most most bytes.
func readBody(in *bufio.Reader, r *Request, most int) ([]byte, error) {
	if !r.chunked {
		if r.length > int64(most) {
			return nil, tooLarge
		}
		body := make([]byte, 0, min(r.length, 4096))
		got, err := io.ReadAll(io.LimitReader(in, r.length))
		if body = append(body, got...); err == nil && int64(len(body)) < r.length {
			err = io.ErrUnexpectedEOF
		}
		return body, err
	}
	var body []byte
	for {
		left := 32
		line, err := readLine(in, &left)
		if no, ok := errors.AsType[*refusal](err); ok && no.status == 431 {
			err = bad("a chunk has no proper size")
		}
		if err != nil {
			return nil, unexpected(err)
		}
		if line == "" || len(line) > 8 || strings.ContainsFunc(line, notHex) {
			return nil, bad("a chunk has no proper size")
		}
		n, err := strconv.ParseUint(line, 16, 32)
		if err != nil {
			return nil, bad("a chunk has no proper size")
		}
		if int64(len(body))+int64(n) > int64(most) {
			return nil, tooLarge
		}
		if n > 0 {
			part, err := io.ReadAll(io.LimitReader(in, int64(n)))
			if err != nil || len(part) < int(n) {
				return nil, unexpected(err)
			}
			body = append(body, part...)
		}
		left = 8
		if end, err := readLine(in, &left); err != nil || end != "" {
			if _, no := errors.AsType[*refusal](err); no || err == nil {
				err = bad("a chunk does not end as it should, or there are trailers")
			}
			return nil, unexpected(err)
		}
		if n == 0 {
			return body, nil
		}
	}
}

func notHex(c rune) bool { return !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') }

// unexpected is the end of a connection in the middle of something.
func unexpected(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
