package op

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"

	"github.com/gofx-dev/gofx/shape"
)

// AppendKey appends a canonical encoding of the attributes to key. Attributes
// are equal exactly when their keys are (floats by their bits). With params
// false the fields marked param are left out: the structural key of caches.
func (c *Codec) AppendKey(key []byte, a any, params bool) []byte {
	key, _ = c.appendKey(key, a, params, nil, false)
	return key
}

// AppendSkeleton appends an encoding of the attributes without the numbers that are sizes,
// and these to sizes: attributes are equal exactly when both are.
func (c *Codec) AppendSkeleton(key []byte, a any, sizes []int) ([]byte, []int) {
	return c.appendKey(key, a, true, sizes, true)
}

func (c *Codec) appendKey(key []byte, a any, params bool, sizes []int, apart bool) ([]byte, []int) {
	v := reflect.ValueOf(a)
	str := func(s string) {
		key = binary.AppendUvarint(key, uint64(len(s)))
		key = append(key, s...)
	}
	for _, f := range c.fields {
		if f.param && !params {
			continue
		}
		fv := v.Field(f.index)
		switch f.kind {
		case kindBool:
			if fv.Bool() {
				key = append(key, 1)
			} else {
				key = append(key, 0)
			}
		case kindInt:
			key = binary.AppendVarint(key, fv.Int())
		case kindFloat:
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(fv.Float()))
		case kindString:
			str(fv.String())
		case kindDType:
			key = append(key, byte(fv.Uint()))
		case kindInts:
			str(fv.Interface().(Ints).enc)
		case kindFloats:
			str(fv.Interface().(Floats).ints.enc)
		case kindScalar:
			s := fv.Interface().(Scalar)
			key = append(key, s.kind)
			key = binary.LittleEndian.AppendUint64(key, s.bits)
		default:
			dims := f.dims(fv)
			if !apart {
				str(fv.Interface().(interface{ String() string }).String())
				continue
			}
			key = binary.AppendUvarint(key, uint64(len(dims)))
			for _, d := range dims {
				n, known := d.Int()
				if known {
					sizes = append(sizes, n)
					key = append(key, 0)
					continue
				}
				key = append(key, 1)
				str(d.String())
			}
		}
	}
	return key, sizes
}

// dims are the sizes of a field that has such.
func (f field) dims(v reflect.Value) []shape.Dim {
	if f.kind == kindDim {
		return []shape.Dim{v.Interface().(shape.Dim)}
	}
	return v.Interface().(shape.Dims).Slice()
}

// Resized returns the attributes with other sizes in the place of those that AppendSkeleton
// takes out, in its order, and the sizes that are left.
func (c *Codec) Resized(a any, sizes []shape.Dim) (any, []shape.Dim) {
	v := reflect.New(c.typ).Elem()
	v.Set(reflect.ValueOf(a))
	for _, f := range c.fields {
		if f.kind != kindDim && f.kind != kindDims {
			continue
		}
		dims := f.dims(v.Field(f.index))
		for i, d := range dims {
			if _, known := d.Int(); known {
				dims[i], sizes = sizes[0], sizes[1:]
			}
		}
		if f.kind == kindDim {
			v.Field(f.index).Set(reflect.ValueOf(dims[0]))
		} else {
			v.Field(f.index).Set(reflect.ValueOf(shape.Of(dims...)))
		}
	}
	return v.Interface(), sizes
}

// HasParams reports whether a field is marked `param`.
func (c *Codec) HasParams() bool {
	return slices.ContainsFunc(c.fields, func(f field) bool { return f.param })
}

// Equal reports whether two attributes of the codec's type are equal.
func (c *Codec) Equal(a, b any) bool {
	if len(c.fields) == 0 {
		return true
	}
	if c.plain {
		return a == b
	}
	var ka, kb [128]byte
	return string(c.AppendKey(ka[:0], a, true)) == string(c.AppendKey(kb[:0], b, true))
}
