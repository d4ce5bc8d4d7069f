package stablehlo

import (
	"fmt"
	"strings"
)

// token is a piece of a text: punctuation, a word, a number, a string.
type token struct {
	kind byte // 'w' word (with sigils, dots, colons inside of dialect names), 'n' number, 's' string, 'p' punctuation, 0 the end
	text string
	line int
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

// lex cuts a text into tokens.
func lex(src string) (list []token, err error) {
	line := 1
	for i := 0; i < len(src); {
		c := src[i]
		end := i + 1
		kind := byte('p')
		switch {
		case c == '\n':
			line++
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case strings.HasPrefix(src[i:], "//"):
			for i < len(src) && src[i] != '\n' {
				i++
			}
			continue
		case c == '"':
			n := strings.IndexAny(src[i+1:], "\"\\\n")
			if n < 0 || src[i+1+n] != '"' {
				return nil, fmt.Errorf("line %d: a string does not end", line)
			}
			kind, end = 's', i+n+2
		case strings.HasPrefix(src[i:], "->"):
			end = i + 2
		case c == '-' || c >= '0' && c <= '9':
			kind = 'n'
			end = number(src, i)
		case strings.IndexByte(letters+"%@^#!", c) >= 0:
			kind = 'w'
			for end < len(src) && strings.IndexByte(letters+"0123456789.#$", src[end]) >= 0 {
				end++
			}
		case strings.IndexByte("(){}<>[],:=?", c) < 0:
			return nil, fmt.Errorf("line %d: unexpected %q", line, c)
		}
		text := src[i:end]
		if kind == 's' {
			text = text[1 : len(text)-1]
		}
		list = append(list, token{kind, text, line})
		i = end
	}
	return append(list, token{0, "the end", line}), nil
}

// number returns where the number at i ends: hexadecimal, or decimal with a fraction and
// an exponent.
func number(src string, i int) int {
	end := i + 1
	digits := "0123456789"
	if strings.HasPrefix(src[i:], "0x") {
		end, digits = i+2, "0123456789abcdefABCDEF"
	}
	for end < len(src) {
		c := src[end]
		signed := (c == '-' || c == '+') && len(digits) == 10 && (src[end-1] == 'e' || src[end-1] == 'E')
		exponent := (c == 'e' || c == 'E') && len(digits) == 10 && end+1 < len(src) && strings.IndexByte("0123456789-+", src[end+1]) >= 0
		if strings.IndexByte(digits, c) < 0 && !signed && !exponent && !(c == '.' && len(digits) == 10) {
			break
		}
		end++
	}
	return end
}
