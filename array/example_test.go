package array_test

import (
	"fmt"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
)

func ExampleNew() {
	a := array.New(array.F32, 2, 3)
	array.Data[float32](a)[4] = 1.5
	fmt.Println(array.Format(a, 1000))
	fmt.Println(a.DType(), a.Shape(), a.Strides(), a.Len())
	// Output:
	// tensor([[0.0000, 0.0000, 0.0000],
	//         [0.0000, 1.5000, 0.0000]])
	// f32 [2 3] [3 1] 6
}

// FromSlice shares the slice.
func ExampleFromSlice() {
	data := []int64{1, 2, 3, 4, 5, 6}
	a := array.FromSlice(data, 2, 3)
	data[0] = 10
	fmt.Println(array.At[int64](a, 0, 0), array.At[int64](a, -1, -1))
	fmt.Println(array.FromSlice(data).Shape())
	// Output:
	// 10 6
	// [6]
}

func ExampleScalar() {
	a := array.Scalar(2.5)
	fmt.Println(a.Rank(), a.Len(), a.DType(), array.Float64At(a, 0))
	// Output: 0 1 f64 2.5
}

// Cast has one meaning on every machine.
func ExampleCast() {
	a := array.FromSlice([]float64{-1.9, 300, 1e30})
	fmt.Println(array.Data[int8](array.Cast(a, array.I8)))
	fmt.Println(array.Data[bool](array.Cast(a, array.Bool)))
	fmt.Println(array.Data[int8](array.Cast(array.FromSlice([]int64{300}), array.I8)))
	// Output:
	// [-1 127 127]
	// [true true true]
	// [44]
}

// Numbers one by one convert as Cast does.
func ExampleIntFromFloat64() {
	fmt.Println(array.IntFromFloat64(-1.9), array.UintFromFloat64(1.9))
	fmt.Println(array.HalfFromFloat64(array.OddFloat64(int64(2049))).Float32())
	// Output:
	// -1 1
	// 2048
}

// Views share the storage: a write to one shows in all.
func ExampleSlice() {
	a := array.FromSlice([]int32{0, 1, 2, 3, 4, 5, 6, 7}, 2, 4)
	odd := array.Slice(a, 1, 1, 4, 2)
	last := array.Select(a, 0, -1)
	array.SetInt64At(odd, 3, 70)
	fmt.Println(odd.Shape(), odd.Strides(), odd.Offset(), array.Data[int32](last))
	// Output: [2 2] [4 2] 1 [4 5 6 70]
}

func ExamplePermute() {
	a := array.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	t := array.Permute(a, 1, 0)
	fmt.Println(t.Shape(), t.IsContiguous(), array.Data[int32](array.Contiguous(t)))
	// Output: [3 2] false [1 4 2 5 3 6]
}

// Reshape gives nil where only a copy would do.
func ExampleReshape() {
	a := array.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(array.Reshape(a, 3, 2).Shape())
	fmt.Println(array.Reshape(array.Permute(a, 1, 0), 6) == nil)
	// Output:
	// [3 2]
	// true
}

func ExampleOverlap() {
	m := array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	first, second := array.Select(m, 0, 0), array.Select(m, 0, 1)
	fmt.Println(array.Overlap(m, first), array.Overlap(first, second), array.Overlap(m, array.Clone(m)))
	// Output: true false false
}

func ExampleExpand() {
	row := array.FromSlice([]int32{1, 2, 3})
	e := array.Expand(row, 2, 3)
	fmt.Println(e.Strides(), array.Data[int32](array.Contiguous(e)))
	// Output: [0 1] [1 2 3 1 2 3]
}

func ExampleFlip() {
	fmt.Println(array.Data[int32](array.Clone(array.Flip(array.FromSlice([]int32{1, 2, 3}), 0))))
	// Output: [3 2 1]
}

func ExampleDiagonal() {
	a := array.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(array.Data[int32](array.Clone(array.Diagonal(a, 1, 0, 1))))
	// Output: [2 6]
}

func ExampleUnsqueeze() {
	a := array.New(array.F32, 4)
	fmt.Println(array.Unsqueeze(a, 0).Shape(), array.Unsqueeze(a, -1).Shape())
	// Output: [1 4] [4 1]
}

func ExampleCopy() {
	dst, src := array.New(array.F32, 2, 2), array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	array.Copy(dst, array.Permute(src, 1, 0))
	fmt.Println(array.Data[float32](dst))
	// Output: [1 3 2 4]
}

// Equal compares bits.
func ExampleEqual() {
	zero := array.FromSlice([]float32{0})
	negative := array.FromSlice([]float32{0})
	array.Data[uint32](array.Make(array.U32, []int{1}, []int{1}, 0, negative.Storage()))[0] = 1 << 31
	fmt.Println(array.Data[float32](negative)[0] == 0, array.Equal(zero, negative))
	// Output: true false
}

