package array

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestDTypes(t *testing.T) {
	require.Len(t, DTypes(), 13)
	for _, d := range DTypes() {
		got, ok := ParseDType(d.String())
		require.True(t, ok)
		require.Equal(t, d, got)
		require.Positive(t, d.Size())
		require.False(t, d.IsFloat() && d.IsInt())
	}
	for _, s := range []string{"", "?", "f31", "F32"} {
		_, ok := ParseDType(s)
		require.False(t, ok, s)
	}
	for _, d := range []DType{Invalid, 200} {
		require.Equal(t, "?", d.String())
		require.Zero(t, d.Size())
	}
	require.True(t, I64.IsSigned() && BF16.IsSigned() && !U8.IsSigned() && !Bool.IsSigned() && !Bool.IsInt())
	require.Equal(t, []DType{F32, F64, F16, BF16, I8, U8, I16, U16, I32, U32, I64, U64, Bool}, []DType{
		DTypeOf[float32](), DTypeOf[float64](), DTypeOf[Half](), DTypeOf[BFloat](), DTypeOf[int8](), DTypeOf[uint8](), DTypeOf[int16](),
		DTypeOf[uint16](), DTypeOf[int32](), DTypeOf[uint32](), DTypeOf[int64](), DTypeOf[uint64](), DTypeOf[bool](),
	})
}

func TestNewIsAlignedAndZero(t *testing.T) {
	for n := range 70 {
		a := New(U8, n)
		require.Len(t, a.Storage().Bytes(), n)
		require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(a.Storage().Bytes())))%Align)
		for _, b := range Data[uint8](a) {
			require.Zero(t, b)
		}
	}
}

func TestFromSliceSharesAndChecks(t *testing.T) {
	data := []float32{1, 2, 3, 4}
	a := FromSlice(data, 2, 2)
	data[3] = 9
	require.Equal(t, float32(9), At[float32](a, 1, 1))
	require.Panics(t, func() { FromSlice(data, 3) })
	require.Panics(t, func() { Data[int32](a) })
	require.Panics(t, func() { Data[float32](Permute(a, 1, 0)) })
	require.Equal(t, 2, a.Dim(-1))
	require.Empty(t, Data[bool](FromSlice([]bool{})))
}

func TestStorageVersionAndLayout(t *testing.T) {
	a := New(I32, 2, 3)
	require.Zero(t, a.Storage().Version())
	a.Storage().Bump()
	require.Equal(t, Now(), Permute(a, 1, 0).Storage().Version())
	var v Array
	v.SetLayout(a, []int{3}, []int{-1}, 2)
	require.Equal(t, []int{-1}, v.Strides())
	require.Equal(t, 2, v.Offset())
	SetInt64At(&v, 0, 5)
	require.Equal(t, int32(5), At[int32](a, 0, 2))
	s := NewStorage(64)
	v.SetStorage(s, 3)
	require.Same(t, s, v.Storage())
	require.Equal(t, 3, v.Offset())
	require.Zero(t, testing.AllocsPerRun(10, func() { v.Reset(F32, []int{4}) }))
	require.True(t, v.IsContiguous())
	require.True(t, New(F32, 0, 3).IsContiguous())
}

func TestFromBytes(t *testing.T) {
	b := []byte{2, 0, 1}
	a, shared := FromBytes(b, Bool, 3)
	require.False(t, shared)
	require.Equal(t, []byte{1, 0, 1}, Bytes(a))
	require.Equal(t, []byte{2, 0, 1}, b)
	a, shared = FromBytes(b[1:], Bool, 2)
	require.True(t, shared)
	require.Equal(t, []byte{0, 1}, Bytes(a))
	a, shared = FromBytes(nil, F32, 0, 4)
	require.False(t, shared)
	require.Equal(t, []int{0, 4}, a.Shape())
	require.Panics(t, func() { FromBytes(b, F32, 1) })
	require.Panics(t, func() { FromBytes(b, U8, 1<<40, 1<<40) })
	require.True(t, LittleEndian())
}
