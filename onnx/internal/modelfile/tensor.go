package modelfile

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
)

// DTypeOf returns the element type of arrays, or an error with the types there are.
func DTypeOf(t pb.DataType) (array.DType, *diag.Error) {
	if d, ok := spec.DTypes[t]; ok {
		return d, nil
	}
	return array.Invalid, diag.New(spec.CodeType, "element type "+t.String()+" is not supported").
		WithHint("floats of 4 to 64 bits, integers of 2 to 64 and bool are")
}

// dims checks the sizes of a tensor and returns their product.
func TensorDims(t *pb.Tensor) (dims []int, n int, err *diag.Error) {
	if err := CheckRank("tensor "+diag.Quote(t.Name), len(t.Dims)); err != nil {
		return nil, 0, err
	}
	dims = make([]int, len(t.Dims))
	for i, d := range t.Dims {
		if d < 0 || d > math.MaxInt {
			return nil, 0, diag.New(spec.CodeTensor, "tensor "+diag.Quote(t.Name)+" has the size "+strconv.FormatInt(d, 10))
		}
		dims[i] = int(d)
	}
	n, ok := array.NumElems(dims)
	if !ok {
		return nil, 0, diag.New(spec.CodeTensor, "tensor "+diag.Quote(t.Name)+" has more elements than there are addresses")
	}
	return dims, n, nil
}

// MostDims is how many dimensions a tensor may have, as in the other formats.
const MostDims = 64

// MostRank is that of an input whose rank is said from outside.
const MostRank = 64

// CheckRank refuses a rank above MostDims; what names the tensor.
func CheckRank(what string, rank int) *diag.Error {
	if rank > MostDims {
		return diag.New(spec.CodeTensor, what+" has "+strconv.Itoa(rank)+" dimensions, expected at most "+strconv.Itoa(MostDims))
	}
	return nil
}

// ArrayOf returns a tensor's value. It shares the file's memory where that is in order.
// external gives the bytes of data outside of the file.
func ArrayOf(t *pb.Tensor, external func(*pb.Tensor) ([]byte, *diag.Error)) (*array.Array, *diag.Error) {
	d, err := DTypeOf(t.Type)
	if err != nil {
		return nil, err
	}
	dims, n, err := TensorDims(t)
	if err != nil {
		return nil, err
	}
	raw := t.Raw
	switch {
	case t.Location == inFile:
		if external == nil {
			return nil, diag.New(spec.CodeExternal, "tensor "+diag.Quote(t.Name)+" has its data in another file, which is possible in a model only")
		}
		if raw, err = external(t); err != nil {
			return nil, err
		}
	case t.Raw == nil && t.Type == pb.Float:
		raw = t.Floats
	case t.Raw == nil && t.Type == pb.Double:
		raw = t.Doubles
	case t.Raw == nil:
		return typed(t, d, dims, n)
	}
	if n > math.MaxInt/8 || len(raw) != array.PackedLen(d, n) {
		return nil, wrongLength(t, len(raw), "bytes", array.Describe(d, dims))
	}
	return overBytes(unpacked(raw, d, n), d, dims), nil
}

// unpacked returns n elements that files pack as arrays hold them.
func unpacked(raw []byte, d array.DType, n int) []byte {
	if d.Bits() >= 8 {
		return raw
	}
	out := make([]byte, n)
	array.Unpack(d, out, raw)
	return out
}

func wrongLength(t *pb.Tensor, n int, of, typ string) *diag.Error {
	return diag.New(spec.CodeTensor, "tensor "+diag.Quote(t.Name)+" has "+strconv.Itoa(n)+" "+of+" of data, which are no "+typ)
}

// overBytes makes an array of little-endian bytes, which must be exactly as many as
// it needs; it shares them where the machine can read them as they lie.
func overBytes(raw []byte, d array.DType, dims []int) *array.Array {
	size := d.Size()
	if d == array.Bool && !array.AreTruths(raw) {
		raw = append([]byte(nil), raw...)
		array.Truths(raw)
	}
	if !spec.LittleEndian || !array.Readable(raw, d) {
		raw = append(make([]byte, 0, len(raw)), raw...)
	}
	if !spec.LittleEndian {
		for i := 0; i < len(raw); i += size {
			for j, k := i, i+size-1; j < k; j, k = j+1, k-1 {
				raw[j], raw[k] = raw[k], raw[j]
			}
		}
	}
	a := &array.Array{}
	a.Reset(d, dims)
	a.SetStorage(array.WrapBytes(raw), 0)
	return a
}

// typed reads values of the typed fields other than float and double.
func typed(t *pb.Tensor, d array.DType, dims []int, n int) (*array.Array, *diag.Error) {
	values := t.Int32s
	switch t.Type {
	case pb.Int64:
		values = t.Int64s
	case pb.Uint32, pb.Uint64:
		values = t.Uint64s
	}
	if n > math.MaxInt/8 || len(values) != array.PackedLen(d, n)/d.Size() { // each value is a byte of packed elements
		return nil, wrongLength(t, len(values), "values", array.Describe(d, dims))
	}
	raw := make([]byte, 0, len(values)*d.Size())
	for _, v := range values {
		switch d.Size() { // 16-bit floats come as their bits
		case 1:
			raw = append(raw, byte(v))
		case 2:
			raw = binary.LittleEndian.AppendUint16(raw, uint16(v))
		case 4:
			raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
		default:
			raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
		}
	}
	return overBytes(unpacked(raw, d, n), d, dims), nil
}
