package xlajax

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

const identity = `module @m {
  func.func public @main(%arg0: tensor<2x3xT>) -> (tensor<2x3xT>) {
    "func.return"(%arg0) : (tensor<2x3xT>) -> ()
  }
}
`

// Arguments of each element type come back as they are, and programs that XLA refuses leave the others alone.
func TestRun(t *testing.T) {
	r := Start(t)
	var programs []Job
	for _, c := range []struct {
		d    array.DType
		name string
	}{{array.F32, "f32"}, {array.F64, "f64"}, {array.F16, "f16"}, {array.BF16, "bf16"}, {array.I8, "i8"}, {array.I16, "i16"}, {array.I32, "i32"},
		{array.I64, "i64"}, {array.U8, "ui8"}, {array.U16, "ui16"}, {array.U32, "ui32"}, {array.U64, "ui64"}, {array.Bool, "i1"}} {
		a := array.New(c.d, 2, 3)
		for i := range a.Len() {
			array.SetFloat64At(a, i, float64(i%2))
		}
		programs = append(programs, Job{strings.ReplaceAll(identity, "T", c.name), [][]*array.Array{{a}, {a}}})
	}
	require.Len(t, programs, len(typeNames))
	programs = append(programs, Job{Text: "module {"}, Job{Text: strings.ReplaceAll(identity, "T", "f32")})
	out, err := r.Run(programs...)
	require.NoError(t, err)
	for i, p := range programs {
		if p.Text == "module {" {
			var refused Refusal
			require.ErrorAs(t, out[i].Err, &refused)
			continue
		}
		require.NoError(t, out[i].Err)
		require.Len(t, out[i].Runs, len(p.Runs))
		for k, args := range p.Runs {
			require.Equal(t, args[0].DType(), out[i].Runs[k][0].DType())
			require.Equal(t, array.Bytes(args[0]), array.Bytes(out[i].Runs[k][0]))
		}
	}
}

// The answers of a process, without running one.
func TestAnswers(t *testing.T) {
	ask := func(answer string) ([]Outcome, string, error) {
		var asked bytes.Buffer
		r := &Runtime{in: bufio.NewWriter(&asked), out: bufio.NewReader(strings.NewReader(answer))}
		out, err := r.Run(Job{"p", [][]*array.Array{{array.FromSlice([]int16{1, 2}, 2)}}})
		return out, asked.String(), err
	}
	out, asked, err := ask(`{"programs":[{"runs":[[{"dtype":"uint8","dims":[2]}]]}]}` + "\nab")
	require.NoError(t, err)
	require.Equal(t, []uint8("ab"), array.Data[uint8](out[0].Runs[0][0]))
	require.Equal(t, `{"programs":[{"text":"p","runs":[[{"dtype":"int16","dims":[2]}]]}]}`+"\n\x01\x00\x02\x00", asked)
	out, _, err = ask(`{"programs":[{"error":"no\n"}]}` + "\n")
	require.NoError(t, err)
	require.Equal(t, Refusal("no"), out[0].Err)
	for _, answer := range []string{"", "{}x\n", "{}\n", `{"programs":[{"runs":[[{"dtype":"uint8","dims":[2]}]]}]}` + "\na",
		`{"programs":[{"runs":[[{"dtype":"complex64","dims":[]}]]}]}` + "\n"} {
		_, _, err = ask(answer)
		require.Error(t, err, answer)
	}
	_, err = (&Runtime{}).Run(Job{"p", [][]*array.Array{{array.New(array.I4, 2)}}})
	require.ErrorContains(t, err, "argument 0")
}

// An argument that the program gives up is taken, where a result fits into it.
func TestTaken(t *testing.T) {
	r := Start(t)
	text := strings.ReplaceAll(identity, "T", "f32")
	text = strings.Replace(text, "%arg0: tensor<2x3xf32>", "%arg0: tensor<2x3xf32> {jax.buffer_donor = true}", 1)
	a := array.New(array.F32, 2, 3)
	out, err := r.Run(Job{text, [][]*array.Array{{a}}})
	require.NoError(t, err)
	require.NoError(t, out[0].Err)
	require.Equal(t, [][]int{{0}}, out[0].Taken)
}

func TestStartOfNothing(t *testing.T) {
	_, err := start(exec.Command(os.DevNull))
	require.Error(t, err)
}

// TestOneProcess: tests share it, until it ends, which the one that asks it next is told.
func TestOneProcess(t *testing.T) {
	r := Start(t)
	require.Same(t, r, Start(t))
	ended, err := start(exec.Command("true"))
	require.NoError(t, err)
	_, err = ended.Run(Job{Text: "p"})
	require.Error(t, err)
	require.False(t, ended.Alive())
	require.True(t, r.Alive())
}
