//go:build ignore

// charset_gen writes charsets.bin: go run state/external/charset_gen.go > state/external/charsets.bin
//
// It holds, compressed, the characters of charset_many.go's tables one after the
// other, each as the difference to the one before (first all high bytes, then all
// low ones), which makes them a quarter as large as they would be.
package main

import (
	"compress/flate"
	"os"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

func main() {
	var all []rune
	one := func(e encoding.Encoding, raw ...byte) {
		text, err := e.NewDecoder().Bytes(raw)
		if r := []rune(string(text)); err == nil && len(r) == 1 && r[0] != 0xFFFD && r[0] <= 0xFFFF {
			all = append(all, r[0])
		} else {
			all = append(all, 0)
		}
	}
	trails := func(e encoding.Encoding, from, to int, ranges ...int) {
		for lead := from; lead <= to; lead++ {
			for i := 0; i < len(ranges); i += 2 {
				for trail := ranges[i]; trail <= ranges[i+1]; trail++ {
					one(e, byte(lead), byte(trail))
				}
			}
		}
	}
	trails(simplifiedchinese.GBK, 0x81, 0xFE, 0x40, 0x7E, 0x80, 0xFE)
	trails(traditionalchinese.Big5, 0xA1, 0xF9, 0x40, 0x7E, 0xA1, 0xFE)
	trails(japanese.ShiftJIS, 0x81, 0x9F, 0x40, 0x7E, 0x80, 0xFC)
	trails(japanese.ShiftJIS, 0xE0, 0xFC, 0x40, 0x7E, 0x80, 0xFC)
	trails(korean.EUCKR, 0x81, 0xFE, 0x41, 0xFE)
	for _, e := range []encoding.Encoding{
		charmap.ISO8859_3, charmap.ISO8859_4, charmap.ISO8859_6, charmap.ISO8859_8, charmap.ISO8859_10, charmap.ISO8859_13, charmap.ISO8859_14,
		charmap.ISO8859_16, charmap.Windows1255, charmap.Windows1256, charmap.Windows1257, charmap.Windows1258, charmap.Windows874,
		charmap.CodePage437, charmap.CodePage850, charmap.CodePage852, charmap.CodePage866, charmap.Macintosh, charmap.MacintoshCyrillic,
	} {
		for c := 0x80; c <= 0xFF; c++ {
			one(e, byte(c))
		}
	}
	out := make([]byte, 2*len(all))
	before := rune(0)
	for i, r := range all {
		d := uint16(r - before)
		out[i], out[len(all)+i] = byte(d>>8), byte(d)
		before = r
	}
	w, err := flate.NewWriter(os.Stdout, flate.BestCompression)
	if err == nil {
		_, err = w.Write(out)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
}
