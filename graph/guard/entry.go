package guard

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// Entry is what a program takes and what it relies on. Its methods are the one checker of inputs.
// They go in stages, each of which reports all that it finds: the types of the inputs, then the
// relations, which tell what needs a size, then sizes that one symbol makes equal.
type Entry struct {
	Inputs  []Input
	Symbols []Symbol // sizes of inputs
	Needs   []Need   // over these symbols
}

// Input is one input of a program, and where the model has it.
type Input struct {
	Type
	Node string
	Pos  diag.Pos
}

// Symbol is a symbolic size: that of one axis of an input.
type Symbol struct {
	Name  string
	Input int // index into the inputs
	Axis  int
}

// Need is a relation of sizes, and what needs it.
type Need struct {
	shape.Relation
	Op   string // what the user calls that needs it, "" for the program itself
	Text string // where it was required, for people
	Pos  diag.Pos
}

// Argument is what an input is given.
type Argument interface {
	DType() array.DType // Invalid where it is not known
	Rank() int          // -1 where it is not known
	Size(axis int) shape.Dim
	Type() shape.Type
}

// typed is a value of which a type is known.
type typed struct{ t shape.Type }

func (v typed) DType() array.DType      { return v.t.DType() }
func (v typed) Size(axis int) shape.Dim { return v.t.Dim(axis) }
func (v typed) Type() shape.Type        { return v.t }
func (v typed) Rank() int {
	if !v.t.Ranked() {
		return -1
	}
	return v.t.Rank()
}

// Of returns a value of a type.
func Of(t shape.Type) Argument { return typed{t} }

// Given is what a run is given.
type Given struct {
	At     func(i int) Argument            // of an input, nil where there is none
	Number func(symbol string) (int, bool) // the size that a symbol stands for
	// Dim and Demand are for programs that are captured as parts of others: a symbol may stand for an
	// expression, Unknown where it stands for nothing, and sizes may be equal only if the other
	// program is asked to demand it.
	Dim    func(symbol string) shape.Dim
	Demand func(i int, r shape.Relation)
}

// Check does all stages for the values that are given.
func (e *Entry) Check(in *Given) error {
	for i := range e.Inputs {
		if v := in.At(i); v == nil || !e.Inputs[i].Fits(v) {
			return e.Types(in)
		}
	}
	if err := e.needs(in); err != nil {
		return err
	}
	return e.Sizes(in)
}

// On returns values as what a run is given. An engine that runs often keeps it, and lets at return
// what the run has.
func (e *Entry) On(at func(i int) Argument) *Given {
	return &Given{At: at, Number: func(symbol string) (int, bool) {
		s, ok := e.Size(symbol, at)
		return s.Value, ok
	}}
}

// Count refuses more values than there are inputs.
func (e *Entry) Count(given int) error {
	if given <= len(e.Inputs) {
		return nil
	}
	takes := strconv.Itoa(len(e.Inputs))
	if len(e.Inputs) == 0 {
		takes = "none"
	}
	return diag.New(Extra, strconv.Itoa(given)+" inputs, the graph takes "+takes)
}

// Refuse is the error of a value of another type than the input has, or of none; nil where it fits.
func (p *Input) Refuse(v Argument) *diag.Error {
	if v == nil {
		return p.at(diag.New(Missing, diag.Missing(p.Input)))
	}
	if e := p.check(v); e != nil {
		return p.at(e)
	}
	return nil
}

func (p *Input) at(e *diag.Error) *diag.Error {
	e.Node, e.Pos = p.Node, p.Pos
	return e
}

// Types reports every value of another type, and every one that is missing.
func (e *Entry) Types(in *Given) error {
	var errs diag.List
	for i := range e.Inputs {
		if err := e.Inputs[i].Refuse(in.At(i)); err != nil {
			errs = append(errs, err)
		}
	}
	return joined(errs)
}

// joined returns one error as itself.
func joined(errs diag.List) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return errs.Err()
}

// needs reports the relations that do not hold.
func (e *Entry) needs(in *Given) error {
	var errs diag.List
	for i := range e.Needs {
		n := &e.Needs[i]
		if _, _, ok, err := n.Eval(in.Number); ok {
			continue
		} else if err != nil {
			if !in.knows(n.Symbols()) {
				continue
			}
			return err
		}
		errs.Add(n.Check(entered{e, in}))
	}
	return joined(errs)
}

