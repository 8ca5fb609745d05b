package external

import (
	"strings"
	"unicode/utf8"
)

// decode makes UTF-8 of a text in a charset. What is UTF-8 in spite of what it
// says is that; what is in a charset that is not known here is shown as Western,
// and says so.
func decode(raw []byte, charset string) string {
	charset = charsetOf(charset)
	upper := upperHalf(charset)
	wide := strings.HasPrefix(charset, "utf-16") || strings.HasPrefix(charset, "iso-2022-") || charset == "hz-gb-2312"
	if !wide && isASCII(raw) {
		return string(raw)
	}
	if upper != "" && charset != "us-ascii" {
		return mapped(raw, upper)
	}
	if text, ok := many(raw, charset); ok {
		return text
	}
	switch {
	case charset == "utf-8":
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	case utf8.Valid(raw) && !isASCII(raw):
		return string(raw)
	case charset == "" || upper != "":
		return mapped(raw, western)
	}
	return "[the characters of " + Line(charset, 40) + " are not known here]\n" + mapped(raw, western)
}

// charsetOf is the name of a charset as it is called here, of the many that it
// may have.
func charsetOf(name string) string {
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), "\"'"))
	name = strings.ReplaceAll(name, "_", "-")
	name = strings.Replace(name, "x-cp", "cp", 1)
	for _, p := range [...]struct{ from, to string }{{"iso8859-", "iso-8859-"}, {"windows125", "windows-125"}, {"cp125", "windows-125"}, {"ibm", "cp"}} {
		if rest, ok := strings.CutPrefix(name, p.from); ok {
			name = p.to + rest
			break
		}
	}
	switch name {
	case "utf8":
		return "utf-8"
	case "latin-1", "l1":
		return "latin1"
	case "ascii", "ansi-x3.4-1968":
		return "us-ascii"
	case "shift-jis", "x-sjis", "sjis", "cp932", "ms-kanji", "windows-31j":
		return "shift_jis"
	case "gb2312", "gbk", "cp936", "gb-2312-80", "euc-cn", "x-gbk", "gb-2312":
		return "gbk"
	case "gb-18030":
		return "gb18030"
	case "big5-hkscs", "cp950", "big-5", "x-x-big5":
		return "big5"
	case "eucjp", "x-euc-jp":
		return "euc-jp"
	case "ks-c-5601-1987", "euckr", "cp949", "uhc", "ks-c-5601", "windows-949":
		return "euc-kr"
	case "hz":
		return "hz-gb-2312"
	case "iso-8859-8-i", "iso-8859-8-e":
		return "iso-8859-8"
	case "iso-8859-6-i", "iso-8859-6-e":
		return "iso-8859-6"
	case "tis-620", "iso-8859-11", "cp874":
		return "windows-874"
	case "mac", "macroman", "x-mac-roman":
		return "macintosh"
	case "x-mac-ukrainian", "macukraine", "maccyrillic":
		return "x-mac-cyrillic"
	case "koi8":
		return "koi8-r"
	}
	return name
}

