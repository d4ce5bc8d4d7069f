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
