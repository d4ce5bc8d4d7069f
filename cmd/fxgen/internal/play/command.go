package play

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
)

// Command is the command line that has the result of a request, by the words that a shell makes of it.
// j is the job of the request, nil where there is none.
func Command(r *Request, j *work.Job) []string {
	words := []string{"fxgen", r.Verb, r.Source, "-passes", "none"}
	if len(r.Passes) > 0 {
		words[4] = strings.Join(r.Passes, ",")
	}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, value)
		}
	}
	add("-after", r.After)
	for _, s := range r.Shapes {
		add("-shape", s)
	}
	switch r.Verb {
	case work.Why:
		words = append(words, "-diff", "-json")
	case work.Draw:
		add("-o", work.PackageName(r.Source)+".html")
	case work.Gen:
		add("-style", r.Style)
		if words = append(words, "-test=false"); j != nil {
			add("-weights", j.Weights)
			add("-o", j.Package)
		}
	}
	return words
}

// command is the command line as text for a shell.
func command(r *Request, j *work.Job) string {
	words := Command(r, j)
	for i, w := range words {
		if strings.ContainsFunc(w, func(c rune) bool { return !strings.ContainsRune(plain, c) }) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(slices.Clip(words), " ")
}

// plain are the characters that mean nothing to a shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.,:/+"