func isASCII(raw []byte) bool {
	for _, c := range raw {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// mapped is a text of single bytes, whose upper half is these characters.
func mapped(raw []byte, upper string) string {
	letters := []rune(upper)
	var b strings.Builder
	for _, c := range raw {
		if c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			b.WriteRune(letters[c-utf8.RuneSelf])
		}
	}
	return b.String()
}

// upperHalf is what a charset has from 0x80 to 0xFF; empty: it is not known, or
// has more than one byte for a character. What says that it is ISO 8859-1 or -9
// is read as the Windows charset that has more, as browsers do. (These are the
// tables of the Unicode consortium; U+FFFD is not assigned.)
func upperHalf(charset string) string {
	switch charset {
	case "iso-8859-2", "latin2":
		return "\u0080\u0081\u0082\u0083\u0084\u0085\u0086\u0087\u0088\u0089\u008A\u008B\u008C\u008D\u008E\u008F\u0090\u0091\u0092\u0093\u0094\u0095\u0096\u0097\u0098\u0099\u009A\u009B\u009C\u009D\u009E\u009F" +
			"\u00A0Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u00ADŽŻ°ą˛ł´ľśˇ¸šşťź˝žż" +
			"ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢß" +
			"ŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙"
	case "iso-8859-5":
		return "\u0080\u0081\u0082\u0083\u0084\u0085\u0086\u0087\u0088\u0089\u008A\u008B\u008C\u008D\u008E\u008F\u0090\u0091\u0092\u0093\u0094\u0095\u0096\u0097\u0098\u0099\u009A\u009B\u009C\u009D\u009E\u009F" +
			"\u00A0ЁЂЃЄЅІЇЈЉЊЋЌ\u00ADЎЏАБВГДЕЖЗИЙКЛМНОП" +
			"РСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмноп" +
			"рстуфхцчшщъыьэюя№ёђѓєѕіїјљњћќ§ўџ"
	case "iso-8859-7":
		return "\u0080\u0081\u0082\u0083\u0084\u0085\u0086\u0087\u0088\u0089\u008A\u008B\u008C\u008D\u008E\u008F\u0090\u0091\u0092\u0093\u0094\u0095\u0096\u0097\u0098\u0099\u009A\u009B\u009C\u009D\u009E\u009F" +
			"\u00A0‘’£€₯¦§¨©ͺ«¬\u00AD\uFFFD―°±²³΄΅Ά·ΈΉΊ»Ό½ΎΏ" +
			"ΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ\uFFFDΣΤΥΦΧΨΩΪΫάέήί" +
			"ΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ\uFFFD"
	case "iso-8859-15", "latin9":
		return "\u0080\u0081\u0082\u0083\u0084\u0085\u0086\u0087\u0088\u0089\u008A\u008B\u008C\u008D\u008E\u008F\u0090\u0091\u0092\u0093\u0094\u0095\u0096\u0097\u0098\u0099\u009A\u009B\u009C\u009D\u009E\u009F" +
			"\u00A0¡¢£€¥Š§š©ª«¬\u00AD®¯°±²³Žµ¶·ž¹º»ŒœŸ¿" +
			"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß" +
			"àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ"
	case "windows-1250":
		return "€\uFFFD‚\uFFFD„…†‡\uFFFD‰Š‹ŚŤŽŹ\uFFFD‘’“”•–—\uFFFD™š›śťžź" +
			"\u00A0ˇ˘Ł¤Ą¦§¨©Ş«¬\u00AD®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľż" +
			"ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢß" +
			"ŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙"
	case "windows-1251":
		return "ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–—\uFFFD™љ›њќћџ" +
			"\u00A0ЎўЈ¤Ґ¦§Ё©Є«¬\u00AD®Ї°±Ііґµ¶·ё№є»јЅѕї" +
			"АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ" +
			"абвгдежзийклмнопрстуфхцчшщъыьэюя"
	case "windows-1252", "iso-8859-1", "latin1", "us-ascii":
		return western
	case "windows-1253":
		return "€\uFFFD‚ƒ„…†‡\uFFFD‰\uFFFD‹\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD‘’“”•–—\uFFFD™\uFFFD›\uFFFD\uFFFD\uFFFD\uFFFD" +
			"\u00A0΅Ά£¤¥¦§¨©\uFFFD«¬\u00AD®―°±²³΄µ¶·ΈΉΊ»Ό½ΎΏ" +
			"ΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ\uFFFDΣΤΥΦΧΨΩΪΫάέήί" +
			"ΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ\uFFFD"
	case "windows-1254", "iso-8859-9", "latin5":
		return "€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFD\uFFFD\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFD\uFFFDŸ" +
			"\u00A0¡¢£¤¥¦§¨©ª«¬\u00AD®¯°±²³´µ¶·¸¹º»¼½¾¿" +
			"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞß" +
			"àáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ"
	case "koi8-r":
		return "─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u00A0⌡°²·÷" +
			"═║╒ё╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡Ё╢╣╤╥╦╧╨╩╪╫╬©" +
			"юабцдефгхийклмнопярстужвьызшэщчъ" +
			"ЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ"
	case "koi8-u":
		return "─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u00A0⌡°²·÷" +
			"═║╒ёє╔ії╗╘╙╚╛ґ╝╞╟╠╡ЁЄ╣ІЇ╦╧╨╩╪Ґ╬©" +
			"юабцдефгхийклмнопярстужвьызшэщчъ" +
			"ЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ"
	}
	return ""
}

// western is Windows-1252.
const western = "€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ" +
	"\u00A0¡¢£¤¥¦§¨©ª«¬\u00AD®¯°±²³´µ¶·¸¹º»¼½¾¿" +
	"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß" +
	"àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ"
