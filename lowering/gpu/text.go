package gpu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op"
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
	for s := range each(b.steps) {
		if s.kernel != nil {
			all = append(all, s.kernel)
		}
	}
	return b.listing(library) + "\n" + source.Program(all), nil
}

// withoutDevice lowers a module for a usual GPU.
func (t Target) withoutDevice(m *graph.Module, o lowering.Options, library string) (*builder, error) {
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
			own.Value = header(d, dims)
			ready.SetParam(own)
		}
	}
	info := reference(device.Info{Kind: library, Align: 256})
	if err := legalize(ready.Graph, info.Doubles); err != nil {
		return nil, err
	}
	return build(ready, info, false, t.TF32)
}

// reference is a device with what kernels are chosen by set to that of a usual GPU, so that they
// can be compiled where it is not.
func reference(info device.Info) device.Info {
	info.Vector, info.Group, info.Local, info.Units, info.Doubles, info.Host = 1, 1024, 48<<10, 108, true, false
	if info.Kind == CUDA {
		info.Arch = "sm_80"
	}
	return info
}

// listing says what is launched, in comments: bodies of control flow are indented below it.
func (b *builder) listing(library string) string {
	l := &listing{arena: b.arena(256), names: b.names()}
	l.list(b.steps, "")
	return fmt.Sprintf("// Kernels of %s for %s: %d launches, %d of them once; %d bytes of values.\n", onLine(b.m.Graph.Name), library, l.launches, l.once, l.arena) + l.out.String()
}

// onLine is a name as a comment can have it: what would end one, or join the line after it, is escaped.
func onLine(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

type listing struct {
	out            strings.Builder
	names          []string // of buffers
	arena          int
	launches, once int
}

func (l *listing) list(steps []step, indent string) {
	for _, s := range steps {
		of := ""
		if s.node != nil {
			of = " # " + onLine(lowering.SourceOf(s.node).Node)
		}
		if s.flow != nil {
			l.flow(s.flow, indent, of)
			continue
		}
		l.launches++
		when := ""
		if s.setup {
			l.once++
			when = "once: "
		}
		var to, from []string
		for i, k := range s.args {
			if i < s.outs {
				to = append(to, l.names[k])
			} else {
				from = append(from, l.names[k])
			}
		}
		for i, n := range s.kernel.Numbers {
			if i == 0 && s.shift != nil {
				from = append(from, fmt.Sprintf("%d + %d * round", s.shift.start, s.shift.stride))
			} else {
				from = append(from, fmt.Sprint(n))
			}
		}
		fmt.Fprintf(&l.out, "//   %s%s%s = %s<%v groups of %v>(%s)%s\n", indent, when, strings.Join(to, ", "), s.kernel.Name, s.kernel.Groups, s.kernel.Group, strings.Join(from, ", "), of)
	}
}

// flow lists control flow: what the host looks at, and bodies.
func (l *listing) flow(f *flow, indent, of string) {
	line := func(text string) { l.out.WriteString("//   " + indent + text + "\n") }
	inner := indent + "  "
	switch f.op {
	case op.Cond:
		line("if " + l.names[f.test] + of)
		l.list(f.bodies[0], inner)
		line("else")
		l.list(f.bodies[1], inner)
	case op.While:
		line("while" + of)
		l.list(f.bodies[0], inner)
		line("is " + l.names[f.test])
		l.list(f.bodies[1], inner)
	default:
		line(fmt.Sprintf("%d rounds", f.rounds) + of)
		l.list(f.bodies[0], inner)
	}
}

// names calls buffers by what they are: inputs, weights, results, places in the arena.
func (b *builder) names() []string {
	names := make([]string, len(b.buffers))
	inputs := b.m.Graph.Inputs()
	for k, f := range b.buffers {
		result := slices.IndexFunc(b.outputs, func(v *value) bool { return v.buf == k })
		switch {
		case f.kind == input:
			names[k] = onLine(inputs[f.input].Target())
		case f.path != "":
			names[k] = fmt.Sprintf("%q", f.path)
		case f.kind == weight:
			names[k] = fmt.Sprintf("constant%d", k)
		case result >= 0:
			names[k] = fmt.Sprintf("result%d", result)
		case f.setup:
			names[k] = fmt.Sprintf("packed%d", k)
		default:
			names[k] = fmt.Sprintf("arena+%d", f.off)
		}
	}
	return names
}
