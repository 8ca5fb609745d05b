package event

import "unicode"

// lookAlike is the ASCII character for which a reader takes r, of the letters
// and signs that Neutralise looks for; 0 for one that is not seen.
func lookAlike(r rune) byte {
	switch r {
	case 'А', 'а', 'Α', 'α', 'ɑ', 'ᴀ':
		return 'a'
	case 'С', 'с', 'Ϲ', 'ϲ', 'ᴄ':
		return 'c'
	case 'ԁ', 'ɗ', 'Ԁ', 'ᴅ':
		return 'd'
	case 'Е', 'е', 'Ε', 'ε', 'ё', 'Ё', 'ᴇ':
		return 'e'
	case 'Н', 'н', 'һ', 'Η':
		return 'h'
	case 'І', 'і', 'Ι', 'ι', 'ı', 'ɪ':
		return 'i'
	case 'ʟ', 'Ӏ', 'ӏ', 'ǀ':
		return 'l'
	case 'М', 'м', 'Μ', 'ⅿ':
		return 'm'
	case 'Ν', 'ո', 'ν', 'ɴ', 'п':
		return 'n'
	case 'О', 'о', 'Ο', 'ο', 'օ', 'ᴏ', 'σ':
		return 'o'
	case 'Р', 'р', 'Ρ', 'ρ':
		return 'p'
	case 'г', 'ꭇ', 'ꭈ', 'ʀ', 'Ʀ':
		return 'r'
	case 'Ѕ', 'ѕ', 'ꜱ':
		return 's'
	case 'Т', 'т', 'Τ', 'τ', 'ᴛ':
		return 't'
	case 'υ', 'ս', 'ц', 'ᴜ', 'Ս':
		return 'u'
	case 'Ԝ', 'ԝ', 'ѡ', 'ω':
		return 'w'
	case 'Х', 'х', 'Χ', 'χ', '×':
		return 'x'
	case 'У', 'у', 'Υ', 'γ', 'ү':
		return 'y'
	case '∶', 'ː', '꞉', '︓', '﹕', '։', '׃':
		return ':'
	case '⁅', '❲', '〔', '【', '〚', '⟦', '︻', '⦋':
		return '['
	case '❨', '⁽', '﹙', '⦅', '❪':
		return '('
	case '❩', '⁾', '﹚', '⦆', '❫':
		return ')'
	}
	if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r) || r == '\u115F' || r == '\u3164' || r == '\u2800' {
		return 0
	}
	return '?'
}
