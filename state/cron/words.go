package cron

import (
	"math/bits"
	"strconv"
	"strings"
)

func number(n int) string { return strconv.Itoa(n) }

// two writes n with two digits.
func two(n int) string {
	if n < 10 {
		return "0" + number(n)
	}
	return number(n)
}

// ordinal is 1st, 2nd, 3rd, 4th, 11th, 21st.
func ordinal(n int) string {
	switch {
	case n%100/10 == 1:
	case n%10 == 1:
		return number(n) + "st"
	case n%10 == 2:
		return number(n) + "nd"
	case n%10 == 3:
		return number(n) + "rd"
	}
	return number(n) + "th"
}

// list joins words with commas and a last conjunction.
func list(words []string, conjunction string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " " + conjunction + " " + words[n-1]
}

func monthName(m int) string {
	return [...]string{
		"January", "February", "March", "April", "May", "June", "July",
		"August", "September", "October", "November", "December",
	}[m-1]
}

func weekdayName(d int) string {
	return [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}[d]
}

// members are the numbers in a set.
func members(set uint64) []int {
	var out []int
	for ; set != 0; set &= set - 1 {
		out = append(out, bits.TrailingZeros64(set))
	}
	return out
}

// named lists what is in a set, by name.
func named(set uint64, name func(int) string) []string {
	var out []string
	for _, n := range members(set) {
		out = append(out, name(n))
	}
	return out
}

// runs lists the numbers in a set; three and more in a row are "3 to 9".
func runs(set uint64) []string {
	var out []string
	for set != 0 {
		from := bits.TrailingZeros64(set)
		n := bits.TrailingZeros64(^(set >> from))
		if n < 3 {
			n = 1
			out = append(out, number(from))
		} else {
			out = append(out, number(from)+" to "+number(from+n-1))
		}
		set = set >> (from + n) << (from + n)
	}
	return out
}

func monthList(months uint16) string { return list(named(uint64(months), monthName), "and") }

// weekdayList begins with Monday.
func weekdayList(set uint8, conjunction, plural string) string {
	words := named(uint64(set>>1), func(d int) string { return weekdayName(d+1) + plural })
	if set&1 != 0 {
		words = append(words, weekdayName(0)+plural)
	}
	return list(words, conjunction)
}

// stepOf is n if a set is every nth of 0 to size-1, evenly also across the
// end; else 0.
func stepOf(set uint64, size int) int {
	n := bits.TrailingZeros64(set &^ 1)
	if set&1 == 0 || n >= size || size%n != 0 {
		return 0
	}
	for i := range size {
		if set&(1<<i) != 0 != (i%n == 0) {
			return 0
		}
	}
	return n
}

// contiguous gives the ends of a set without holes.
func contiguous(set uint64) (from, to int, ok bool) {
	from, to = bits.TrailingZeros64(set), bits.Len64(set)-1
	return from, to, set == (2<<to-1)&^(1<<from-1)
}
