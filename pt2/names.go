package pt2

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
)

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// scopeOf is the path of the module that made a node: the last of nn_module_stack, whose entries are
// name,path,class and stand one after the other with semicolons between.
func scopeOf(stack string) string {
	last := stack[strings.LastIndexByte(stack, ';')+1:]
	parts := strings.Split(last, ",")
	if len(parts) < 3 || parts[1] == "" || strings.HasPrefix(parts[1], "_empty_nn_module") {
		return ""
	}
	path := strings.TrimPrefix(parts[1], "L['self'].")
	return goname.LegalPath(strings.NewReplacer("[", ".", "]", "", "'", "").Replace(path))
}

// sourceOf is the line of the model that a node comes from: of the frames of its stack trace the last one
// that is not of PyTorch.
func sourceOf(trace string) diag.Pos {
	var pos diag.Pos
	for line := range strings.Lines(trace) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "File \"")
		if !ok {
			continue
		}
		file, rest, ok := strings.Cut(rest, "\", line ")
		digits, _, _ := strings.Cut(rest, ",")
		n, err := strconv.Atoi(strings.TrimSpace(digits))
		if !ok || err != nil || len(file) > 1<<12 || strings.Contains(file, "/torch/") && pos.File != "" {
			continue
		}
		pos = diag.Pos{File: printable(file), Line: n}
	}
	return pos
}

// printable removes characters from a file's name that would disturb a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
}
