// Package http1 is a small and strict server of HTTP/1.1, for webhooks.
//
// It is here because net/http costs every start of claw 0.4 ms and the program
// 4.4 MB, also where nobody listens for anything, and because a receiver of
// webhooks needs little of it: one request a connection, a small body, an answer
// of some hundred bytes, "Connection: close".
//
// # What is refused
//
// Whatever two readers could understand in two ways is 400: a line end that is
// not CRLF, a folded header, space before a colon, a Content-Length that is there
// twice or beside a Transfer-Encoding or is not a plain number, a coding other
// than chunked, chunk extensions and trailers, no Host or two of them, a target
// that is not a path of visible ASCII. So there is nothing to be smuggled past a
// proxy.
//
// # What nobody can do to it
//
// A request has a deadline as a whole, from the first byte to the last, which no
// byte prolongs. Head, headers and body have limits. There are at most MaxConns
// connections; one more has the one closed that has been sending its request for
// the longest time, a tenth of a second at least. Those that send a byte a second
// thereby make room for one another, and a real request is read before its turn
// comes. A request whose
// Accept says no is answered before its body is read.
package http1