// knows reports whether all symbols stand for numbers.
func (in *Given) knows(symbols []string) bool {
	return !slices.ContainsFunc(symbols, func(s string) bool { _, ok := in.Number(s); return !ok })
}

// entered are the values of a run as Inputs.
type entered struct {
	e  *Entry
	in *Given
}

func (x entered) Input(name string) (shape.Type, bool) {
	for i := range x.e.Inputs {
		if v := x.in.At(i); x.e.Inputs[i].Input == name && v != nil {
			return v.Type(), true
		}
	}
	return shape.Type{}, false
}

func (x entered) Size(symbol string) (diag.SizeOf, bool) { return x.e.Size(symbol, x.in.At) }

// Size returns what values make a symbol.
func (e *Entry) Size(symbol string, at func(i int) Argument) (s diag.SizeOf, ok bool) {
	for _, k := range e.Symbols {
		if k.Name != symbol {
			continue
		}
		v := at(k.Input)
		if v == nil || v.Rank() <= k.Axis {
			return s, false
		}
		s = diag.SizeOf{Symbol: symbol, Input: e.Inputs[k.Input].Input, Axis: k.Axis}
		s.Value, ok = v.Size(k.Axis).Int()
		return s, ok
	}
	return s, false
}

// Check refuses sizes for which the relation does not hold. All symbols must be known.
func (n Need) Check(in Inputs) error {
	c, err := n.Relation.Check(in.Size)
	if err != nil || c == nil {
		return err
	}
	c.Op = n.Op
	if t, ok := in.Input(c.Input); ok {
		c.Type = t.String()
	}
	e := diag.New(Failed, c.String()).WithHint("give other sizes, or capture the graph again for these").At(n.Pos)
	if n.Text != "" {
		e.Related = []diag.Related{{Pos: n.Pos, Msg: n.Text}}
	}
	return e
}

// Sizes reports the sizes that are not what the symbols make them: both sizes of f32[N,N] are N.
func (e *Entry) Sizes(in *Given) error {
	var errs diag.List
	for i := range e.Inputs {
		p, v := &e.Inputs[i], in.At(i)
		if v == nil || v.Rank() >= 0 && v.Rank() != p.Type.Type.Rank() { // a hook's
			continue
		}
		for axis := range p.Type.Type.Dims().Len() {
			want := p.Type.Type.Dim(axis)
			if _, fixed := want.Int(); want.IsUnknown() || fixed && in.Demand == nil {
				continue // Types compares it
			}
			if err := p.size(in, i, axis, v); err != nil {
				errs.Add(err)
			}
		}
	}
	return joined(errs)
}

// size compares one size of input i.
func (p *Input) size(in *Given, i, axis int, v Argument) error {
	want, got := p.Type.Type.Dim(axis), v.Size(axis)
	n, err := want.Eval(in.Number)
	_, fixed := want.Int()
	switch k, known := got.Int(); {
	case fixed && known: // Types compares it
		return nil
	case err == nil && known && n != k:
		return p.at(diag.New(Failed, diag.WrongSize(p.Input, v.Type().String(), axis, want.String(), n)).
			WithHint("give inputs whose sizes agree, or capture the graph with other symbols"))
	case err == nil && known:
		return nil
	}
	if err != nil && in.knows(want.Symbols()) {
		return err
	}
	if in.Dim == nil || in.Demand == nil {
		return nil
	}
	if d := want.Bind(in.Dim); !d.IsUnknown() && !got.IsUnknown() && !d.Equal(got) {
		in.Demand(i, shape.Equality(got, d))
	}
	return nil
}

// arr is an array as a value.
type arr struct{ *array.Array }

func (a arr) Size(axis int) shape.Dim { return shape.Const(a.Dim(axis)) }
func (a arr) Type() shape.Type        { return shape.TypeOf(a.Array) }

// Array returns an array as a value, nil for nil.
func Array(a *array.Array) Argument {
	if a == nil {
		return nil
	}
	return arr{a}
}
