package tensor

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// Expect states the types that a program is right for, those of the inputs in
// their order, separated by semicolons: Expect("f32[N,3]; f32[N]", x, y). A name is
// one size in all of them. Other inputs are refused: at once, or by what a trace
// records. An absent input (nil) is not looked at. Generated code begins with it.
func Expect(types string, inputs ...*Tensor) {
	sizes := map[string]Size{}
	for i, text := range strings.Split(types, ";") {
		want, err := shape.ParseType(strings.TrimSpace(text))
		if err != nil || i >= len(inputs) {
			panic((&diag.Error{Code: kernel.CodeArgument, Op: "Expect", Msg: strconv.Itoa(len(inputs)) + " inputs for the types " + strconv.Quote(types), Err: err}).At(diag.Here()))
		}
		if x := inputs[i]; x != nil {
			x.expect(want, i, sizes)
		}
	}
}

func (x *Tensor) expect(want shape.Type, index int, sizes map[string]Size) {
	got := x.Type()
	misfit := func() {
		panic((&diag.Error{Code: kernel.CodeArgument, Op: "Expect", Msg: "input " + strconv.Itoa(index) + " is " + got.String() + ", the program was captured for " + want.String(),
			Hint: "capture it again for these inputs, or with symbolic sizes"}).At(diag.Here()))
	}
	if d := want.DType(); d != array.Invalid && got.DType() != array.Invalid && d != got.DType() || want.Ranked() && got.Ranked() && want.Rank() != got.Rank() {
		misfit()
	}
	if !want.Ranked() || !got.Ranked() {
		return
	}
	for axis, d := range want.Dims().Slice() {
		if d.IsUnknown() {
			continue
		}
		have := x.Size(axis)
		if name, plain := d.IsSymbol(); plain {
			if _, known := sizes[name]; !known {
				sizes[name] = have
				continue
			}
		}
		e := have.e
		d = d.Bind(func(name string) shape.Dim {
			s, known := sizes[name]
			if !known {
				return shape.Unknown
			}
			if e == nil {
				e = s.e
			}
			return s.d
		})
		n, number := have.d.Int()
		k, known := d.Int()
		switch {
		case d.IsUnknown() || have.d.Equal(d):
		case number && known && n != k:
			misfit()
		default:
			have.MustEqual(Size{d: d, e: e})
		}
	}
}
