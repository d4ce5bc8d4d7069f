package torchpt

import "github.com/gofx-dev/gofx/array"

// dtype is an element type of PyTorch.
type dtype struct {
	name    string // torch.name
	storage string // the class of storages that stands for it in pickles, "" for none
	scalar  int    // ScalarType in torch.export's JSON, 0 for none
	size    int
	dtype   array.DType // Invalid where arrays have none: refused when it is read
}

var dtypes = [...]dtype{
	{"float32", "FloatStorage", 7, 4, array.F32},
	{"float64", "DoubleStorage", 8, 8, array.F64},
	{"float16", "HalfStorage", 6, 2, array.F16},
	{"bfloat16", "BFloat16Storage", 13, 2, array.BF16},
	{"int8", "CharStorage", 2, 1, array.I8},
	{"uint8", "ByteStorage", 1, 1, array.U8},
	{"int16", "ShortStorage", 3, 2, array.I16},
	{"uint16", "", 28, 2, array.U16},
	{"int32", "IntStorage", 4, 4, array.I32},
	{"uint32", "", 34, 4, array.U32},
	{"int64", "LongStorage", 5, 8, array.I64},
	{"uint64", "", 35, 8, array.U64},
	{"bool", "BoolStorage", 12, 1, array.Bool},
	{"complex32", "", 9, 4, array.Invalid},
	{"complex64", "ComplexFloatStorage", 10, 8, array.Invalid},
	{"complex128", "ComplexDoubleStorage", 11, 16, array.Invalid},
	{"float8_e4m3fn", "", 29, 1, array.F8E4M3FN},
	{"float8_e5m2", "", 30, 1, array.F8E5M2},
	{"float8_e4m3fnuz", "", 31, 1, array.F8E4M3FNUZ},
	{"float8_e5m2fnuz", "", 32, 1, array.F8E5M2FNUZ},
	{"float8_e8m0fnu", "", 33, 1, array.F8E8M0FNU},
}

// find returns the first type that is so, nil when none is.
func find(is func(d *dtype) bool) *dtype {
	for i := range dtypes {
		if is(&dtypes[i]) {
			return &dtypes[i]
		}
	}
	return nil
}

// ScalarType returns the element type that a number of torch.export's schema stands for, and PyTorch's name
// of it. The element type is Invalid where arrays have none like it; the name is "" for no type at all.
func ScalarType(number int) (d array.DType, name string) {
	if t := find(func(t *dtype) bool { return t.scalar == number && number != 0 }); t != nil {
		return t.dtype, t.name
	}
	return array.Invalid, ""
}
