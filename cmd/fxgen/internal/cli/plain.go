package cli

import (
	"io"
	"unicode/utf8"

	"github.com/gofx-dev/gofx/diag"
)

// plain writes text that cannot control a terminal: names of tensors, nodes and files come
// from elsewhere. In JSON its escapes are JSON's for the same characters.
type plain struct {
	w    io.Writer
	rest []byte // of a character that is not complete
}

func (p *plain) Write(b []byte) (int, error) {
	text := append(p.rest, b...)
	p.rest = nil
	for k := 1; k < utf8.UTFMax && k <= len(text); k++ {
		if at := len(text) - k; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				p.rest = append(p.rest, text[at:]...)
				text = text[:at]
			}
			break
		}
	}
	if _, err := io.WriteString(p.w, diag.Plain(string(text))); err != nil {
		return 0, err
	}
	return len(b), nil
}
