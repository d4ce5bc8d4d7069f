package gpu

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/lower"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
)

// The libraries that devices are driven by, as Text takes them.
const (
	OpenCL = device.OpenCL
	CUDA   = device.CUDA
)

// Text returns what the target would have a driver compile for a module, OpenCL C or CUDA C++,
// with comments that say what is launched over which buffers. It needs no device, and of weights their types alone: kernels are
// those for a GPU with groups of 1024 work-items and floats of 64 bits, CUDA's from sm_80 on. Options.Shapes pins all symbols;
// the error lists everything in the way.
func Text(m *graph.Module, o lowering.Options, library string) (string, error) {
	return Target{}.Text(m, o, library)
}

// Text is the function Text for a target with settings: of a Pack's sources, those that a target with
// the same TF32 runs.
func (t Target) Text(m *graph.Module, o lowering.Options, library string) (string, error) {
	b, err := t.withoutDevice(m, o, library)
	if err != nil {
		return "", err
	}
	var all []*source.Kernel
	for s := range lower.Each(b.Steps) {
		if s.Kernel != nil {
			all = append(all, s.Kernel)
		}
	}
	return b.Listing(library) + "\n" + source.Program(all), nil
}

// withoutDevice lowers a module for a usual GPU.
func (t Target) withoutDevice(m *graph.Module, o lowering.Options, library string) (*lower.Builder, error) {
	if library != OpenCL && library != CUDA {
		return nil, diag.New(lowering.BadOption, "there are no programs for "+diag.Quote(library)).WithHint("name " + CUDA + " or " + OpenCL)
	}
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	lowering.Lift(ready)
	var open diag.List
	for _, s := range ready.Graph.Symbols() {
		if !s.Open() {
			continue
		}
		open = append(open, s.Node.Error(lowering.UnknownSize, "size "+s.Name+" is a symbol, kernels know their sizes").
			WithHint("pin "+s.Name+" by Options.Shapes, or -shape of fxgen lower"))
	}
	if len(open) > 0 {
		return nil, open
	}
	for _, p := range ready.Params() { // of weights that are not loaded, types say enough
		if d, dims, ok := p.TypeOf().Concrete(); ok && p.Value == nil {
			own := *p
			own.Value = lower.Header(d, dims)
			ready.SetParam(own)
		}
	}
	info := lower.Reference(device.Info{Kind: library, Align: 256})
	if err := lower.Legalize(ready.Graph, info.Doubles); err != nil {
		return nil, err
	}
	return lower.Build(ready, info, false, t.TF32)
}
