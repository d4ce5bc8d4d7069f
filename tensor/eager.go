package tensor

import (
	"runtime"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// workspaces are shared by all eager calls; a call takes one for its duration.
var workspaces = sync.Pool{New: func() any { return &kernel.Workspace{Threads: runtime.GOMAXPROCS(0)} }}

// eager runs a call at once.
func eager(c *Call) []*Tensor {
	in := make([]*array.Array, len(c.Args))
	for i, a := range c.Args {
		if a != nil {
			in[i] = a.c.val.(*array.Array)
		}
	}
	w := workspaces.Get().(*kernel.Workspace)
	outs, err := c.Op.Eval(w, c.Attrs, in)
	workspaces.Put(w)
	if err != nil {
		panic(located(err, c.Op))
	}
	ts := make([]*Tensor, len(outs))
	for i, a := range outs {
		ts[i] = New(a)
	}
	remember(c, ts)
	return ts
}

// recipe is how an eager tensor was made from parameters alone, or from nothing:
// tracing records the computation instead of baking its value.
type recipe struct {
	call     Call
	index    int // which result
	group    *recipeGroup
	depth    int
	versions []uint64 // of the operands' storages when it was made
	own      uint64   // version of the result's storage when it was made
}

// recipeGroup ties the results of one call together, so that they are recorded once.
type recipeGroup struct{ results int }

const maxRecipeDepth = 16

// remember keeps the recipe of results that depend on parameters alone.
func remember(c *Call, outs []*Tensor) {
	if c.Op.Effect != op.Pure {
		return
	}
	depth := 0
	for _, a := range c.Args {
		switch {
		case a == nil || a.c.param.Load():
		case a.c.recipe != nil:
			depth = max(depth, a.c.recipe.depth)
		default:
			return
		}
	}
	if depth >= maxRecipeDepth {
		return
	}
	group := &recipeGroup{len(outs)}
	var versions []uint64
	for _, a := range c.Args {
		if a != nil {
			versions = append(versions, storageVersion(a))
		}
	}
	kept := Call{Op: c.Op, Attrs: c.Attrs, Args: append([]*Tensor(nil), c.Args...), Method: c.Method}
	for i, t := range outs {
		t.c.recipe = &recipe{kept, i, group, depth + 1, versions, storageVersion(t)}
	}
}

// Recipe returns the call that made an eager tensor from parameters alone, and
// which of its results the tensor is; ok is false when there is none, or when
// the tensor or an operand was written since, also through a view. group is the
// same for all results of one call. For tracing engines.
func (x *Tensor) Recipe() (c *Call, index int, group any, ok bool) {
	r := x.c.recipe
	if r == nil || storageVersion(x) != r.own {
		return nil, 0, nil, false
	}
	k := 0
	for _, a := range r.call.Args {
		if a == nil {
			continue
		}
		if storageVersion(a) != r.versions[k] {
			return nil, 0, nil, false
		}
		k++
	}
	return &r.call, r.index, r.group, true
}

func storageVersion(x *Tensor) uint64 { return x.c.val.(*array.Array).Storage().Version() }

// SharedElement is the code of writing in place to a tensor that shows one element
// of its memory several times.
const SharedElement diag.Code = "FX2028"

// assign gives dst the value of src: what every in-place method ends in.
func assign(dst, src *Tensor, what string) *Tensor {
	dst.check(what)
	src.check(what)
	if e := engineOf(what, nil, []*Tensor{dst, src}); e != nil {
		e.Assign(dst, src, what)
		return dst
	}
	to, from := dst.c.val.(*array.Array), src.c.val.(*array.Array)
	if _, err := (*op.Infer)(nil).Written(shape.TypeOf(to), shape.TypeOf(from)); err != nil {
		panic(misplaced(err, what))
	}
	if repeats(to) {
		panic(misplaced(diag.New(SharedElement, "the tensor "+dst.Type().String()+" shows one element of its memory several times").
			WithHint("write to a Clone of it"), what))
	}
	if from.DType() != to.DType() {
		from = array.Cast(from, to.DType())
	}
	if from.Storage() == to.Storage() {
		from = array.Clone(from)
	}
	array.Copy(to, from)
	to.Storage().Bump()
	if dst.c.param.Load() {
		pos := diag.Here()
		dst.c.wrote.Store(&pos)
	}
	dst.c.recipe = nil
	return dst
}

// misplaced is the error of an in-place call at the caller's line.
func misplaced(err error, what string) *diag.Error {
	e := *err.(*diag.Error)
	e.Op = what
	return e.At(diag.Here())
}

// repeats reports whether several elements lie in one place, as expand lays them.
func repeats(a *array.Array) bool {
	if a.Len() == 0 {
		return false
	}
	for i, step := range a.Strides() {
		if step == 0 && a.Dim(i) > 1 {
			return true
		}
	}
	return false
}

// AssignInPlace overwrites x with y's values; views of x see them.
func (x *Tensor) AssignInPlace(y *Tensor) *Tensor { return assign(x, y, "assign") }
