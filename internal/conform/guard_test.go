package conform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// guarded are calls that hold for some sizes only, sizes that do not fit, and
// what every engine says.
var guarded = []struct {
	name, body string
	dims       []int
	want       string
}{
	{"glu", `%x: f32[N,C]) { %y = call_function[glu](%x) {dim=1}`, []int{2, 7},
		`input "x" is f32[2,7]: glu needs C (axis 1, here 7) divisible by 2`},
	{"groupnorm", `%x: f32[N,C,L]) { %y = call_function[group_norm](%x) {num_groups=4, eps=1e-05}`, []int{1, 3, 2},
		`input "x" is f32[1,3,2]: group_norm needs C (axis 1, here 3) divisible by 4`},
	{"maxpool", `%x: f32[N,3,H,W]) { %y = call_function[max_pool2d](%x) {kernel_size=[3]}`, []int{1, 3, 5, 2},
		`input "x" is f32[1,3,5,2]: max_pool2d needs W (axis 3, here 2) at least 3`},
	{"adaptive", `%x: f32[N,3,L]) { %y = call_function[adaptive_avg_pool1d](%x) {output_size=[2]}`, []int{1, 3, 0},
		`input "x" is f32[1,3,0]: adaptive_avg_pool1d needs L (axis 2, here 0) at least 1`},
	{"reflect", `%x: f32[N,L]) { %y = call_function[pad](%x) {pad=[4,0], mode="reflect"}`, []int{2, 4},
		`input "x" is f32[2,4]: pad needs L (axis 1, here 4) at least 5`},
	{"circular", `%x: f32[N,L]) { %y = call_function[pad](%x) {pad=[0,4], mode="circular"}`, []int{2, 3},
		`input "x" is f32[2,3]: pad needs L (axis 1, here 3) at least 4`},
	{"narrow", `%x: f32[N,L]) { %y = call_function[narrow](%x) {dim=1, start=2, length=3}`, []int{2, 4},
		`input "x" is f32[2,4]: narrow needs L (axis 1, here 4) at least 5`},
	{"window", `%x: f32[N,L,4]) {
  %a = call_function[slice](%x) {dim=1, start=1, stop=9223372036854775807}
  %y = call_function[amax](%a) {dim=[1]}`, []int{2, 1, 4},
		`input "x" is f32[2,1,4]: amax needs L (axis 1, here 1) at least 2`},
	{"shuffle", `%x: f32[N,C,H,W]) { %y = call_function[pixel_shuffle](%x) {upscale_factor=2}`, []int{1, 6, 2, 2},
		`input "x" is f32[1,6,2,2]: pixel_shuffle needs C (axis 1, here 6) divisible by 4`},
	{"table", `%x: f32[S,4]) {
  %t = call_function[ones]() {size=[9,4]}
  %a = call_function[slice](%t) {dim=0, start=0, stop=S}
  %y = call_function[add](%x, %a)`, []int{10, 4},
		`input "x" is f32[10,4]: slice needs S (axis 0, here 10) at most 9`},
}

// TestGuardsSpeakAlike requires the interpreter and the plan to refuse sizes in
// the same words, which name the input, the axis, what is found and what is needed.
func TestGuardsSpeakAlike(t *testing.T) {
	for _, c := range guarded {
		t.Run(c.name, func(t *testing.T) {
			m := guardedModule(t, c.body)
			x := array.New(array.F32, c.dims...)
			_, err := fx.NewGraphModule(m).Run(ctx, tensor.New(x))
			require.ErrorIs(t, err, interp.GuardFailed)
			require.ErrorContains(t, err, c.want+" [")

			e, err := cpu.Compile(m, lowering.Options{})
			require.NoError(t, err)
			defer func() { require.NoError(t, e.Close()) }()
			_, err = e.Run(ctx, []*array.Array{x})
			require.ErrorIs(t, err, interp.GuardFailed)
			require.ErrorContains(t, err, c.want+" [")
		})
	}
}

func guardedModule(t *testing.T, body string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\ngraph g("+splitStatements(body)+"\n  return %y\n}"), "in.fx")
	require.NoError(t, err)
	return m
}

// splitStatements puts the first statement on a line of its own.
func splitStatements(body string) string {
	for i := range len(body) - 3 {
		if body[i:i+3] == ") {" {
			return body[:i+3] + "\n" + body[i+3:]
		}
	}
	return body
}
