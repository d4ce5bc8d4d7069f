package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// narrowCasts are casts to and from the types that only hold values.
func narrowCasts(g *op.Gen) (all []op.Sample) {
	add := func(name string, a CastAttrs, x *array.Array) { all = append(all, okCall(name, a, x)) }
	for _, d := range array.NarrowDTypes() {
		to := CastAttrs{DType: d}
		add("special to "+d.String(), to, g.Special())
		add("strided to "+d.String(), to, g.Strided(array.Cast(g.Uniform(-9, 9, 3, 5), array.F16)))
		add("from "+d.String(), CastAttrs{DType: array.F32}, codes(g, d, 7, 40))
	}
	for _, d := range []array.DType{array.F8E4M3FN, array.F8E4M3FNUZ, array.F8E5M2, array.F8E5M2FNUZ, array.F8E8M0FNU} {
		add("unsaturated "+d.String(), CastAttrs{DType: d, Unsaturated: true}, g.Special())
	}
	add("powers down", CastAttrs{DType: array.F8E8M0FNU, Round: "down"}, g.Uniform(0.1, 9, 30))
	add("powers nearest", CastAttrs{DType: array.F8E8M0FNU, Round: "nearest", Unsaturated: true}, g.Uniform(0.1, 9, 30))
	add("i64 to f8e5m2", CastAttrs{DType: array.F8E5M2}, g.Int(1<<40, 20))
	add("f8 to f8", CastAttrs{DType: array.F8E4M3FNUZ}, codes(g, array.F8E5M2, 256))
	add("u4 to i2", CastAttrs{DType: array.I2}, codes(g, array.U4, 16))
	add("f8 to i4", CastAttrs{DType: array.I4}, codes(g, array.F8E4M3FN, 256))
	add("i4 to bool", CastAttrs{DType: array.Bool}, codes(g, array.I4, 3, 16))
	add("zero size", CastAttrs{DType: array.F4E2M1FN}, g.Normal(0, 3))
	add("0-dimensional", CastAttrs{DType: array.U2}, g.Normal())
	return all
}
