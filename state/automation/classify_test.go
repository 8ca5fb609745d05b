package automation_test

import (
	"testing"

	"claw/state/automation"
)

// 2.8: what programs and services print. The texts are those of curl, git,
// ssh, psql, pg_dump, restic, borg, rsync, apt, aws, Go, Node, Python and of the
// interfaces of Anthropic and OpenAI.
func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		text string
		want automation.Category
	}{
		// Passes by itself.
		{"curl: (6) Could not resolve host: api.example.org", automation.Network},
		{"curl: (7) Failed to connect to localhost port 8080 after 0 ms: Could not connect to server", automation.Network},
		{"curl: (7) Failed to connect to 10.0.0.1 port 443: Connection refused", automation.Network},
		{"curl: (52) Empty reply from server", automation.Network},
		{"curl: (56) Recv failure: Connection reset by peer", automation.Network},
		{"curl: (28) Operation timed out after 5001 milliseconds with 0 bytes received", automation.Timeout},
		{"curl: (28) Connection timed out after 10001 milliseconds", automation.Timeout},
		{"curl: (22) The requested URL returned error: 500", automation.ServerError},
		{"curl: (22) The requested URL returned error: 502 Bad Gateway", automation.ServerError},
		{"curl: (22) The requested URL returned error: 503", automation.Overloaded},
		{"curl: (22) The requested URL returned error: 504", automation.Timeout},
		{"curl: (22) The requested URL returned error: 520", automation.ServerError},
		{"curl: (22) The requested URL returned error: 429", automation.RateLimit},
		{"fatal: unable to access 'https://github.com/a/b.git/': Could not resolve host: github.com", automation.Network},
		{"error: RPC failed; curl 56 GnuTLS recv error (-54): Error in the pull function.\nfatal: early EOF", automation.Network},
		{"fatal: the remote end hung up unexpectedly", automation.Network},
		{"fatal: unable to access 'https://github.com/a/b.git/': The requested URL returned error: 503", automation.Overloaded},
		{"ssh: connect to host backup.example.org port 22: Connection refused", automation.Network},
		{"ssh: connect to host backup.example.org port 22: No route to host", automation.Network},
		{"ssh: connect to host backup.example.org port 22: Network is unreachable", automation.Network},
		{"ssh: Could not resolve hostname nas: Temporary failure in name resolution", automation.Network},
		{"ssh: connect to host 192.0.2.1 port 22: Connection timed out", automation.Timeout},
		{"kex_exchange_identification: read: Connection reset by peer", automation.Network},
		{"client_loop: send disconnect: Broken pipe", automation.Network},
		{"rsync: connection unexpectedly closed (0 bytes received so far) [sender]", automation.Network},
		{"rsync error: timeout in data send/receive (code 30) at io.c(205)", automation.Timeout},
		{`psql: error: connection to server at "localhost" (::1), port 5432 failed: Connection refused`, automation.Network},
		{`psql: error: could not translate host name "db" to address: Name or service not known`, automation.Network},
		{"server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally", automation.Network},
		{`psql: error: FATAL:  sorry, too many clients already`, automation.Overloaded},
		{`psql: error: FATAL:  the database system is starting up`, automation.Overloaded},
		{"sqlite3.OperationalError: database is locked", automation.Overloaded},
		{"unable to create lock in backend: repository is already locked by PID 4711 on host by root", automation.Overloaded},
		{"Fatal: unable to open config file: dial tcp: lookup s3.example.org: no such host", automation.Network},
		{"E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1234 (apt)", automation.Overloaded},
		{"dial tcp 127.0.0.1:80: connect: connection refused", automation.Network},
		{"net/http: TLS handshake timeout", automation.Network},
		{`Get "https://x": context deadline exceeded`, automation.Timeout},
		{"context deadline exceeded (Client.Timeout exceeded while awaiting headers)", automation.Timeout},
		{"read tcp 10.0.0.2:5000->10.0.0.1:443: read: connection reset by peer", automation.Network},
		{"unexpected EOF", automation.Network},
		{"Error: getaddrinfo EAI_AGAIN registry.npmjs.org", automation.Network},
		{"Error: connect ECONNREFUSED 127.0.0.1:5432", automation.Network},
		{"Error: connect ETIMEDOUT 140.82.112.3:443", automation.Timeout},
		{"TypeError: fetch failed", automation.Network},
		{"Error: socket hang up", automation.Network},
		{"requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='x', port=443): Read timed out. (read timeout=10)", automation.Timeout},
		{"urllib.error.HTTPError: HTTP Error 503: Service Unavailable", automation.Overloaded},
		{"requests.exceptions.HTTPError: 500 Server Error: Internal Server Error for url: https://x", automation.ServerError},
		{"An error occurred (ThrottlingException) when calling the Invoke operation: Too many requests", automation.RateLimit},
		{"An error occurred (SlowDown) when calling the PutObject operation: Please reduce your request rate.", automation.RateLimit},
		{`API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, automation.Overloaded},
		{`API Error: 500 {"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, automation.ServerError},
		{`{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit."}}`, automation.RateLimit},
		{"API Error: Connection error.", automation.Network},
		{"API Error: Request timed out.", automation.Timeout},
		{"Claude AI usage limit reached|1764579600", automation.RateLimit},
		{"Error code: 429 - Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM)", automation.RateLimit},
		{"Error code: 503 - The engine is currently overloaded, please try again later", automation.Overloaded},
		{"The server had an error while processing your request. Sorry about that! (HTTP status 500)", automation.ServerError},
		{"status code 502", automation.ServerError},
		{"504 Gateway Time-out", automation.Timeout},
		{"429 Too Many Requests", automation.RateLimit},
		{`429 RESOURCE_EXHAUSTED. {"error": {"code": 429, "message": "Resource has been exhausted (e.g. check quota)."}}`, automation.RateLimit},
		{"Error: 14 UNAVAILABLE: upstream HTTP 503", automation.Overloaded},

		// Does not.
		{"git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.", automation.Auth},
		{"fatal: Authentication failed for 'https://github.com/a/b.git/'", automation.Auth},
		{"fatal: could not read Username for 'https://github.com': No such device or address", automation.Auth},
		{"Host key verification failed.", automation.Auth},
		{"Received disconnect from 192.0.2.1 port 22:2: Too many authentication failures", automation.Auth},
		{`psql: error: FATAL:  password authentication failed for user "app"`, automation.Auth},
		{"fe_sendauth: no password supplied", automation.Auth},
		{"Fatal: wrong password or no key found", automation.Auth},
		{"curl: (22) The requested URL returned error: 401", automation.Auth},
		{"curl: (22) The requested URL returned error: 403 Forbidden", automation.Auth},
		{`API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, automation.Auth},
		{"Invalid API key · Please run /login", automation.Auth},
		{`OAuth token has expired. Please obtain a new token or refresh your existing token.`, automation.Auth},
		{"Error code: 401 - {'error': {'message': 'Incorrect API key provided: sk-x. You can find your API key at https://platform.openai.com/account/api-keys.'}}", automation.Auth},
		{"An error occurred (AccessDenied) when calling the ListBuckets operation: Access Denied", automation.Auth},
		{"An error occurred (ExpiredToken) when calling the GetObject operation: The provided token has expired.", automation.Auth},
		{"Error code: 429 - {'error': {'message': 'You exceeded your current quota, please check your plan and billing details.', 'type': 'insufficient_quota'}}", automation.Billing},
		{"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.", automation.Billing},
		{"Credit balance is too low", automation.Billing},
		{"HTTP/1.1 402 Payment Required", automation.Billing},
		{`API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, automation.Validation},
		{`{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}`, automation.Validation},
		{"curl: (22) The requested URL returned error: 404", automation.Validation},
		{"HTTP 422 Unprocessable Entity", automation.Validation},
		{"tar: unrecognized option '--frobnicate'", automation.Validation},
		{"sh: 1: frobnicate: not found", automation.Other},
		{"bash: frobnicate: command not found", automation.Validation},
		{"cat: /nonexistent: No such file or directory", automation.Validation},
		{"make: *** [Makefile:7: all] Error 2", automation.Other},
		{"--- FAIL: TestThing (0.00s)", automation.Other},
		{"Segmentation fault (core dumped)", automation.Other},
		{"tar: /var: Cannot write: No space left on device", automation.Other},
		{"cp: cannot create regular file '/root/x': Permission denied", automation.Other},
		{"", automation.Other},

		// A bare number is a status only where the message looks like HTTP.
		{"exit 500", automation.Other},
		{"processed 503 records, 2 failed", automation.Other},
		{"line 502: syntax is wrong", automation.Other},
		{"429 files differ", automation.Other},
		{"401 tests failed", automation.Other},
		{"HTTP 500", automation.ServerError},
		{"http: pid 15003 died", automation.Other},
		{"http listener on 0.0.0.0:5000 died", automation.Other},
		{"request id 5001 was lost", automation.Other},
		{"the status is x500", automation.Other},
		{"pull request 512 could not be merged", automation.Other},
		{"the capital of 500 cities", automation.Other},
		{"HTTP listener gave up after 503 tries", automation.Other},
		{`upstream said {"statusCode": 503}`, automation.Overloaded},
		{"server returned 500", automation.ServerError},
		{"response status=504", automation.Timeout},
		{"HTTP/2 500", automation.ServerError},
		{"< HTTP/1.1 401", automation.Auth},
	} {
		if got := automation.Classify(tt.text); got != tt.want {
			t.Errorf("%s: %s; want %s", tt.text, got, tt.want)
		}
	}
}

// 2.8: what passes by itself is tried again, the rest is not.
func TestClassesThatPass(t *testing.T) {
	for _, tt := range []struct {
		text  string
		again bool
	}{
		{"curl: (6) Could not resolve host: x", true},
		{"HTTP 529 overloaded_error", true},
		{"429 Too Many Requests", true},
		{"Operation timed out", true},
		{"500 Internal Server Error", true},
		{"Invalid API key", false},
		{"insufficient_quota", false},
		{"invalid_request_error", false},
		{"it broke", false},
	} {
		f := finish(settled("09:00", hourly()), failed("09:10", automation.Classify(tt.text)))
		if (f.Retry != nil) != tt.again {
			t.Errorf("%s: tried again %v", tt.text, f.Retry != nil)
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{"", "5", "http 5", "http 500", "\xff500 http", "error: 429"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		switch got := automation.Classify(s); got {
		case automation.RateLimit, automation.Overloaded, automation.Network, automation.Timeout, automation.ServerError,
			automation.Auth, automation.Billing, automation.Validation, automation.Other:
		default:
			t.Errorf("%q: %q", s, got)
		}
	})
}
