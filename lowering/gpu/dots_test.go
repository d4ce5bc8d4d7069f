package gpu_test

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// dots is a device whose compiler has the products of four bytes of cl_khr_integer_dot_product, in the words of its specification.
type dots struct{ device.Device }

const dotsWords = `#define cl_khr_integer_dot_product 1
#define __opencl_c_integer_dot_product_input_4x8bit_packed 1
int dot_4x8packed_ss_int(uint a, uint b) {
	char4 x = as_char4(a), y = as_char4(b);
	return x.s0 * y.s0 + x.s1 * y.s1 + x.s2 * y.s2 + x.s3 * y.s3;
}
`

func (d dots) Build(source string, binary []byte) (device.Program, bool, error) {
	return d.Device.Build(dotsWords+source, binary)
}

// wordCalls are products and convolutions whose sums wrap around, of both types and with all zero points.
func wordCalls(r *rand.Rand) []contraction {
	pad := func(in ...*array.Array) []*array.Array { return append(in, make([]*array.Array, 13-len(in))...) }
	sums := std.QLinearAttrs{DType: array.I32}
	return []contraction{
		{std.QLinear, sums, pad(bytesOf(r, array.U8, 17, 33), nil, bytesOf(r, array.U8, 1), bytesOf(r, array.I8, 5, 33))},
		quantEdges(r)[0],
		{std.QConv2d, std.QConvAttrs{Padding: op.IntList(1), DType: array.I32}, pad(bytesOf(r, array.I8, 1, 5, 6, 7), nil, bytesOf(r, array.I8, 1), bytesOf(r, array.U8, 4, 5, 3, 3), nil, bytesOf(r, array.U8, 4))},
	}
}

// TestWordsByDots: words are multiplied by the functions of OpenCL devices that have them, to the same sums.
func TestWordsByDots(t *testing.T) {
	g := grouped(t)
	if kind := g.Device.Info().Kind; kind != gpu.OpenCL {
		t.Skip("the functions are OpenCL's, and the first device is one of " + kind)
	}
	l := &listener{Device: dots{run.Driver(g.Device)}}
	sameBytes(t, gpu.Target{Device: run.NewDevice(l), Cache: "-"}, wordCalls(rand.New(rand.NewPCG(9, 43))))
	require.Contains(t, strings.Join(l.sources, ""), "= DP4A(")
	clang, err := exec.LookPath("clang-22")
	if err != nil {
		t.Skip("no compiler knows the functions:", err)
	}
	for standard, dots := range map[string]bool{"CL3.0": true, "CL1.2": false} { // of which only the first has them; drivers say what they are
		for _, source := range l.sources {
			cmd := exec.Command(clang, "-x", "cl", "-cl-std="+standard, "-D__OPENCL_VERSION__=300", "--target=spirv64", "-O1", "-w", "-emit-llvm", "-S", "-o", "-", "-")
			cmd.Stdin = strings.NewReader(source)
			var said bytes.Buffer
			cmd.Stderr = &said
			made, err := cmd.Output()
			require.NoError(t, err, said.String())
			require.Equal(t, dots, strings.Contains(string(made), "call spir_func i32 @_Z20dot_4x8packed_ss_intjj("), standard)
		}
	}
}
