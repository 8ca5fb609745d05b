package runner

import "strconv"

func itoa(n int) string { return strconv.Itoa(n) }

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return itoa(n) + " messages"
}
