package gpu

import "github.com/gofx-dev/gofx/lowering/gpu/internal/pack"

// Pack holds PTX of programs by their source, so that machines without NVRTC run them: see
// Target.Pack. Its Add takes a source as Text returns it and what a compiler for CUDA made of
// it, Bytes returns what ReadPack takes.
type Pack = pack.Pack

// ReadPack returns the pack that Pack.Bytes wrote, which may be embedded in a program. The error
// has the code BadPack.
func ReadPack(data []byte) (*Pack, error) { return pack.Read(data) }
