package codegen

import (
	"go/token"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/graph"
)

// goNames are what identifiers of generated code never are: packages that it
// imports, and predeclared names that it uses.
var goNames = []string{
	"array", "kernel", "diag", "safetensors", "context", "io", "embed", "strconv", "slices", "runtime", "atomic", "bytes", "math",
	"append", "bool", "byte", "cap", "clear", "close", "copy", "error", "false", "float32", "float64", "int", "int16", "int32", "int64", "int8",
	"len", "make", "max", "min", "new", "nil", "panic", "print", "recover", "rune", "string", "true", "uint", "uint16", "uint32", "uint64",
	"uint8", "any", "init", "main",
}

// names gives out identifiers that differ.
type names struct{ used map[string]bool }

func newNames() *names { return &names{used: map[string]bool{}} }

func (n *names) reserve(list ...string) {
	for _, s := range list {
		n.used[s] = true
	}
}

// add returns base, or base and a number where base is taken.
func (n *names) add(base string) string {
	name := base
	for i := 2; n.used[name] || token.IsKeyword(name); i++ {
		name = base
		if isDigit(base[len(base)-1]) {
			name += "_"
		}
		name += strconv.Itoa(i)
	}
	n.used[name] = true
	return name
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// camel makes an unexported identifier of any text: words are joined in camel
// case, everything but ASCII letters and digits separates words. Digits that
// were apart stay apart: layer1_0.conv is layer1_0Conv.
func camel(text string) string {
	var b strings.Builder
	gap := false
	for i := 0; i < len(text) && b.Len() < 64; i++ {
		c := text[i]
		switch {
		case isLetter(c) && gap && b.Len() > 0:
			b.WriteByte(upper(c))
		case isLetter(c):
			b.WriteByte(c)
		case isDigit(c):
			if s := b.String(); gap && s != "" && isDigit(s[len(s)-1]) {
				b.WriteByte('_')
			} else if s == "" {
				b.WriteByte('v')
			}
			b.WriteByte(c)
		default:
			gap = true
			continue
		}
		gap = false
	}
	if b.Len() == 0 {
		return "v"
	}
	return lowerLeading(b.String())
}

// exported is camel with a capital first letter.
func exported(text string) string {
	s := camel(text)
	return string(upper(s[0])) + s[1:]
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 32
	}
	return c
}

// lowerLeading lowers the leading capitals of an identifier: MLP is mlp, MyNet is
// myNet, HTTPModel is httpModel.
func lowerLeading(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] < 'A' || b[i] > 'Z' {
			break
		}
		if i > 0 && i+1 < len(b) && b[i+1] >= 'a' && b[i+1] <= 'z' {
			break
		}
		b[i] += 32
	}
	return string(b)
}

// safeSymbol makes an identifier of a symbol, as it is where that is possible.
func safeSymbol(s string) string {
	var b strings.Builder
	for i := 0; i < len(s) && i < 32; i++ {
		if isLetter(s[i]) || (isDigit(s[i]) && i > 0) || s[i] == '_' {
			b.WriteByte(s[i])
		}
	}
	if strings.Trim(b.String(), "_") == "" {
		return "size"
	}
	return b.String()
}

// leafNames finds the names that a structure gives to the outputs.
func leafNames(s *graph.Structure, path string, names map[int]string) {
	if s == nil {
		return
	}
	if s.Kind == graph.LeafValue {
		if _, ok := names[s.Index]; !ok {
			names[s.Index] = path
		}
		return
	}
	for i, f := range s.Fields {
		key := ""
		switch {
		case i < len(s.Keys):
			key = s.Keys[i]
		case s.Kind == graph.SliceOf && path != "":
			key = strconv.Itoa(i)
		}
		sub := key
		if path != "" && key != "" {
			sub = path + "_" + key
		}
		leafNames(f, sub, names)
	}
}
