package codegen_test

import (
	"fmt"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
)

// extremes are numbers that a decimal literal does not have, or only just.
var extremes = struct {
	floats []float64
	ints   []int64
	uints  []uint64
}{
	[]float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat32, math.MaxFloat32, 0.1},
	[]int64{math.MaxInt64, math.MinInt64, -1, 1<<53 + 1},
	[]uint64{math.MaxUint64, 1, 1 << 63, 1<<53 + 1},
}

// overwrite puts extreme numbers into every field that holds numbers; numbers that
// name something stay, since the named thing must exist.
func overwrite(v reflect.Value, k int) {
	switch v.Interface().(type) {
	case array.DType, kernel.Code, kernel.Activation, kernel.ConvWay, *kernel.Program, []kernel.Instr:
		return
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		v.SetFloat(extremes.floats[k%len(extremes.floats)])
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		shift := 64 - v.Type().Bits()
		v.SetInt(extremes.ints[k%len(extremes.ints)] >> shift)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		shift := 64 - v.Type().Bits()
		v.SetUint(extremes.uints[k%len(extremes.uints)] >> shift)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		} else {
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)) // the sample keeps its own
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			overwrite(v.Index(i), k+i)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				overwrite(v.Field(i), k+i)
			}
		}
	}
}

// everyStep returns a step of every kind that the samples of operators and some networks have.
func everyStep(t *testing.T) []any {
	t.Helper()
	steps := map[reflect.Type]any{}
	add := func(m *graph.Module) {
		ready, err := lowering.Prepare(m, lowering.Options{})
		require.NoError(t, err)
		p, err := cpu.Plan(ready, lowering.Options{})
		require.NoError(t, err)
		for _, s := range p.Steps {
			steps[reflect.TypeOf(s.Kernel)] = s.Kernel
		}
		for _, b := range p.Buffers {
			if b.Pack != nil {
				steps[reflect.TypeOf(b.Pack)] = b.Pack
			}
		}
	}
	for _, o := range op.All() {
		for i, s := range o.Samples() {
			if o.Structural() || o.AdHoc || i%4 > 0 {
				continue
			}
			if m, err := callOf(o, s, graph.CallFunction); err == nil {
				add(m)
			}
		}
	}
	for _, name := range []string{"resnet18", "mobilenet_v3_large", "deep_recommender"} {
		add(zoo(t, name))
	}
	list := make([]any, 0, len(steps))
	for typ, s := range steps {
		if token.IsExported(typ.Elem().Name()) { // control flow is printed as statements
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b any) int {
		return strings.Compare(reflect.TypeOf(a).String(), reflect.TypeOf(b).String())
	})
	return list
}

// flat drops the addresses that %#v prints.
func flat(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !v.Type().Field(i).IsExported() {
			continue
		}
		switch f.Kind() {
		case reflect.Pointer, reflect.Interface:
			f.SetZero()
		case reflect.Struct:
			flat(f)
		case reflect.Slice:
			if e := f.Type().Elem().Kind(); e == reflect.Pointer || e == reflect.Interface {
				f.SetZero()
			}
		}
	}
}

// TestExtremeNumbersAreReadBack prints every kind of step with numbers that literals write in
// ways of their own, in every field, and has a program print the values it reads.
func TestExtremeNumbersAreReadBack(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: compiles a program of all steps")
	}
	var want []string
	file := jen.NewFile("main")
	steps := everyStep(t)
	require.Greater(t, len(steps), 80)
	file.Func().Id("main").Params().BlockFunc(func(g *jen.Group) {
		for _, s := range steps {
			for k := range extremes.floats {
				v := reflect.New(reflect.TypeOf(s).Elem())
				v.Elem().Set(reflect.ValueOf(s).Elem())
				flat(v.Elem())
				overwrite(v.Elem(), k)
				flat(v.Elem())
				want = append(want, fmt.Sprintf("%#v", v.Interface()))
				g.Qual("fmt", "Printf").Call(jen.Lit("%#v\n"), gosrc.Literal(v, gosrc.Holes{}))
			}
		}
	})
	dir := tempModule(t)
	write(t, filepath.Join(dir, "main.go"), []byte(file.GoString()))
	got := strings.Split(strings.TrimSpace(goTool(t, dir, nil, "run", ".")), "\n")
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i])
	}
}
