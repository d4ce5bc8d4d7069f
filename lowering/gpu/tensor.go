package gpu

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
)

// tensorArch is the first architecture with the instructions that source.Tensor uses.
const tensorArch = 80

// tensorCores reports whether products of type d are computed by tensor cores. Floats of 32
// bits only where the target allows their operands to be rounded to tf32.
func (b *builder) tensorCores(d array.DType, rows, columns, depth int) bool {
	if !isHalf(d) && (d != array.F32 || !b.tf32) || min(rows, columns, depth) < source.TensorLeast {
		return false
	}
	arch, err := strconv.Atoi(strings.TrimPrefix(b.info.Arch, "sm_"))
	return err == nil && b.info.Kind == device.CUDA && arch >= tensorArch
}

// settings are those of the target that programs depend on, as part of their keys.
func (t Target) settings() string {
	if t.TF32 {
		return " tf32"
	}
	return ""
}
