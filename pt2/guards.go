package pt2

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// Guards of a program, as PyTorch writes them in Python: "(L['x'].size()[0] % 8) == 0".

// guardParser reads one guard.
type guardParser struct {
	text  string
	at    int
	depth int
	mods  []remainder
	// size is a size of the object that Python names by a path from L, or its value with the axis -1;
	// Unknown if it has none.
	size func(path string, axis int) shape.Dim
}

// remainder is the result for a % b: that it is 0 says that a is a multiple of b.
type remainder struct{ value, a, b shape.Dim }

// stuck ends a guard that cannot be read.
type stuck struct{ what string }

// relations reads a guard: comparisons with "and" between them.
func (p *guardParser) relations() (list []shape.Relation, err *diag.Error) {
	defer func() {
		if x := recover(); x != nil {
			s, ok := x.(stuck)
			if !ok {
				panic(x)
			}
			err = diag.New(CodeGuard, "the guard "+quote(p.text)+" cannot be checked: "+s.what).
				WithHint("export the program with sizes that are numbers, or with fewer relations between them")
		}
	}()
	list = append(list, p.comparison())
	for p.operator("and ") != "" {
		list = append(list, p.comparison())
	}
	if p.skip(); p.at != len(p.text) {
		panic(stuck{quote(p.text[p.at:]) + " is left"})
	}
	return list, nil
}

func (p *guardParser) comparison() shape.Relation {
	a := p.sum()
	word := p.operator("==", "!=", ">=", "<=", ">", "<")
	if word == "" {
		panic(stuck{"expected a comparison at byte " + strconv.Itoa(p.at)})
	}
	b := p.sum()
	if n := len(p.mods); word == "==" && b.Is(0) && n > 0 && a.Equal(p.mods[n-1].value) {
		return shape.Multiple(p.mods[n-1].a, p.mods[n-1].b)
	}
	return compare(word, a, b)
}

// compare is the relation that a comparison in Python states; the word is one of the six.
func compare(word string, a, b shape.Dim) shape.Relation {
	switch word {
	case "==":
		return shape.Equality(a, b)
	case "!=":
		return shape.Inequality(a, b)
	case ">=":
		return shape.AtLeast(a, b)
	case "<=":
		return shape.AtLeast(b, a)
	case ">":
		return shape.AtLeast(a, b.AddInt(1))
	}
	return shape.AtLeast(b, a.AddInt(1))
}

func (p *guardParser) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// operator reads one of several words, "" for none.
func (p *guardParser) operator(words ...string) string {
	p.skip()
	for _, w := range words {
		if strings.HasPrefix(p.text[p.at:], w) {
			p.at += len(w)
			return w
		}
	}
	return ""
}

func (p *guardParser) want(word string) {
	if p.operator(word) == "" {
		panic(stuck{"expected " + quote(word) + " at byte " + strconv.Itoa(p.at)})
	}
}

func (p *guardParser) sum() shape.Dim {
	if p.depth++; p.depth > mostNested {
		panic(stuck{"it is nested too deep"})
	}
	defer func() { p.depth-- }()
	v := p.product()
	for {
		switch p.operator("+", "-") {
		case "+":
			v = v.Add(p.product())
		case "-":
			v = v.Sub(p.product())
		default:
			return v
		}
	}
}

func (p *guardParser) product() shape.Dim {
	v := p.factor()
	for {
		var f func(a, b shape.Dim) shape.Dim
		switch p.operator("**", "*", "//", "%") {
		case "**":
			f = power
		case "*":
			f = shape.Dim.Mul
		case "//":
			f = shape.Dim.FloorDiv
		case "%":
			f = func(a, b shape.Dim) shape.Dim {
				v := a.Sub(a.FloorDiv(b).Mul(b))
				p.mods = append(p.mods, remainder{v, a, b})
				return v
			}
		default:
			return v
		}
		b := p.factor()
		if b.Is(0) {
			panic(stuck{"it divides by 0"})
		}
		if v = f(v, b); v.IsUnknown() {
			panic(stuck{"it has an expression that sizes do not have"})
		}
	}
}

func (p *guardParser) factor() shape.Dim {
	if p.depth++; p.depth > mostNested {
		panic(stuck{"it is nested too deep"})
	}
	defer func() { p.depth-- }()
	switch p.operator("(", "-", "torch.sym_max(", "torch.sym_min(", "max(", "min(", "L[") {
	case "(":
		v := p.sum()
		p.want(")")
		return v
	case "-":
		return zero.Sub(p.factor())
	case "torch.sym_max(", "max(":
		return p.pair(shape.Dim.Max)
	case "torch.sym_min(", "min(":
		return p.pair(shape.Dim.Min)
	case "L[":
		return p.input()
	}
	return shape.Const(p.number())
}

func (p *guardParser) pair(f func(a, b shape.Dim) shape.Dim) shape.Dim {
	a := p.sum()
	p.want(",")
	b := p.sum()
	p.want(")")
	return f(a, b)
}

func (p *guardParser) number() int {
	p.skip()
	from := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	n, err := strconv.Atoi(p.text[from:p.at])
	if err != nil {
		panic(stuck{"expected a number or a size of an input at byte " + strconv.Itoa(from)})
	}
	return n
}

// input reads the text after L[: the path to an input, and .size()[axis], or nothing for a
// number.
func (p *guardParser) input() shape.Dim {
	from := p.at - len("L[")
	p.at = from + 1
	for p.at < len(p.text) && p.text[p.at] == '[' {
		end := strings.IndexByte(p.text[p.at:], ']')
		if end < 0 {
			panic(stuck{"a bracket is open"})
		}
		p.at += end + 1
		for p.at < len(p.text) && p.text[p.at] == '.' && !strings.HasPrefix(p.text[p.at:], ".size()") { // an attribute
			p.at++
			for p.at < len(p.text) && p.text[p.at] != '[' && p.text[p.at] != '.' && p.text[p.at] != ' ' && p.text[p.at] != ')' {
				p.at++
			}
		}
	}
	path, axis := p.text[from:p.at], -1
	if p.operator(".size()[") != "" {
		axis = p.number()
		p.want("]")
	}
	d := p.size(path, axis)
	if d.IsUnknown() {
		panic(stuck{quote(path) + " has no size that is known"})
	}
	return d
}
