package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"sort"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/onnxpb"
	"github.com/gofx-dev/gofx/bench/peak"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes/quant"
)

// Input is an operand. Constants are weights: known before the measured calls.
type Input struct {
	peers.Tensor
	Const bool
}

// Work is the unavoidable work of a call, counted by the definition of the
// operator: algorithms that need fewer multiplications show as a share above
// one.
type Work struct {
	Flops float64 // that multiply-adds can do, two each
	Ops8  float64 // of 8-bit products, two each multiply-add
	Adds  float64 // additions, subtractions, multiplications that nothing contracts
	Divs  float64
	Bytes float64 // of operands and results, each once
	Reads float64 // those of operands, where they are most of it
}

// memoryBound reports whether moving the bytes takes longer than computing.
func (w Work) memoryBound(p *peak.Peaks, threads int) bool {
	compute := w
	compute.Bytes, compute.Reads = 0, 0
	return w.Bytes > 0 && compute.Bound(p, threads) < w.Bytes/p.Memory(int(w.Bytes), threads)
}

// Bound returns the least time in seconds on the machine with these peaks.
func (w Work) Bound(p *peak.Peaks, threads int) float64 {
	t := 0.0
	for _, v := range [][2]float64{{w.Flops, p.FMA}, {w.Ops8, p.Int8}, {w.Adds, p.Add}, {w.Divs, p.Div},
		{w.Bytes, p.Memory(int(w.Bytes), threads)}, {w.Reads, p.Reading(int(w.Bytes), threads)}} {
		if v[0] > 0 && v[1] > 0 {
			t = max(t, v[0]/v[1])
		}
	}
	return t
}

// Ours is one way of gofx to compute a case, ready to run.
type Ours struct {
	Name string // the called function
	Run  func()
	Out  []*array.Array
	// Before makes the data that a call of Run uses up, unmeasured; nil if there are none.
	Before func()
	// Close ends what Run uses; nil if that is nothing.
	Close func()
	// Bytes are those that a call reads at least, where reading them bounds it.
	Bytes float64
}

// Graph is the same computation for ONNX Runtime. Constants are initializers.
type Graph struct {
	Name  string // "ort", or "ort-" and a detail
	Model func(c *Case) *onnxpb.Model
}

// Engine is a way of gofx to compute a network. The one without Ours is the program
// of generated code.
type Engine struct {
	Name string
	Ours func(w *network, threads int) (*Ours, error)
	// Rough tells that its results are not compared: it computes in another precision.
	Rough bool
}

// Way is another way of gofx to compute a case that is no network.
type Way struct {
	Name string
	Ours func(in []*array.Array, threads int) (*Ours, error)
}

// Case is one row: an operator at a size.
type Case struct {
	Group, Shape string
	// Networks says how often networks have this shape.
	Networks map[string]int
	Inputs   []Input
	Work     Work
	// Elements gives times per element where it is not zero.
	Elements int
	// Network is the model, at Dims, that gofx and the peers compute; Inputs are
	// empty then.
	Network *models.Model
	Dims    map[string]int
	// Feed gives the network other inputs, and Decoder are the sizes of one that continues a
	// text, which llama.cpp computes, too, in Bits.
	Feed    func(w *network) error
	Decoder *models.GPT2Config
	Bits    int
	// Quant makes the quantised network the one that all but rough engines compute.
	Quant *quant.Config
	// Brain makes the peers compute in bf16.
	Brain bool
	// Train makes the case a step of training of the network.
	Train *training
	// Scale is a job on a graph of so many Nodes, by gofx and by torch.fx.
	Scale *scaling
	Nodes int
	// Engines are other ways of gofx to compute the network.
	Engines []Engine
	// Ours prepares gofx. It is nil where the library has no such kernel.
	Ours func(in []*array.Array, threads int) (*Ours, error)
	// Ways are others to compute it.
	Ways []Way
	// Counts counts something besides times.
	Counts func() ([]Count, error)
	// Op names the operator in torch_ops.py, with its attributes; empty is none.
	Op    string
	Attrs map[string]any
	// Jit adds the variant that is traced and frozen, Compile that of torch.compile, Mkldnn that on
	// PyTorch's tensors of oneDNN.
	Jit     bool
	Compile bool
	Mkldnn  bool
	// OneDNN adds oneDNN itself, with Op in the variant OneDNNVariant.
	OneDNN        bool
	OneDNNVariant string
	Graphs        []Graph
	// Tol is the allowed difference of results relative to their mean magnitude,
	// Step the one that is allowed besides; a negative Tol compares nothing.
	Tol, Step float64
}

