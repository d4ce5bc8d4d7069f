package gpu

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/expand"
	"github.com/gofx-dev/gofx/shape"
)

// Target lowers graphs to a device. The zero value takes the first device there is.
type Target struct {
	// Device runs what is compiled; nil means Open("").
	Device *Device
	// Cache is the folder of built programs; "" means gofx/gpu in the user's cache folder,
	// "-" none. Drivers trust what lies in it.
	Cache string
	// NoLibraries leaves products and convolutions to kernels of this package, whose results do
	// not depend on what was measured, where NVIDIA's cuBLASLt and cuDNN are installed, too.
	NoLibraries bool
	// TF32 lets products of f32 round their operands to 10 bits of mantissa, where the device
	// has tensor cores for that (NVIDIA's, from sm_80 on): a relative error of 2^-11 for each
	// operand. Sums stay f32. Otherwise f32 is computed as such.
	TF32 bool
	// Pack has the PTX of programs, which CUDA devices run without NVRTC; nil is an empty one.
	// With one, kernels are those of the method Text, whatever the device is, and libraries are
	// left out.
	Pack *Pack
}

const name = "gpu"

// Name implements lowering.Target: "gpu".
func (Target) Name() string { return name }

// device returns the device of the target.
func (t Target) device() (*Device, error) {
	if t.Device != nil {
		return t.Device, nil
	}
	return Open("")
}

// Supports implements lowering.Target. Without a device it answers for one that has
// floats of 64 bits.
func (t Target) Supports(n *graph.Node) (ok bool, reason string) {
	doubles := true
	if d, err := t.device(); err == nil {
		doubles = d.Info().Doubles
	}
	return supports(n, doubles)
}

// Supports reports whether devices with floats of 64 bits run a call: by kernels, or by those
// of what it is expanded into; if not, why.
func Supports(n *graph.Node) (ok bool, reason string) { return supports(n, true) }

func supports(n *graph.Node, doubles bool) (ok bool, reason string) {
	ok, reason = direct(doubles)(n)
	if ok || n.Op() == nil || n.Op().Structural() || n.Op().AdHoc {
		return ok, reason
	}
	return lowering.TryCall(n, func(m *graph.Module) error { return legalize(m.Graph, doubles) })
}

// legalize expands what has no kernels: composite operators by their definitions, others by
// the table of package expand.
func legalize(g *graph.Graph, doubles bool) error {
	return lowering.Legalize(g, name, direct(doubles), expand.Table())
}

// unexpanded are the operators that nothing else stands for, and why.
var unexpanded = expand.Reasons()

// direct returns what reports whether there are kernels for a call as it is.
func direct(doubles bool) func(n *graph.Node) (bool, string) {
	return func(n *graph.Node) (bool, string) {
		o := n.Op()
		switch {
		case o == nil:
			return false, "nothing is known of the module"
		case o == op.GetItem || o == op.Dim:
			return true, ""
		case o == op.Call && n.Callee() != nil:
			return true, ""
		}
		if r, ok := rules.Find(n); ok {
			return r.supports(n, doubles)
		}
		switch {
		case o == op.Cond || o == op.While || o == op.Scan:
			return controls(n, doubles)
		case o.AdHoc:
			return false, "a Go function runs on the host"
		case o.Structural():
			return false, "writes to state stay on the host"
		case o.Composite():
			return false, "it is defined by other operators"
		case o.Scalar():
			return scalar(n, doubles)
		case o.ViewOf > 0: // a view, or of a copy in order
			return true, ""
		}
		if why := unexpanded[o]; why != "" {
			return false, why
		}
		return false, "there is no kernel for it"
	}
}

// scalar judges an elementwise call without a rule.
func scalar(n *graph.Node, doubles bool) (bool, string) {
	g, err := n.Op().Expression(n.Attrs(), n.OperandTypes())
	if err != nil {
		return false, "the types of its operands are not known"
	}
	return source.Printable(g, doubles)
}

// computes refuses operand and result types that kernels do not compute with.
func computes(n *graph.Node, doubles bool) (bool, string) {
	types := append(n.OperandTypes(), members(n.Type())...)
	for _, t := range types {
		if t.Kind() != shape.Tensor {
			continue
		}
		if !source.Computes(t.DType()) {
			return false, "kernels do not compute with " + t.DType().String()
		}
		if t.DType().Size() == 8 && t.DType().IsFloat() && !doubles {
			return false, "the device has no floats of 64 bits"
		}
	}
	return true, ""
}

// members returns the types of a call's results.
func members(t shape.Type) []shape.Type {
	if t.Kind() != shape.Tuple {
		return []shape.Type{t}
	}
	m := make([]shape.Type, t.Len())
	for i := range m {
		m[i] = t.Member(i)
	}
	return m
}

// Compile implements lowering.Target; the result is an *Executable. Options.Exact and
// Options.Weights are refused: kernels round as their device does.
func (t Target) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := t.compile(m, o)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// settings are those of the target that programs depend on, as part of their keys.
func (t Target) settings() string {
	if t.TF32 {
		return " tf32"
	}
	return ""
}
