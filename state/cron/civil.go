package cron

const daySeconds = 24 * 60 * 60

// dayNumber is how many days the date is after 1 January 1970, in the
// Gregorian calendar. Years are counted from March here, so that the leap day
// is the last of its year.
func dayNumber(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(int64(year), 400)
	ofEra := int64(year) - era*400
	ofYear := int64((153*(month-3)+2)/5 + day - 1)
	return era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + ofYear - 719468
}

// date is the reverse of dayNumber.
func date(number int64) (year, month, day int) {
	number += 719468
	era := floorDiv(number, 146097)
	ofEra := number - era*146097
	yearOfEra := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	m := (5*ofYear + 2) / 153
	year, month, day = int(yearOfEra+era*400), int(m+3), int(ofYear-(153*m+2)/5+1)
	if month > 12 {
		return year + 1, month - 12, day
	}
	return year, month, day
}

// weekdayOf is 0 for Sunday; 1 January 1970 was a Thursday.
func weekdayOf(number int64) int { return int(floorMod(number+4, 7)) }

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
