package automation

import "strings"

// Classify tells from the text of an error what kind it is (2.8): the last
// lines of stderr, or what an agent or its service says. What is not known is
// Other, and is not tried again by itself.
//
// The order matters: a message about money or a login often says 429 or
// "timed out" as well, and that does not make it pass by itself.
func Classify(text string) Category {
	t := " " + strings.ToLower(text) + " "
	for _, rule := range classes {
		for _, words := range rule.words {
			if strings.Contains(t, words) {
				return rule.category
			}
		}
		for _, status := range rule.statuses {
			if httpStatus(t, status) {
				return rule.category
			}
		}
	}
	if httpServerError(t) {
		return ServerError
	}
	return Other
}

// classes are the words by which the categories are known, in lower case, and
// the HTTP statuses.
var classes = [...]struct {
	category Category
	words    []string
	statuses []string
}{
	{Billing, []string{
		"insufficient_quota", "exceeded your current quota", "credit balance is too low", "billing", "payment required",
		"out of credits", "insufficient credit", "insufficient balance", "insufficient funds", "spending limit", "spend limit",
	}, []string{"402"}},
	{Auth, []string{
		"authentication", "unauthorized", "invalid api key", "invalid_api_key", "incorrect api key", "invalid x-api-key",
		"permission_error", "permission denied (publickey", "host key verification failed", "could not read username",
		"could not read password", "invalid username or password", "login failed", "not logged in", "please run /login",
		"token has expired", "expired token", "token expired", "access denied", "accessdenied", "invalid credentials", "bad credentials",
		"invalidaccesskeyid", "signaturedoesnotmatch", "expiredtoken", "403 forbidden", "wrong password or no key found",
		"oauth token has", "invalid_grant", "no password supplied", "login incorrect", "too many authentication failures",
	}, []string{"401", "403"}},
	{RateLimit, []string{
		"rate limit", "rate_limit", "rate-limit", "ratelimit", "too many requests", "requests per min", "tokens per min",
		"usage limit reached", "resource_exhausted", "resource has been exhausted", "throttlingexception", "slowdown", "quota exceeded",
	}, []string{"429"}},
	{Overloaded, []string{
		"overloaded", "over capacity", "at capacity", "service unavailable", "server is busy", "too many connections", "too many clients",
		"remaining connection slots are reserved", "try again later", "temporarily unavailable", "the database system is starting up",
		"unable to create lock in backend", "repository is already locked", "could not get lock", "database is locked", "text file busy",
	}, []string{"503", "529"}},
	{Network, []string{
		"could not resolve host", "couldn't resolve host", "temporary failure in name resolution", "name or service not known",
		"no such host", "getaddrinfo", "eai_again", "enotfound", "nodename nor servname", "could not translate host name",
		"connection refused", "econnrefused", "connection reset", "econnreset", "broken pipe", "epipe", "connection closed",
		"connection aborted", "network is unreachable", "enetunreach", "no route to host", "ehostunreach", "host is down", "network is down",
		"socket hang up", "fetch failed", "failed to connect to", "could not connect to server", "unexpected eof", "unexpected disconnect",
		"early eof", "remote end hung up", "remote end closed connection", "ssl_connect", "tls handshake", "ssl connection has been closed",
		"server closed the connection unexpectedly", "empty reply from server", "connection error", "network error", "kex_exchange_identification",
		"connection unexpectedly closed", "lost connection", "dial tcp", "apiconnectionerror",
	}, nil},
	{Timeout, []string{
		"timed out", "timeout", "time-out", "etimedout", "deadline exceeded", "gateway time",
	}, []string{"408", "504"}},
	{ServerError, []string{
		"internal server error", "internal_server_error", "internal error encountered", "bad gateway", "api_error", "server_error", "server error",
	}, nil},
	{Validation, []string{
		"invalid_request", "invalid request", "bad request", "validation", "invalid argument", "invalid option", "unrecognized option", "unknown option",
		"unrecognized arguments", "unknown flag", "usage:", "not_found_error", "model_not_found", "no such file or directory", "command not found", "syntax error",
		"prompt is too long", "context_length_exceeded", "context length", "request_too_large", "unprocessable",
	}, []string{"400", "404", "413", "422"}},
}

// httpWords make a message look like one about HTTP; short ones count as words
// of their own only.
var httpWords = [...]string{"http", "api", "url", "status", "response", "request", "gateway", "server", "upstream", "error code", "returned error"}

func looksHTTP(t string) bool {
	for _, word := range httpWords {
		if (len(word) > 3 && strings.Contains(t, word)) || standsAlone(t, word) {
			return true
		}
	}
	return false
}

// httpStatus tells that a message which looks like HTTP has a number as its
// status.
func httpStatus(t, status string) bool {
	return strings.Contains(t, status) && looksHTTP(t) && anyNumber(t, func(n string) bool { return n == status })
}

// httpServerError tells a 5xx in a message that looks like HTTP.
func httpServerError(t string) bool {
	return looksHTTP(t) && anyNumber(t, func(n string) bool { return len(n) == 3 && n[0] == '5' })
}

// anyNumber asks about every number of t, which has a space at either end, that
// stands where a status does: after a word such as error, code or HTTP/1.1.
func anyNumber(t string, is func(number string) bool) bool {
	for i := 1; i < len(t)-1; i++ {
		if !digit(t[i]) || inWord(t[i-1]) {
			continue
		}
		to := i
		for digit(t[to]) {
			to++
		}
		if !inWord(t[to]) && is(t[i:to]) && announces(t[:i]) {
			return true
		}
		i = to - 1
	}
	return false
}

// announces tells that a text ends with a word after which a status is said.
func announces(before string) bool {
	before = strings.TrimRight(before, " \t:=\"'([-")
	from := len(before)
	for from > 0 && (inWord(before[from-1]) || before[from-1] == '/' || before[from-1] == '.') {
		from--
	}
	word := before[from:]
	switch word {
	case "returned", "response", "got", "with", "is", "was":
		return true
	}
	return strings.HasPrefix(word, "http") || strings.HasSuffix(word, "error") || strings.HasSuffix(word, "code") || strings.HasSuffix(word, "status")
}

// standsAlone tells that a word is there that is part of no longer one.
func standsAlone(t, word string) bool {
	for from := 0; ; {
		i := strings.Index(t[from:], word)
		if i < 0 {
			return false
		}
		i += from
		if !inWord(t[i-1]) && !inWord(t[i+len(word)]) {
			return true
		}
		from = i + 1
	}
}

func inWord(c byte) bool {
	return digit(c) || c >= 'a' && c <= 'z' || c == '_' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
