package diag

// Quote returns s as a Go string literal of printable ASCII, for messages. It
// stands for strconv.QuoteToASCII, whose tables of characters generated programs
// would link; bytes beyond ASCII become \x escapes.
func Quote(s string) string {
	const hex = "0123456789abcdef"
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
		case c == '\n':
			c = 'n'
		case c == '\t':
			c = 't'
		case c < ' ' || c > '~':
			b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
			continue
		default:
			b = append(b, c)
			continue
		}
		b = append(b, '\\', c)
	}
	return string(append(b, '"'))
}

// Name returns a name from a file as messages and tables show it: as it is, or as a literal in
// quotes where it has characters that do more on a terminal than stand there (see Plain),
// breaks of lines included.
func Name(s string) string {
	if !hostile(s, false) {
		return s
	}
	return literal(s)
}

// literal returns a name in quotes, for messages: only what does more on a terminal than stand
// there is escaped.
func literal(s string) string { return `"` + escape(s, false) + `"` }

// Plain returns text with escapes of Go and JSON, \u001b, for what does more on a terminal than
// stand there: control characters except breaks of lines and tabs, characters without width or
// that turn the direction of text, and bytes that are no UTF-8 (\ufffd). Text from files goes
// through it before anybody sees it.
func Plain(s string) string {
	if !hostile(s, true) {
		return s
	}
	return escape(s, true)
}

// hostile reports whether escape changes s; lines says that breaks of lines and tabs stay.
func hostile(s string, lines bool) bool {
	for i, r := range s {
		if acts(r, lines) || r == 0xfffd && (i+2 >= len(s) || s[i:i+3] != "\ufffd") {
			return true
		}
	}
	return false
}

// acts reports whether a character does more on a terminal than stand there.
func acts(r rune, lines bool) bool {
	switch {
	case r == '\n' || r == '\t':
		return !lines
	case r < ' ' || r >= 0x7f && r < 0xa0, // control characters, those of one byte and of two
		r == 0xad || r == 0x61c || r == 0x180e || r == 0xfeff,
		r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f,
		r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// escape writes \n, \t, \" and \\ in names, and \u001b or \U000e0001 for what else acts.
func escape(s string, lines bool) string {
	const hex = "0123456789abcdef"
	b := make([]byte, 0, len(s)+16)
	for i, r := range s {
		switch {
		case r == 0xfffd && (i+2 >= len(s) || s[i:i+3] != "\ufffd"):
			b = append(b, `\ufffd`...)
		case !lines && (r == '"' || r == '\\'):
			b = append(b, '\\', byte(r))
		case !lines && r == '\n':
			b = append(b, `\n`...)
		case !lines && r == '\t':
			b = append(b, `\t`...)
		case acts(r, lines):
			digits := 4
			if b = append(b, '\\', 'u'); r > 0xffff {
				b[len(b)-1], digits = 'U', 8
			}
			for k := digits - 1; k >= 0; k-- {
				b = append(b, hex[r>>(4*k)&15])
			}
		default:
			b = append(b, string(r)...)
		}
	}
	return string(b)
}
