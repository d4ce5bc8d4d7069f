package gpu

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/lower"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/pack"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
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

// Name implements lowering.Target: "gpu".
func (Target) Name() string { return lower.TargetName }

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
	return lower.Supports(n, doubles)
}

// Supports reports whether devices with floats of 64 bits run a call: by kernels, or by those
// of what it is expanded into; if not, why.
func Supports(n *graph.Node) (ok bool, reason string) { return lower.Supports(n, true) }

// Compile implements lowering.Target; the result is an *Executable. Options.Exact,
// Options.Weights and Options.Products are refused: kernels round as their device does.
func (t Target) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := t.compile(m, o)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// settings are what programs depend on.
func (t Target) settings(o lowering.Options) run.Settings {
	s := run.Settings{Key: o.Key(), Folder: lowering.UserFolder(lower.TargetName, t.Cache), NoLibraries: t.NoLibraries, TF32: t.TF32, Pack: t.Pack}
	if t.TF32 {
		s.Key += " tf32"
	}
	return s
}

// Pack holds PTX of programs by their source, so that machines without NVRTC run them: see
// Target.Pack. Its Add takes a source as Text returns it and what a compiler for CUDA made of
// it, Bytes returns what ReadPack takes.
type Pack = pack.Pack

// ReadPack returns the pack that Pack.Bytes wrote, which may be embedded in a program. The error
// has the code BadPack.
func ReadPack(data []byte) (*Pack, error) { return pack.Read(data) }
