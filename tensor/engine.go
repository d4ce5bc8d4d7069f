package tensor

import (
	"strconv"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Call is one operator call as an engine sees it.
type Call struct {
	Op    *op.Op
	Attrs any
	Args  []*Tensor // nil for absent operands
	// Method tells that the call was spelt x.Op(...) rather than tensor.Op(...).
	Method bool
}

// PermuteCall is the call that Permute makes, without its operand, for engines that turn what they are given.
func PermuteCall(dims ...int) *Call {
	return &Call{Op: std.Permute, Attrs: std.PermuteAttrs{Dims: op.IntList(dims...)}}
}

// Engine decides what calls on tensors do. These five methods are what every engine
// has: one that computes later (a session) needs no others.
type Engine interface {
	// Call performs an operator call. It returns as many tensors as
	// Op.NumResults says.
	Call(c *Call) []*Tensor
	// Type returns what is known of a tensor of this engine.
	Type(x *Tensor) shape.Type
	// Observe returns the data of a tensor of this engine; what names the method
	// that asked. A tracing engine reports the mistake and returns zeros.
	Observe(x *Tensor, what string) *array.Array
	// Assign makes the tensor of dst have src's value, as in-place methods do.
	// Their types agree; either may be eager. Views of dst see the write.
	Assign(dst, src *Tensor, what string)
	// Gradient returns the gradients of loss by the tensors, which are not nil, in their
	// order: tensors of this engine, which are differentiated again. Mistakes are the
	// engine's to report: one that does not keep how its tensors were computed panics
	// with a *diag.Error of the code NotRecorded.
	Gradient(loss *Tensor, by []*Tensor, o GradOptions) []*Tensor
}

// Symbolic is an Engine that may not know sizes as numbers. It stands apart because an
// engine that has the data, now or later, knows every size.
type Symbolic interface {
	Engine
	// Size returns the size of an axis as an expression; it never fails for a
	// valid axis.
	Size(x *Tensor, axis int) shape.Dim
	// KnownSize returns the size of an axis as a number, or reports that it is not known.
	KnownSize(x *Tensor, axis int) int
	// KnownDim turns a size expression into a number, or reports that it is not known.
	KnownDim(d shape.Dim, what string) int
	// EqualDims reports whether two sizes, not both numbers, are equal, or reports
	// that it is not known.
	EqualDims(a, b shape.Dim) bool
	// Guard is told of a relation of sizes that a run must satisfy: a graph that is
	// captured as part of another one hands its guards on, a program states what it
	// relies on. x gave rise to it; nil where the program states it of sizes alone.
	Guard(x *Tensor, r shape.Relation)
}

// Follower is an Engine that knows every size and, while it follows sizes, sees whether a program does anything with
// them except to give them to operators, with arithmetic of [Size] on the way. It stands apart because
// only an engine whose graphs are run again for other sizes has to see that.
type Follower interface {
	Engine
	// Following reports whether sizes are followed. Where they are not, sizes are numbers.
	Following() bool
	// FollowSize returns the size of an axis as an expression, or as a number where no size that is followed decides it.
	FollowSize(x *Tensor, axis int) shape.Dim
	// LookAt returns a size as a number, and notes that the program was told it; what names the method that asked.
	LookAt(d shape.Dim, what string) int
	// Guard is told of a relation of sizes that the program states; see Symbolic.
	Guard(x *Tensor, r shape.Relation)
	// Branch is told of a relation of sizes that is true, and that the program has asked for: it may do other things where it is not.
	Branch(r shape.Relation)
}

// Asker sees what a program does with sizes of tensors that no engine has, for an engine that follows sizes: see Asking.
type Asker interface {
	// Asked is told of a size that the program was told as an int.
	Asked(n int)
	// Takes returns the engine whose a call is, because the program gives it sizes that are followed, as ints; nil for a call that is nobody's.
	Takes(o *op.Op, attrs any) Engine
}

// asking is told of sizes of tensors of no engine.
var asking atomic.Pointer[Asker]

// Asking has an engine see what a program is told of sizes of eager tensors, and the calls that it makes of these, until the returned function is called.
// For engines only.
func Asking(a Asker) (leave func()) {
	asking.Store(&a)
	return func() { asking.Store(nil) }
}

func asked(n int) int {
	if a := asking.Load(); a != nil {
		(*a).Asked(n)
	}
	return n
}

// Capturer is an Engine that keeps what a program is, not only what it computes: its
// modules, its control flow, its state, and all of its mistakes. It stands apart because
// any other engine runs modules as Go does, and ends a program at its first mistake.
type Capturer interface {
	Brancher
	// Leaf records a call of a leaf module; ok is false when the module is to be
	// run through its operator instead.
	Leaf(m any, b *Bound, in []*Tensor) (out []*Tensor, ok bool)
	// Enter is told that m's Forward starts with these inputs. A module that the
	// engine records as a leaf is not run: out is then its result and ok true.
	Enter(m any, in []*Tensor) (out []*Tensor, leave func(), ok bool)
	// Lift brings an eager tensor of the model in.
	Lift(t *Tensor) *Tensor
	// Mistake is told what is wrong with a call on a value of this engine, or on eager
	// tensors of a model that it records. It returns results of which nothing is known;
	// ok is false when the call is none of its business.
	Mistake(c *Call, e *diag.Error) (out []*Tensor, ok bool)
}

// Brancher is an Engine that may record control flow as one call, whose functions it runs once for all rounds. One that does
// not, because of what the functions do, has [Flow] with Plain run them. It stands apart because any other engine runs branches and loops as Go does.
type Brancher interface {
	Engine
	// Cond, While and Scan record control flow with regions. A while makes at most
	// so many trips; 0 does not bound them.
	Cond(pred *Tensor, then, els func(in []*Tensor) []*Tensor, in []*Tensor) []*Tensor
	While(trips int, cond func(in []*Tensor) *Tensor, body func(in []*Tensor) []*Tensor, in []*Tensor) []*Tensor
	Scan(body func(carry, slices []*Tensor) (next, out []*Tensor), carry, seqs []*Tensor) (last, stacked []*Tensor)
}

// On returns t as x's engine sees it: t itself when x is eager, a read of the
// parameter or buffer under a trace. A model that updates a buffer from the
// buffer alone, which no traced value takes part in, needs it to be recorded:
//
//	tensor.On(x, m.Calls).AddScalarInPlace(1)
func On(x, t *Tensor) *Tensor {
	if e, ok := x.Engine().(Capturer); ok && t.c.engine() == nil {
		return e.Lift(t)
	}
	return t
}

// Maker makes tensors in an engine: calls without operands have nobody to bring one.
type Maker struct{ e Engine }

// In returns the maker of an engine's tensors, such as a session's. The engine of a
// tensor makes others next to it: tensor.In(x.Engine()).Zeros(3) is recorded under a
// trace of x and runs at once when x is eager. nil stands for running at once.
func In(e Engine) Maker { return Maker{e} }

// Apply calls an operator of the maker's, a user's own included, and returns all
// results.
func (m Maker) Apply(o *op.Op, attrs any, args ...*Tensor) []*Tensor {
	return dispatch(callee{o, attrs, false}, args, m.e)
}

// Apply calls an operator as a function and returns all results. attrs nil
// stands for the zero attributes. User-defined operators are called by it.
func Apply(o *op.Op, attrs any, args ...*Tensor) []*Tensor {
	return dispatch(callee{o, attrs, false}, args, nil)
}

// ApplyMethod is Apply, recorded as a method call of the first operand.
func ApplyMethod(o *op.Op, attrs any, args ...*Tensor) []*Tensor {
	return dispatch(callee{o, attrs, true}, args, nil)
}

// CallOp calls an operator with one result.
func CallOp(o *op.Op, attrs any, args ...*Tensor) *Tensor { return Apply(o, attrs, args...)[0] }

// callee is a call without its operands. Those are passed apart, so that their list can stay on the
// stack of the caller where nothing keeps the call.
type callee struct {
	Op     *op.Op
	Attrs  any
	Method bool
}

// on returns the call for code that may keep it.
func (c callee) on(args []*Tensor) *Call {
	k := &struct {
		Call
		few [3]*Tensor // operands of most calls, in one piece with it
	}{Call: Call{Op: c.Op, Attrs: c.Attrs, Method: c.Method}}
	k.Args = append(k.few[:0], args...)
	return &k.Call
}

func dispatch(c callee, args []*Tensor, extra Engine) []*Tensor {
	attrs, err := c.Op.Codec().Given(c.Attrs)
	c.Attrs = attrs
	if err == nil {
		err = c.wrong(args)
	}
	e := engineOf(c.Op.Name, extra, args)
	if err != nil {
		return mistaken(c, args, e, located(err, c.Op))
	}
	for _, i := range c.Op.Mutates {
		if e == nil && i < len(args) && args[i] != nil {
			e = args[i].follower(c.Op.Name)
		}
	}
	if a := asking.Load(); a != nil && e == nil && c.Op.Codec().HasDims() {
		e = (*a).Takes(c.Op, c.Attrs)
	}
	if e != nil {
		return e.Call(c.on(args))
	}
	return eager(c, args)
}

// wrong says what is wrong with a call whatever its operands hold.
func (c callee) wrong(args []*Tensor) error {
	if err := c.Op.CheckRequired(len(args), func(i int) bool { return args[i] != nil }); err != nil {
		return err
	}
	for i := len(c.Op.In); c.Op.Variadic() && i <= len(args); i++ {
		if args[i-1] == nil {
			return diag.New(NilTensor, "tensor "+strconv.Itoa(i-len(c.Op.In))+" of "+c.Op.In[len(c.Op.In)-1].Name+" is nil")
		}
	}
	return nil
}

// mistaken leaves a mistake to the engine of the operands, or to the one that records
// the model whose tensors they are; without one it panics.
func mistaken(c callee, args []*Tensor, e Engine, err *diag.Error) []*Tensor {
	several := false
	if e == nil {
		e, several = recorder(args, maxRecipeDepth)
	}
	if r, ok := e.(Capturer); ok && !several {
		if out, ok := r.Mistake(c.on(args), err); ok {
			return out
		}
	}
	panic(err)
}

// recorder returns the engine that has taken in one of the tensors, or what one was
// computed from; several tells that there are more.
func recorder(args []*Tensor, depth int) (e Engine, several bool) {
	join := func(f Engine) {
		several = several || e != nil && f != nil && e != f
		if f != nil {
			e = f
		}
	}
	for _, a := range args {
		if a == nil || a.c.engine() != nil {
			continue
		}
		for _, h := range a.holders() {
			join(h.(Holder).Engine())
		}
		if r := a.c.recipe(); r != nil && depth > 0 {
			f, more := recorder(r.call.Args, depth-1)
			several = several || more
			join(f)
		}
	}
	return e, several
}

// located gives an error the operator and the user's line.
func located(err error, o *op.Op) *diag.Error {
	var l diag.List
	l.Add(err)
	e := *l[0]
	if e.Op == "" {
		e.Op = o.Name
	}
	return e.At(diag.Here())
}
