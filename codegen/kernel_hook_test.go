package codegen_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// said is the argument of Say's calls.
var said []string

// Say only has an effect.
func Say(x, scale *tensor.Tensor) {
	line := "say"
	for _, v := range []*tensor.Tensor{x, scale} {
		line += " nil"
		if v != nil {
			a := array.Contiguous(v.Array())
			line = strings.TrimSuffix(line, " nil") + fmt.Sprintf(" %v%.3f", a.Shape(), array.Data[float32](a))
		}
	}
	said = append(said, line)
}

var say = tensor.Wrap(Say)

// talker says something before, in and after modules, branches and rounds.
type talker struct{ Layers []*talkingLayer }

type talkingLayer struct{ Up, Down *nn.Linear }

func (l *talkingLayer) Forward(x *tensor.Tensor) *tensor.Tensor {
	up := nn.Run(l.Up, x)
	say(up, x)
	return nn.Run(l.Down, up.Tanh())
}

func (m *talker) Forward(x, up *tensor.Tensor) *tensor.Tensor {
	say(x.Transpose(0, 1), nil)
	for _, l := range m.Layers {
		x = nn.Run(l, x)
	}
	speak := func(by float64) func([]*tensor.Tensor) []*tensor.Tensor {
		return func(v []*tensor.Tensor) []*tensor.Tensor {
			y := v[0].MulScalar(by)
			say(y, v[0])
			return []*tensor.Tensor{y}
		}
	}
	x = tensor.Cond(up, speak(2), speak(-1), x)[0]
	sums, _ := tensor.Scan(func(carry, rows []*tensor.Tensor) (next, out []*tensor.Tensor) {
		sum := carry[0].Add(rows[0])
		say(sum, rows[0])
		return []*tensor.Tensor{sum}, nil
	}, []*tensor.Tensor{x.Select(0, 0).MulScalar(0)}, []*tensor.Tensor{x})
	say(sums[0], nil)
	return sums[0]
}

// talking is a case whose program calls a hook; the hook must receive the same values
// as the function.
func talking(t *testing.T, g *op.Gen) *kernelCase {
	net := &talker{}
	for range 3 {
		net.Layers = append(net.Layers, &talkingLayer{nn.NewLinear(2, 3), nn.NewLinear(3, 2)})
	}
	x := array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	m := traced(t, net, encoderSpec("f32[N,2]"), models.InputSpec{Name: "up", Type: "bool[]"})
	said = nil
	_, err := (&interp.Interpreter{State: interp.NewState(m)}).Run(background, tensor.New(x), tensor.New(array.Scalar(true)))
	require.NoError(t, err)
	require.Len(t, said, 1+3+1+3+1)
	return &kernelCase{name: "talking", module: m, flat: true, flow: true, symbols: []string{"N"},
		inputs: [][]*array.Array{{x, array.Scalar(true)}, {g.Normal(1, 2), array.Scalar(false)}}, sizes: [][]int{{3}, {1}},
		extra: `
		var said []string
		m.Hook = func(function, node string, args []*array.Array) {
			line := "say"
			for _, a := range args {
				if a == nil {
					line += " nil"
					continue
				}
				a = array.Contiguous(a)
				line += fmt.Sprintf(" %v%.3f", a.Shape(), array.Data[float32](a))
			}
			if said = append(said, line); function != "github.com/gofx-dev/gofx/codegen_test.Say" || !strings.Contains(strings.ToLower(node), "say") {
				failure(errors.New("function " + function + ", node " + node))
			}
		}
		_, err = m.Forward(ctx, array.DenseOf([]float32{1, 2, 3, 4, 5, 6}, 3, 2), array.Dense[bool]{array.Scalar(true)})
		check(err)
		if got, want := strings.Join(said, "\n"), ` + strconv.Quote(strings.Join(said, "\n")) + `; got != want {
			failure(errors.New(got + " expected " + want))
		}
		m.Hook = func(string, string, []*array.Array) { panic("no") }
		_, err = m.Forward(ctx, array.NewDense[float32](1, 2), array.NewDense[bool]())
		failure(err)
`}
}

// Echo has an effect and a value.
func Echo(x *tensor.Tensor) *tensor.Tensor { return x.Clone() }

var echo = tensor.Wrap(Echo, tensor.Signature("f32[N,2] -> f32[N,2]"))

func TestValuesOfEffectsAreRefused(t *testing.T) {
	m := traced(t, func(x *tensor.Tensor) *tensor.Tensor { return echo(x).Neg() }, encoderSpec("f32[N,2]"))
	e, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	_, err = codegen.Kernel(e.Plan(), nil, codegen.KernelOptions{})
	require.ErrorIs(t, err, codegen.CodeHost)
	require.ErrorContains(t, err, "has effects and gives a value")
	require.ErrorContains(t, err, "let the function return nothing")
}
