package graph

import (
	"math"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

// at writes a position where positions are wanted.
func (p *printer) at(pos diag.Pos) {
	if !p.Positions || pos.File == "" {
		return
	}
	file := pos.File
	if p.BaseNames {
		file = baseName(file)
	}
	// The last one or two numbers are line and column, so that a file name that
	// itself ends like a line number needs both.
	text, col := file+":"+within(pos.Line), within(pos.Col)
	if _, _, ok := cutNumber(file); col != "0" || ok {
		text += ":" + col
	}
	p.str(" at ", strconv.Quote(text))
	if pos.Func != "" {
		p.str(" ", strconv.Quote(pos.Func))
	}
}

// within is the text of a line or column; one that no file has means unknown.
func within(n int) string {
	if n < 0 || n > math.MaxInt32 {
		n = 0
	}
	return strconv.Itoa(n)
}

// baseName is the last element of a path with slashes of either kind. A name that
// ends in slashes keeps them.
func baseName(file string) string {
	name := strings.TrimRight(file, `/\`)
	return file[strings.LastIndexAny(name, `/\`)+1:]
}

// cutNumber takes ":digits" off the end of s.
func cutNumber(s string) (rest string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || i == len(s)-1 || s[i+1] < '0' || s[i+1] > '9' {
		return s, 0, false
	}
	v, err := strconv.ParseUint(s[i+1:], 10, 31)
	return s[:i], int(v), err == nil
}
