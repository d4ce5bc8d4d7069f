package kernel

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Checker compares arguments with the types that a generated package takes and
// collects all errors. The zero value is ready.
type Checker struct{ errs diag.List }

// Err returns a diag.List with all that was wrong, nil when nothing was.
func (c *Checker) Err() error { return c.errs.Err() }

// Hold panics with the first thing that was wrong, if there is one: a body of
// control flow has nobody to return an error to.
func (c *Checker) Hold() {
	if len(c.errs) > 0 {
		panic(c.errs[0])
	}
}

func (c *Checker) bad(what, name, got, want string) {
	c.refuse(CodeArgument, what+" "+diag.Quote(name)+" is "+got+", expected "+want)
}

// refuse adds an error of what a call was given.
func (c *Checker) refuse(code diag.Code, msg string) *diag.Error {
	e := diag.New(code, msg).WithHint("give arguments of the sizes that the comment of Forward lists")
	c.errs = append(c.errs, e)
	return e
}

// Input checks an input's element type, rank and fixed sizes; -1 stands for a size
// that is checked later. want is the type for messages.
func (c *Checker) Input(name string, a *array.Array, d array.DType, want string, shape ...int) {
	if a == nil {
		c.refuse(CodeMissing, diag.Missing(name))
		return
	}
	ok := a.DType() == d && a.Rank() == len(shape)
	for i := 0; ok && i < len(shape); i++ {
		ok = shape[i] < 0 || shape[i] == a.Dim(i)
	}
	if !ok {
		c.refuse(CodeArgument, diag.Misfit(name, array.Describe(a.DType(), a.Shape()), want))
	}
}

// Size checks one size of an input, which must have that axis, against what other
// inputs make of it. want is the expression for messages.
func (c *Checker) Size(name string, a *array.Array, want string, axis, size int) {
	if a.Dim(axis) != size {
		c.refuse(CodeArgument, diag.WrongSize(name, array.Describe(a.DType(), a.Shape()), axis, want, size))
	}
}

// Messages of generated packages about sizes that do not fit.
type (
	Claim  = diag.Claim
	Side   = diag.Side
	SizeOf = diag.SizeOf
)

// The relations of sizes that models rely on.
const (
	Equal    = diag.EQ
	AtLeast  = diag.GE
	Multiple = diag.MOD
	Other    = diag.NE
)

// Guard refuses sizes that violate an assumption of the model. x is the input
// of the assumption; why names what requires it and may be "".
func (c *Checker) Guard(x *array.Array, why string, claim Claim) {
	if x != nil {
		claim.Type = array.Describe(x.DType(), x.Shape())
	}
	if e := c.refuse(CodeArgument, claim.String()); why != "" {
		e.Related = []diag.Related{{Msg: why}}
	}
}

// Output checks the caller's memory for a result: element type, shape, no gaps.
func (c *Checker) Output(name string, a *array.Array, d array.DType, shape ...int) {
	c.memory("output", name, a, d, shape)
}

// State checks the caller's memory for a tensor that the model changes, as Output does.
func (c *Checker) State(name string, a *array.Array, d array.DType, shape ...int) {
	c.memory("state", name, a, d, shape)
}

func (c *Checker) memory(what, name string, a *array.Array, d array.DType, shape []int) {
	switch {
	case a == nil:
		c.bad(what, name, "nil", array.Describe(d, shape))
	case a.DType() != d || !slices.Equal(a.Shape(), shape):
		c.bad(what, name, array.Describe(a.DType(), a.Shape()), array.Describe(d, shape))
	case !a.IsContiguous():
		c.bad(what, name, array.Describe(d, shape)+" with gaps", array.Describe(d, shape)+" without gaps")
	}
}

// Own checks that the tensors that a model changes are in memory that neither
// another of them nor an argument has.
func (c *Checker) Own(names []string, state, arguments []*array.Array) {
	for i, a := range state {
		if shared(a, state[:i]) || shared(a, arguments) {
			c.bad("state", names[i], "in the memory of an argument or of other state", "memory of its own")
		}
	}
}

// shared reports whether an array has memory of another one.
func shared(a *array.Array, others []*array.Array) bool {
	for _, x := range others {
		if a != nil && x != nil && a.Len() > 0 && x.Len() > 0 && a.Storage().Overlaps(x.Storage()) {
			return true
		}
	}
	return false
}

// Apart checks that the memory of a result is not that of another array.
func (c *Checker) Apart(name string, a *array.Array, others ...*array.Array) {
	if shared(a, others) {
		c.bad("output", name, "in the memory of an input", "memory of its own")
	}
}

// Updated checks the argument for an input that a result is made in: it has no gaps, and memory that no
// other argument has.
func (c *Checker) Updated(name string, a *array.Array, others ...*array.Array) {
	switch {
	case a == nil: // which Input has refused
	case !a.IsContiguous():
		c.bad("input", name, array.Describe(a.DType(), a.Shape())+" with gaps, and is updated", "an array without gaps")
	case shared(a, others):
		c.bad("input", name, "in the memory of another input, and is updated", "memory of its own")
	}
}

// Result makes the memory of a result, or returns an error with CodeSizes.
func Result[T array.Elem](shape ...int) (array.Dense[T], error) {
	if n, ok := array.NumElems(shape); !ok || n > int(^uint(0)>>1)/16 {
		return array.Dense[T]{}, tooLarge("a result")
	}
	return array.NewDense[T](shape...), nil
}
