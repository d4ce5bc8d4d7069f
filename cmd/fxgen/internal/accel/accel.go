// Package accel has the targets of fxgen other than the processor: it makes the engines gpu and
// xla, and writes the code that these targets would compile. It captures nothing and reads no flags.
package accel

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// The engines of this package, which are names of targets.
const (
	GPU = "gpu"
	XLA = xla.Name
)

// Compile compiles a module for an engine, on a device as gpu.Open, or a plugin as pjrt.Open,
// takes it. The processor runs the operators that the device does not; the note names them,
// and is empty if there are none.
func Compile(engine, device string, m *graph.Module, o lowering.Options) (e *lowering.Pieces, note string, err error) {
	var first lowering.Target
	switch engine {
	case GPU:
		d, err := gpu.Open(device)
		if err != nil {
			return nil, "", err
		}
		first = gpu.Target{Device: d}
	case XLA:
		first = xla.Target{Plugin: device}
	default:
		return nil, "", diag.Bug("engine " + engine + " is no target")
	}
	e, err = lowering.Split{First: first, Rest: cpu.Target{}}.Pieces(m, o)
	if err != nil {
		return nil, "", err
	}
	return e, fallback(engine, e.Stats()), nil
}

// Absent reports whether an error says that this machine has no device, or no plugin, for an engine.
func Absent(err error) bool { return errors.Is(err, gpu.NoDevice) || errors.Is(err, pjrt.NoPlugin) }

// fallback says which calls run on the processor, and why, each reason once.
func fallback(engine string, s lowering.Stats) string {
	if len(s.Fallback) == 0 {
		return ""
	}
	calls := map[string]int{}
	var reasons []string
	for _, f := range s.Fallback {
		what := f.Reason
		if f.Source.Op != "" {
			what = f.Source.Op + ": " + strings.TrimPrefix(what, engine+": ")
		}
		if calls[what]++; calls[what] == 1 {
			reasons = append(reasons, what)
		}
	}
	slices.Sort(reasons)
	for i, r := range reasons {
		if calls[r] > 1 {
			reasons[i] = fmt.Sprintf("%d of %s", calls[r], r)
		}
	}
	count := "1 call runs"
	if n := len(s.Fallback); n > 1 {
		count = fmt.Sprintf("%d calls run", n)
	}
	return count + " on the processor: " + strings.Join(reasons, "; ")
}

// Endings are the targets that programs can be written for, with the endings of their files.
func Endings() map[string]string {
	return map[string]string{XLA: ".mlir", gpu.CUDA: ".cu", gpu.OpenCL: ".cl"}
}

// Text returns the program that a target would compile; comments before it describe the arguments,
// or the launches. Programs of xla may be for all sizes of symbols up to bounds.
func Text(target, name string, m *graph.Module, o lowering.Options, bounds map[string]int) (string, error) {
	if target != XLA {
		return gpu.Text(m, o, target)
	}
	var p *xla.Program
	var err error
	if len(bounds) > 0 {
		p, err = xla.EmitBounded(m, o, bounds)
	} else {
		p, err = xla.Emit(m, o)
	}
	if err != nil {
		return "", err
	}
	var text strings.Builder
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		name = quoted // of a file, which may be called anything
	}
	fmt.Fprintf(&text, "// StableHLO of %s. Arguments of main, in order:\n", name)
	for _, list := range []struct {
		kind string
		args []xla.Argument
	}{{"input", p.Inputs}, {"weight", p.Weights}} {
		for _, a := range list.args {
			fmt.Fprintf(&text, "//   %s %q %s\n", list.kind, a.Name, a.Type())
		}
	}
	for _, symbol := range p.Sizes {
		fmt.Fprintf(&text, "//   size %q up to %d i32[]\n", symbol, bounds[symbol])
	}
	return text.String() + p.String(), nil
}
