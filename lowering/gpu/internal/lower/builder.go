package lower

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/lowering/internal/join"
	"github.com/gofx-dev/gofx/shape"
)

// Builder turns a legal graph of known sizes into steps: a fold over values.
type Builder struct {
	m        *graph.Module
	info     device.Info
	library  bool // of the vendor, see device.Library
	tf32     bool // products of f32 may round their operands to tf32
	Buffers  []Buffer
	Steps    []Step
	args     map[*graph.Node]*Operand // what the placeholders of the graph that is lowered stand for
	Outputs  []*Operand
	weights  map[weightKey]*Operand
	packs    map[string]*Operand // what pack has made, and holds where the builder is
	Expanded int                 // calls, see Stats
	groups   map[*graph.Graph]map[*graph.Node]*join.Group
	read     map[*graph.Node]*Operand // by elementwise calls
	errs     diag.List
}

// weightKey tells a weight that is read at each run from the same as it was.
type weightKey struct {
	path string
	live bool
}

func (b *Builder) add(f Buffer) int {
	b.Buffers = append(b.Buffers, f)
	return len(b.Buffers) - 1
}

// placed returns a value that lies in a buffer in order.
func placed(d array.DType, dims []int, buf int) *Operand {
	return &Operand{Header: Header(d, dims), Buf: buf}
}

// BytesOf is how many bytes a dense array takes on a device, one at the least.
func BytesOf(d array.DType, dims []int) int { return max(source.Dense(d, dims).Len()*d.Size(), 1) }

// constant returns a value that the host has.
func (b *Builder) constant(a *array.Array) *Operand {
	return placed(a.DType(), a.Shape(), b.add(Buffer{Kind: Weight, Bytes: BytesOf(a.DType(), a.Shape()), Array: a, Setup: true}))
}

// temp returns a new value of that type for a step to write.
func (b *Builder) temp(d array.DType, dims []int) *Operand {
	return placed(d, dims, b.add(Buffer{Bytes: BytesOf(d, dims)}))
}

// result returns a new value of the type of the call's result i.
func (b *Builder) result(n *graph.Node, i int) *Operand {
	t := n.Type().Members()[i]
	_, dims, _ := t.Concrete()
	return b.temp(t.DType(), dims)
}

// emit adds a launch, which writes out and reads in. A step that reads nothing but what is
// there before any run is done once.
func (b *Builder) emit(n *graph.Node, k *source.Kernel, out, in []*Operand) {
	s := Step{Kernel: k, Outs: len(out), Node: n, Setup: !k.Status}
	if !b.indexed(n, k, out, in) {
		return
	}
	for _, v := range out {
		if v.Header.Len() == 0 {
			return
		}
		s.Args = append(s.Args, v.Buf)
		s.Setup = s.Setup && !b.Buffers[v.Buf].rewritten
	}
	for _, v := range in {
		s.Args = append(s.Args, v.Buf)
		s.Setup = s.Setup && b.Buffers[v.Buf].Setup
	}
	for _, k := range s.Args[:s.Outs] {
		b.Buffers[k].Setup = s.Setup
	}
	b.Steps = append(b.Steps, s)
}

// indexed reports whether 32 bits count the elements of a step's operands and results, those of weights and of what a rule lays
// out among them, and its work-items, with those of the last group that have nothing to do; else that is an error of the call.
func (b *Builder) indexed(n *graph.Node, k *source.Kernel, values ...[]*Operand) bool {
	most := 0
	if items := k.Items(); items > source.MaxItems {
		most = items
	}
	for _, l := range values {
		for _, v := range l {
			most = max(most, b.Buffers[v.Buf].Bytes/max(v.DType().Size(), 1), v.Header.Len())
		}
	}
	if most <= source.MaxElements {
		return true
	}
	msg := "a kernel counts to " + strconv.Itoa(most) + " elements, expected no more than " + strconv.Itoa(source.MaxElements)
	err := diag.New(lowering.Unsupported, msg)
	if n != nil {
		err = lowering.At(n, lowering.Unsupported, msg)
	}
	b.errs = append(b.errs, err.WithHint("windows and what is laid out around them count, too; split the call, or let the cpu target run it (lowering.Split)"))
	return false
}

// concrete returns the sizes of a type, which must be known and small enough to be indexed.
func concrete(n *graph.Node, t shape.Type) ([]int, error) {
	_, dims, ok := t.Concrete()
	if !ok {
		return nil, n.Error(lowering.UnknownSize, n.String()+" is "+t.String()+", expected known sizes").
			WithHint("devices compute with sizes that follow from those of the inputs")
	}
	if count, ok := array.NumElems(dims); !ok || count > source.MaxElements {
		return nil, lowering.At(n, lowering.Unsupported, n.String()+" is "+t.String()+", kernels count to "+strconv.Itoa(source.MaxElements)+" elements").
			WithHint("choose smaller sizes, or let another target run it")
	}
	return dims, nil
}

// attrsStep returns the operator's step for the call, which has what its attributes mean
// for operands of these ranks.
func attrsStep(n *graph.Node) (kernel.Step, error) { return n.Op().Step(n.Attrs(), n.OperandTypes()) }