// Matches reports whether the expression finds the case, by its shape or by that
// of a network that has it.
func (c *Case) Matches(r *regexp.Regexp) bool {
	if r.MatchString(c.Group + "/" + c.Shape) {
		return true
	}
	for n := range c.Networks {
		if r.MatchString(c.Group + "/" + n + "/" + c.Shape) {
			return true
		}
	}
	return false
}

// networkNames returns the sorted names.
func (c *Case) networkNames() []string {
	var names []string
	for n := range c.Networks {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// f32 is an operand of floats in ±scale around shift.
func f32(seed int, scale, shift float64, shape ...int) Input {
	return Input{Tensor: peers.Tensor{Shape: shape, DType: "f32", Seed: seed, Scale: scale, Shift: shift}}
}

// weight is a constant operand whose products with values of magnitude one keep
// it: fan is the number of terms in a sum.
func weight(seed, fan int, shape ...int) Input {
	in := f32(seed, math.Sqrt(3/float64(max(1, fan))), 0, shape...)
	in.Const = true
	return in
}

// arrays makes gofx's operands.
func (c *Case) arrays() []*array.Array {
	out := make([]*array.Array, len(c.Inputs))
	for i, in := range c.Inputs {
		out[i] = makeArray(in.Tensor)
	}
	return out
}

func makeArray(t peers.Tensor) *array.Array {
	n := t.Len()
	switch t.DType {
	case "f32":
		return filled[float32](t, n)
	case "u8":
		return filled[uint8](t, n)
	case "s8":
		return filled[int8](t, n)
	case "i32":
		return filled[int32](t, n)
	}
	return filled[int64](t, n)
}

func filled[T float32 | uint8 | int8 | int32 | int64](t peers.Tensor, n int) *array.Array {
	v := make([]T, n)
	for i := range v {
		v[i] = T(t.At(i))
	}
	return array.FromSlice(v, t.Shape...)
}

// disagree returns an error when two results differ by more than the case allows.
func (c *Case) disagree(name string, ours, theirs []float64) error {
	if c.Tol < 0 || len(ours) == 0 || len(theirs) == 0 {
		return nil
	}
	if len(theirs) < len(ours) {
		return fmt.Errorf("%s/%s: %s has %d results, expected %d", c.Group, c.Shape, name, len(theirs)/peers.Places, len(ours)/peers.Places)
	}
	for i := range ours {
		magnitude := ours[i-i%peers.Places+peers.Places-1]
		limit := c.Tol*max(magnitude, 1e-6) + c.Step
		if d := math.Abs(ours[i] - theirs[i]); !(d <= limit) {
			return fmt.Errorf("%s/%s: value %d is %g, %s has %g: a difference of %g where %g is allowed",
				c.Group, c.Shape, i, ours[i], name, theirs[i], d, limit)
		}
	}
	return nil
}

// requests returns the requests to the peers, "torch", "onednn" and "ort".
// Models are written into dir.
func (c *Case) requests(dir string, threads int) (list []peerCase, err error) {
	all := make([]peers.Tensor, len(c.Inputs))
	var feeds []peers.Tensor
	for i, in := range c.Inputs {
		all[i] = in.Tensor
		if !in.Const {
			feeds = append(feeds, in.Tensor)
		}
	}
	if c.Op != "" {
		q := peers.Request{Op: c.Op, Inputs: all, Attrs: c.Attrs}
		list = append(list, peerCase{name: "torch", process: "torch", load: q})
		if c.Jit {
			q.Variant = "jit"
			list = append(list, peerCase{name: "torch-jit", process: "torch", load: q})
		}
		if c.Compile {
			q.Variant = "compile"
			list = append(list, peerCase{name: "torch-compile", process: "torch", load: q})
		}
		if c.Mkldnn {
			q.Variant = "mkldnn"
			list = append(list, peerCase{name: "torch-mkldnn", process: "torch", load: q})
		}
		if c.OneDNN {
			q.Variant = c.OneDNNVariant
			list = append(list, peerCase{name: "onednn", process: "onednn", load: q})
		}
	}
	for i, g := range c.Graphs {
		file := filepath.Join(dir, fmt.Sprintf("case%d.onnx", i))
		if err := os.WriteFile(file, g.Model(c).Encode(), 0o600); err != nil {
			return nil, err
		}
		list = append(list, peerCase{name: g.Name, process: "ort", load: peers.Request{File: file, Inputs: feeds, Threads: threads}})
	}
	return list, nil
}

// peerCase is a case for one peer process.
type peerCase struct {
	name, process string
	load          peers.Request
	instead       *peerCase // of the same process, where this one fails
	results       int       // that it computes, 0 for all
}
