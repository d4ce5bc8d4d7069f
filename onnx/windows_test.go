package onnx

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWindowsOfOpenSizes: padding that follows from sizes is that of the sizes as numbers,
// which ONNX Runtime agrees with (TestModelsAsONNXRuntime).
func TestWindowsOfOpenSizes(t *testing.T) {
	nodes := []string{
		`y = Conv<%s>(x, w)`, `y = MaxPool<kernel_shape=[%d,%d], %s>(x)`, `y, i = MaxPool<kernel_shape=[%d,%d], %s>(x)`, `y = AveragePool<kernel_shape=[%d,%d], %s>(x)`,
		`y = AveragePool<kernel_shape=[%d,%d], count_include_pad=1, %s>(x)`, `y = LpPool<kernel_shape=[%d,%d], %s>(x)`,
	}
	var models []string
	for _, k := range [][2]int{{3, 3}, {2, 2}, {3, 2}, {1, 1}, {5, 2}} {
		for _, s := range [][2]int{{2, 2}, {3, 2}, {1, 4}} {
			strides := fmt.Sprintf("strides=[%d,%d]", s[0], s[1])
			for at, node := range nodes {
				for _, rest := range []string{`auto_pad="SAME_UPPER"`, `auto_pad="SAME_LOWER"`, "ceil_mode=1", "ceil_mode=1, pads=[0,0,1,1]", "ceil_mode=1, pads=[1,0,0,1]"} {
					ceil := rest[0] == 'c'
					switch {
					case at == 0 && !ceil:
						models = append(models, fmt.Sprintf(`<float[2,2,%d,%d] w = {%s}> { `+node+` }`, k[0], k[1], ones(4*k[0]*k[1]), strides+", "+rest))
					case at > 0 && (k != [2]int{1, 1} || rest != "ceil_mode=1, pads=[0,0,1,1]" && rest != "ceil_mode=1, pads=[1,0,0,1]"):
						models = append(models, fmt.Sprintf(`{ `+node+` }`, k[0], k[1], strides+", "+rest))
					}
				}
			}
		}
	}
	for _, shape := range []string{"9,9", "12,11", "16,8"} {
		for _, auto := range []string{"", `, auto_pad="SAME_UPPER"`} {
			models = append(models, fmt.Sprintf(`<float[2,3,3,2] w = {%s}, float[3] b = {1,2,3}> { y = ConvTranspose<strides=[2,2], output_shape=[%s]%s>(x, w, b) }`, ones(36), shape, auto))
		}
	}
	for _, body := range models {
		src := func(dims string) string {
			return head + `(float[` + dims + `] x) => (float y) ` + body
		}
		open := fromText(src("N,2,H,W"))
		_, err := open.Import(Options{})
		require.NoError(t, err, body)
		for _, d := range [][2]int{{5, 6}, {8, 7}} {
			x := numbers(23, 1, 2, d[0], d[1])
			got, want := runText(t, src("N,2,H,W"), x), runText(t, src(fmt.Sprintf("1,2,%d,%d", d[0], d[1])), x)
			require.Equal(t, want[0].Shape(), got[0].Shape(), body)
			require.NoError(t, compare(got[0], want[0]), body)
		}
	}
}

// ones are the numbers 1, 2, 1 and so on of a constant.
func ones(n int) string {
	text := "1"
	for i := 1; i < n; i++ {
		text += []string{",1", ",2"}[i%2]
	}
	return text
}
