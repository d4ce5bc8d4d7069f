package lowering_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
)

// TestSplitExact: what a view is multiplied by has the interpreter's bits, whatever part makes the view.
func TestSplitExact(t *testing.T) {
	for name, text := range map[string]string{
		"transpose": `graph g(%x: f32[1,7,17]) {
  %w = get_attr[w] : f32[12,17]
  %t = call_function[transpose](%w) {dim0=0, dim1=1}
  %y = call_function[matmul](%x, %t)
  return %y
}
param w : f32[12,17]
`,
		"of a value": `graph g(%x: f32[12,17]) {
  %r = call_function[exp](%x)
  %t = call_function[permute](%r) {dims=[1,0]}
  %y = call_function[matmul](%x, %t)
  %s = call_function[sum](%t) {dim=[1]}
  %z = call_function[slice](%t) {start=3, stop=9}
  %u = call_function[matmul](%y, %x)
  return %y, %s, %z, %u
}
`,
		"in a body": `graph g(%p: bool[], %x: f32[12,17]) {
  %t = call_function[cond](%p, %x) {
    region yes(%a: f32[12,17]) {
      %v = call_function[transpose](%a) {dim0=0, dim1=1}
      return %v
    }
    region no(%a: f32[12,17]) {
      %v = call_function[transpose](%a) {dim0=0, dim1=1}
      %e = call_function[exp](%v)
      return %e
    }
  }
  %y = call_function[matmul](%x, %t)
  return %y
}
`} {
		t.Run(name, func(t *testing.T) {
			m := parse(t, text)
			var g op.Gen
			for _, p := range m.Params() {
				_, dims, _ := p.TypeOf().Concrete()
				m.SetParam(graph.Param{Path: p.Path, Value: g.Normal(dims...)})
			}
			var in []*array.Array
			for _, n := range m.Graph.Inputs() {
				_, dims, _ := n.Type().Concrete()
				if n.Type().DType() == array.Bool {
					in = append(in, array.Scalar(true))
					continue
				}
				in = append(in, g.Normal(dims...))
			}
			want := interpret(t, m, in)
			for _, o := range []string{"none", "transpose", "permute", "matmul", "exp", "cond"} {
				got, err := pieces(t, m, only(o), lowering.Options{Exact: true}).Run(ctx, in)
				require.NoError(t, err)
				require.Empty(t, fxtest.SameArrays(want, got), o)
			}
		})
	}
}

// TestPartsKeepOptions: a part is compiled with all options but those that name things of the whole,
// fields that come later included.
func TestPartsKeepOptions(t *testing.T) {
	var o lowering.Options
	v := reflect.ValueOf(&o).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Map:
			f.Set(reflect.ValueOf(map[string]int{"N": 2}))
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int:
			f.SetInt(2)
		case reflect.Int64:
			f.SetInt(1 << 30)
		case reflect.Struct:
			f.Set(reflect.ValueOf(lowering.Measure{On: true}))
		default:
			require.Contains(t, []string{"Weights", "Products"}, v.Type().Field(i).Name, "give the new field a value here")
			f.Set(reflect.ValueOf(array.BF16))
		}
	}
	whole := map[string]bool{"Shapes": true, "Outputs": true, "Donate": true, "Into": true}
	given := []lowering.Options{o.ForPart()}
	m := mixedModule(t)
	first := asked{only("linear"), &given}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		require.Equal(t, whole[name], reflect.ValueOf(given[0]).Field(i).IsZero(), name)
	}
	o.Into = nil                        // which a split refuses
	exact, rounded, products := o, o, o // each two of them contradict each other
	exact.Weights, exact.Products = array.Invalid, array.Invalid
	rounded.Exact, rounded.Products = false, array.Invalid
	products.Exact, products.Weights = false, array.Invalid
	for _, o := range []lowering.Options{exact, rounded, products} {
		given = nil
		_, err := lowering.Split{First: first, Rest: lowering.Split{First: asked{only("exp"), &given}, Rest: asked{share(1, 100), &given}}}.Compile(m, o)
		require.NoError(t, err)
		require.Greater(t, len(given), 2)
		for _, part := range given {
			require.Equal(t, o.ForPart(), part)
		}
	}
}

// asked notes the options that it compiles with.
type asked struct {
	picky
	given *[]lowering.Options
}

func (a asked) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	*a.given = append(*a.given, o)
	return cpu.Compile(m, o)
}
