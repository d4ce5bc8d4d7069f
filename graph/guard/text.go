package guard

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// String returns the text that ParseEntry reads: the types of the inputs, then symbols that are
// not the first size with their name, then relations with what needs them, as in
// "x: f32[N,C]; y: f32[M]; N >= M; C % 2 == 0 from glu".
func (e *Entry) String() string {
	var list []string
	for _, p := range e.Inputs {
		list = append(list, p.Type.String())
	}
	plain := e.firsts()
	for _, s := range e.Symbols {
		if !slices.Contains(plain, s) && e.speaksOf(s.Name) {
			list = append(list, s.Name+" = dim("+name(e.Inputs[s.Input].Input)+", "+strconv.Itoa(s.Axis)+")")
		}
	}
	for _, n := range e.Needs {
		text := n.String()
		if n.Op != "" {
			text += " from " + name(n.Op)
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// firsts are the sizes of inputs that are the first with their name.
func (e *Entry) firsts() (list []Symbol) {
	for i, p := range e.Inputs {
		for axis, d := range p.Type.Type.Dims().Slice() {
			symbol, plain := d.IsSymbol()
			if plain && !slices.ContainsFunc(list, func(s Symbol) bool { return s.Name == symbol }) {
				list = append(list, Symbol{symbol, i, axis})
			}
		}
	}
	return list
}

// speaksOf reports whether a type or a relation has a symbol.
func (e *Entry) speaksOf(symbol string) bool {
	return slices.ContainsFunc(e.Inputs, func(p Input) bool { return slices.Contains(p.Type.Symbols(), symbol) }) ||
		slices.ContainsFunc(e.Needs, func(n Need) bool { return slices.Contains(n.Symbols(), symbol) })
}

// ParseEntry reads what Entry.String writes. An input without a name has its index for one.
func ParseEntry(text string) (*Entry, error) {
	e := &Entry{}
	if strings.TrimSpace(text) == "" {
		return e, nil
	}
	for _, item := range items(text) {
		if err := e.parse(item); err != nil {
			return nil, err
		}
	}
	for _, s := range e.firsts() {
		if !slices.ContainsFunc(e.Symbols, func(k Symbol) bool { return k.Name == s.Name }) {
			e.Symbols = append(e.Symbols, s)
		}
	}
	return e, nil
}

// items splits a text at semicolons that are not in quotes.
func items(text string) (list []string) {
	for {
		rest, quoted := text, 0
		for {
			i := strings.IndexAny(rest, `;"`)
			if i < 0 {
				return append(list, strings.TrimSpace(text))
			}
			if rest[i] == ';' {
				quoted += i
				break
			}
			q, err := strconv.QuotedPrefix(rest[i:])
			if err != nil {
				q = `"`
			}
			quoted, rest = quoted+i+len(q), rest[i+len(q):]
		}
		list, text = append(list, strings.TrimSpace(text[:quoted])), text[quoted+1:]
	}
}

func (e *Entry) parse(item string) error {
	if symbol, of, ok := strings.Cut(item, " = dim("); ok {
		return e.symbol(symbol, strings.TrimSuffix(of, ")"))
	}
	from := ""
	if i := strings.LastIndex(item, " from "); i >= 0 {
		item, from = item[:i], unquoted(item[i+len(" from "):])
	}
	g, err := Parse(item)
	if t, isType := asType(item, g, err); isType {
		if t.Input == "" {
			t.Input = strconv.Itoa(len(e.Inputs))
		}
		e.Inputs = append(e.Inputs, Input{Type: t})
		return nil
	}
	if err != nil {
		return err
	}
	e.Needs = append(e.Needs, Need{Relation: g.(Size).Relation, Op: from})
	return nil
}

// asType returns a type that was read, or one without a name.
func asType(item string, g Guard, err error) (Type, bool) {
	if t, ok := g.(Type); ok {
		return t, true
	}
	if err != nil {
		if t, err := shape.ParseType(item); err == nil {
			return Type{Type: t}, true
		}
	}
	return Type{}, false
}

// symbol reads what a symbol is a size of: "x, 0".
func (e *Entry) symbol(symbol, of string) error {
	if i := strings.LastIndex(of, ", "); i >= 0 {
		input := slices.IndexFunc(e.Inputs, func(p Input) bool { return p.Input == unquoted(of[:i]) })
		axis, err := strconv.Atoi(of[i+2:])
		if input >= 0 && err == nil && axis >= 0 {
			e.Symbols = append(e.Symbols, Symbol{symbol, input, axis})
			return nil
		}
	}
	return diag.New(shape.CodeText, "symbol "+strconv.Quote(symbol)+" is dim("+of+"), expected an input before it and an axis")
}

func unquoted(s string) string {
	if plain, err := strconv.Unquote(s); err == nil {
		return plain
	}
	return s
}