func ExampleNumElems() {
	fmt.Println(array.NumElems([]int{2, 3, 4}))
	fmt.Println(array.NumElems([]int{1 << 40, 1 << 40}))
	// Output:
	// 24 true
	// 0 false
}

func ExampleFormat() {
	a := array.New(array.F16, 2, 100)
	array.SetFloat64At(a, 199, 1.0/3)
	fmt.Println(array.Format(a, 10))
	// Output:
	// tensor([[0.0000, 0.0000, 0.0000, ..., 0.0000, 0.0000, 0.0000],
	//         [0.0000, 0.0000, 0.0000, ..., 0.0000, 0.0000, 0.3333]], dtype=f16)
}

// Dense arrays carry their element type for the compiler.
func ExampleDenseOf() {
	double := func(x array.Dense[float32]) {
		for i, v := range x.Data() {
			x.Data()[i] = 2 * v
		}
	}
	x := array.DenseOf([]float32{1, 2}, 1, 2)
	double(x)
	fmt.Println(x.Data(), x.Shape(), array.NewDense[bool](3).DType())

	_, ok := array.AsDense[int64](x.Array)
	fmt.Println(ok)
	// Output:
	// [2 4] [1 2] bool
	// false
}

func ExampleParseDType() {
	d, ok := array.ParseDType("bf16")
	fmt.Println(d, ok, d.Size(), d.IsFloat(), array.DTypeOf[array.BFloat]() == d, len(array.DTypes()))
	// Output: bf16 true 2 true true 13
}

func ExampleHalfFromFloat32() {
	h, b := array.HalfFromFloat32(0.1), array.BFloatFromFloat32(0.1)
	fmt.Println(h.Float32(), b.Float32(), array.HalfFromFloat64(65520).Float32(), array.BFloatFromFloat64(1).Float32())
	// Output: 0.099975586 0.100097656 +Inf 1
}

func ExampleCastRounded() {
	x := array.FromSlice([]float32{3.3, 449, 1e6})
	fmt.Println(array.Format(array.Cast(x, array.F8E4M3FN), 9))
	fmt.Println(array.Format(array.CastRounded(x, array.F8E4M3FN, array.Unsaturated), 9))
	// Output:
	// tensor([  3.2500, 448.0000, 448.0000], dtype=f8e4m3fn)
	// tensor([  3.2500, 448.0000,      nan], dtype=f8e4m3fn)
}

func ExampleNarrowFromFloat64() {
	code := array.NarrowFromFloat64(array.F8E5M2, 3.3, 0)
	fmt.Printf("%#x is %g\n", code, array.NarrowFloats(array.F8E5M2)[code])
	// Output: 0x43 is 3.5
}

func ExampleUnpack() {
	a := array.New(array.I4, 3)
	array.Unpack(array.I4, array.Bytes(a), []byte{0x87, 0x0a})
	fmt.Println(array.Format(a, 9), array.PackedLen(array.I4, 3))
	// Output: tensor([ 7, -8, -6], dtype=i4) 2
}

func ExamplePack() {
	packed := make([]byte, array.PackedLen(array.U2, 5))
	array.Pack(array.U2, packed, array.Bytes(array.FromSlice([]array.Uint2{0, 1, 2, 3, 1})))
	fmt.Printf("%08b\n", packed)
	// Output: [11100100 00000001]
}

// What makes an array writes all of its elements.
func ExampleNewUncleared() {
	a := array.NewUncleared(array.F32, 2, 2)
	for i := range array.Data[float32](a) {
		array.Data[float32](a)[i] = float32(i)
	}
	fmt.Println(array.Data[float32](a), uintptr(unsafe.Pointer(&array.Data[float32](a)[0]))%array.Align)
	// Output: [0 1 2 3] 0
}

// Bytes are shared, but those of truths that are neither 0 nor 1.
func ExampleFromBytes() {
	b := array.NewStorage(8).Bytes()
	b[3], b[7] = 0x40, 0xc0
	a, shared := array.FromBytes(b, array.F32, 2)
	fmt.Println(array.Data[float32](a), shared)
	a, shared = array.FromBytes(b, array.Bool, 8)
	fmt.Println(array.Data[bool](a), shared)
	// Output:
	// [2 -2] true
	// [false false false true false false false true] false
}

// Numbers at an odd address can be read on most machines.
func ExampleReadable() {
	b := array.NewStorage(9).Bytes()
	fmt.Println(array.Readable(b, array.F32), array.Readable(b[1:], array.U8))
	// Output: true true
}
