package lower

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/expand"
	"github.com/gofx-dev/gofx/shape"
)

// Supports reports whether devices, with floats of 64 bits or without, run a call: by kernels, or
// by those of what it is expanded into; if not, why.
func Supports(n *graph.Node, doubles bool) (ok bool, reason string) {
	ok, reason = Direct(doubles)(n)
	if ok || n.Op() == nil || n.Op().Structural() || n.Op().AdHoc {
		return ok, reason
	}
	return lowering.TryCall(n, func(m *graph.Module) error { return Legalize(m.Graph, doubles) })
}

// Legalize expands what has no kernels: composite operators by their definitions, others by
// the table of package expand.
func Legalize(g *graph.Graph, doubles bool) error {
	return lowering.Legalize(g, TargetName, Direct(doubles), expand.Table())
}

// unexpanded are the operators that nothing else stands for, and why.
var unexpanded = expand.Reasons()

// Direct returns what reports whether there are kernels for a call as it is.
func Direct(doubles bool) func(n *graph.Node) (bool, string) {
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

// controls judges a call of cond, while or scan: whether devices run all that its bodies call.
func controls(n *graph.Node, doubles bool) (bool, string) {
	if err := n.CheckControl(); err != nil {
		return false, err.Msg
	}
	if n.FindsSizes() || grows(n) {
		return false, "sizes of its results follow from values"
	}
	m := n.Graph().Module()
	if m == nil {
		return false, "its graph belongs to no module"
	}
	types := n.OperandTypes()
	if n.Op() == op.Cond {
		types = types[1:]
	}
	if a, ok := n.Attrs().(op.LoopAttrs); ok {
		for i := a.Carry; i < a.Carry+a.Seqs; i++ {
			if !types[i].Ranked() {
				return false, "the rank of sequence " + strconv.Itoa(i-a.Carry) + " is not known"
			}
			types[i] = types[i].WithDims(types[i].Dims().Sub(1, types[i].Rank()))
		}
	}
	for _, r := range n.Regions() {
		body, err := lowering.PrepareRegion(m, r, types)
		if err != nil && known(types) {
			continue // refused when it runs, see body
		}
		if err != nil {
			return false, "its region " + r.Name + " cannot be lowered: " + err.Error()
		}
		for c := range body.Graph.Nodes() {
			if !c.Opcode().IsCall() {
				continue
			}
			if ok, why := Supports(c, doubles); !ok {
				return false, c.String() + " inside of it: " + why
			}
		}
	}
	return true, ""
}

// grows reports whether a loop gives a value that it carries a size that is not that of its operand.
func grows(n *graph.Node) bool {
	a, ok := n.Attrs().(op.LoopAttrs)
	results := n.Type().Members()
	for i := 0; ok && i < min(a.Carry, len(results)); i++ {
		is, was := results[i], n.OperandTypes()[i]
		for d := range is.Rank() {
			if is.Dim(d).IsUnknown() && was.Rank() == is.Rank() && !was.Dim(d).IsUnknown() {
				return true
			}
		}
	}
	return false
}

// known reports whether all sizes are numbers.
func known(types []shape.Type) bool {
	return !slices.ContainsFunc(types, func(t shape.Type) bool { _, _, ok := t.Concrete(); return !ok })
}

// Reference is a device with what kernels are chosen by set to that of a usual GPU, so that they
// can be compiled where it is not.
func Reference(info device.Info) device.Info {
	info.Vector, info.Group, info.Local, info.Units, info.Doubles, info.Host = 1, 1024, 48<<10, 108, true, false
	if info.Kind == device.CUDA {
		info.Arch = "sm_80"
	}
	return info
}
