package tokens

import (
	"strconv"

	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/diag"
)

// reader reads keys of a vocabulary and keeps the first mistake.
type reader struct {
	*gguf.File
	err error
}

func keyOf(name string) string { return "tokenizer.ggml." + name }

func (r *reader) fail(msg string) {
	if r.err == nil {
		r.err = diag.New(BadVocabulary, "gguf: "+msg)
	}
}

// list reads a list of n, or of any number where n is -1.
func list[T any](r *reader, name string, n int) []T {
	v, ok := r.Value(keyOf(name))
	if !ok {
		r.fail("no key " + keyOf(name) + ", expected one")
		return nil
	}
	l, ok := v.([]T)
	switch {
	case !ok:
		r.fail("key " + keyOf(name) + " is no list of its type, expected one")
	case n >= 0 && len(l) != n:
		r.fail("key " + keyOf(name) + " has " + strconv.Itoa(len(l)) + " elements, expected " + strconv.Itoa(n) + ", one for each token")
	}
	return l
}

// value reads a value, other where there is none.
func value[T any](r *reader, name string, other T) T {
	v, ok := r.Value(keyOf(name))
	if !ok {
		return other
	}
	x, ok := v.(T)
	if !ok {
		r.fail("key " + keyOf(name) + " is of another type, expected that of the format")
	}
	return x
}
