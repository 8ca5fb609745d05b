package process

import (
	"math"
	"strconv"
	"strings"
)

// SizeError is a size that cannot be read.
type SizeError struct {
	Text string // what was given
	Why  string
	Hint string
}

func (e *SizeError) Error() string { return "size " + strconv.Quote(e.Text) + ": " + e.Why }

// Remedy says how a size is written.
func (e *SizeError) Remedy() string { return e.Hint }

const sizeHint = "write a number and a unit, such as 512k, 64MiB or 1.5G; without a unit it is bytes"

// ParseSize reads a number of bytes. The units are those of GNU tools: K, Ki,
// KiB are 1024 and KB is 1000, likewise M, G, T and P; case does not matter, and a
// space may stand before the unit. Without a unit, and with B, it is bytes.
// A fraction is rounded down to whole bytes.
func ParseSize(s string) (int64, error) {
	text := strings.TrimSpace(s)
	n := 0
	for n < len(text) && (text[n] >= '0' && text[n] <= '9' || text[n] == '.') {
		n++
	}
	number, unit := text[:n], strings.TrimLeft(text[n:], " ")
	if number == "" {
		return 0, &SizeError{s, "not a number", sizeHint}
	}
	factor, ok := unitFactor(unit)
	if !ok {
		return 0, &SizeError{s, "unknown unit " + strconv.Quote(unit), sizeHint}
	}
	return scale(s, number, factor)
}

// scale multiplies; whole numbers without going through a float.
func scale(text, number string, factor int64) (int64, error) {
	tooLarge := &SizeError{text, "too large", sizeHint}
	if !strings.Contains(number, ".") {
		v, err := strconv.ParseInt(number, 10, 64)
		if err != nil || v > math.MaxInt64/factor {
			return 0, tooLarge
		}
		return v * factor, nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, &SizeError{text, "not a number", sizeHint}
	}
	if f *= float64(factor); f >= math.MaxInt64 {
		return 0, tooLarge
	}
	return int64(f), nil
}

const sizeLetters = "KMGTP"

func unitFactor(unit string) (int64, bool) {
	unit = strings.ToUpper(unit)
	if unit == "" || unit == "B" {
		return 1, true
	}
	base := int64(1024)
	switch unit[1:] {
	case "", "I", "IB":
	case "B":
		base = 1000
	default:
		return 0, false
	}
	factor := base
	for i := range len(sizeLetters) {
		if sizeLetters[i] == unit[0] {
			return factor, true
		}
		factor *= base
	}
	return 0, false
}

// FormatSize writes a number of bytes for people: "64 MiB", "1.5 GiB",
// "900 B". At most one decimal, and none when the number is whole.
func FormatSize(n int64) string {
	if n > -1024 && n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, unit := float64(n)/1024, 0
	// 1023.95 would be printed as 1024.0: it is one of the next unit.
	for math.Abs(v) >= 1023.95 && unit < len(sizeLetters)-1 {
		v, unit = v/1024, unit+1
	}
	number := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	return number + " " + sizeLetters[unit:unit+1] + "iB"
}
