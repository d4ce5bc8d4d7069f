package onnxpb

import (
	"encoding/hex"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

// The examples of the specification of the wire format, with ONNX's messages.
func TestWireByTheSpecification(t *testing.T) {
	m := &Model{}
	require.NoError(t, Read(unhex(t, "08 96 01"), m))
	require.Equal(t, int64(150), m.IRVersion)
	require.Equal(t, unhex(t, "08 96 01"), Append(nil, m))

	m = &Model{}
	require.NoError(t, Read(unhex(t, "12 07 74 65 73 74 69 6e 67"), m))
	require.Equal(t, "testing", m.ProducerName)

	want := []int64{3, 270, 86942}
	for _, text := range []string{"3a 06 03 8e 02 9e a7 05", "38 03 38 8e 02 38 9e a7 05", "3a 01 03 38 8e 02 3a 03 9e a7 05"} {
		x := &Tensor{}
		require.NoError(t, Read(unhex(t, text), x))
		require.Equal(t, want, x.Int64s, "packed, unpacked and mixed are the same")
	}
	require.Equal(t, unhex(t, "3a 06 03 8e 02 9e a7 05"), Append(nil, &Tensor{Int64s: want}))

	x := &Tensor{}
	require.NoError(t, Read(unhex(t, "38 ff ff ff ff ff ff ff ff ff 01"), x))
	require.Equal(t, []int64{-1}, x.Int64s, "negative numbers take ten bytes")

	x = &Tensor{}
	require.NoError(t, Read(unhex(t, "25 00 00 80 3f 22 04 00 00 00 40"), x))
	require.Equal(t, unhex(t, "00 00 80 3f 00 00 00 40"), x.Floats, "1 alone and 2 packed")

	v := &ValueInfo{}
	require.NoError(t, Read(unhex(t, "0a 01 61 0a 01 62"), v))
	require.Equal(t, "b", v.Name, "the last one holds")
	o := &ValueInfo{}
	require.NoError(t, Read(unhex(t, "12 04 0a 02 08 01 12 06 0a 04 12 02 0a 00"), o))
	require.Equal(t, Float, o.Type.Tensor.Elem, "parts of a message are merged")
	require.Len(t, o.Type.Tensor.Shape.Dims, 1)
	u := &ValueInfo{}
	require.NoError(t, Read(unhex(t, "a0 06 07 0a 01 61 a2 06 01 00 a5 06 00 00 00 00 a1 06 00 00 00 00 00 00 00 00"), u))
	require.Equal(t, &ValueInfo{Name: "a"}, u, "unknown fields are skipped")
}

// Reading makes the messages, their lists and their texts, and nothing else for each.
func TestReadingAllocatesTheMessagesAlone(t *testing.T) {
	of := func(nodes int) float64 {
		g := &Graph{}
		for range nodes {
			g.Nodes = append(g.Nodes, &Node{Op: "Relu", Attrs: []*Attr{{Name: "axis"}}})
		}
		file := Append(nil, g)
		return testing.AllocsPerRun(10, func() { require.NoError(t, Read(file, &Graph{})) })
	}
	// The node, its operator, its list of one attribute, the attribute and its name.
	require.InDelta(t, 5, (of(2000)-of(1000))/1000, 0.1)
}

// Raw data share the memory of the file.
func TestRawDataIsNotCopied(t *testing.T) {
	file := Append(nil, &Tensor{Raw: []byte{1, 2, 3, 4}})
	x := &Tensor{}
	require.NoError(t, Read(file, x))
	x.Raw[0] = 9
	require.Equal(t, byte(9), file[len(file)-4])
	require.Equal(t, 4, cap(x.Raw))
}

// fill gives every field a random value, to a depth.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), depth)
		}
		if d, ok := v.Addr().Interface().(*Dim); ok && !d.Known {
			d.Size = 0
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Pointer && depth == 0 {
			return
		}
		n := 1 + r.IntN(3)
		if v.Type().Elem().Kind() == reflect.Uint8 {
			n = 8 * r.IntN(3)
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(r, v.Index(i), depth)
		}
	case reflect.String:
		v.SetString(strings.Repeat("é\x00", r.IntN(100)))
	case reflect.Int32:
		v.SetInt(int64(int32(r.Uint64())))
	case reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64))
	case reflect.Float32:
		v.SetFloat(float64(r.Float32()))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(256)))
	}
}

// Every field of every message is written, and read as it was; and bytes are the same again.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		for _, m := range []message{&Model{}, &Sequence{}, &Optional{}} {
			fill(r, reflect.ValueOf(m).Elem(), 6)
			b := Append(nil, m)
			again := reflect.New(reflect.TypeOf(m).Elem()).Interface().(message)
			require.NoError(t, Read(b, again))
			require.Equal(t, b, Append(nil, again))
			require.Equal(t, m, again)
		}
	}
}

func TestLimits(t *testing.T) {
	tag := Append(nil, &Optional{Optional: &Optional{}})[0]
	deep := []byte{}
	for i := range MaxDepth + 2 {
		b := appendVarint([]byte{tag}, int64(len(deep)))
		deep = append(b, deep...)
		err := Read(deep, &Optional{})
		if i < MaxDepth {
			require.NoError(t, err, i)
		} else {
			require.ErrorIs(t, err, CodeMalformed)
			require.ErrorContains(t, err, "deep")
		}
	}
	// Empty nodes of two bytes each would take more than a hundred times that.
	bomb := []byte(strings.Repeat("\x0a\x00", 2<<20))
	err := Read(bomb, &Graph{})
	require.ErrorIs(t, err, CodeMalformed)
	require.ErrorContains(t, err, "MiB")
}

// Every beginning of a file is read, or refused with the byte.
func TestCutOff(t *testing.T) {
	m := &Model{}
	fill(rand.New(rand.NewPCG(7, 2)), reflect.ValueOf(m).Elem(), 4)
	b := Append(nil, m)
	for i := 0; i < len(b); i += 1 + len(b)/2000 {
		if err := Read(b[:i], &Model{}); err != nil {
			require.ErrorIs(t, err, CodeMalformed)
			require.ErrorContains(t, err, "byte ")
		}
	}
}

func FuzzRead(f *testing.F) {
	m := &Model{}
	fill(rand.New(rand.NewPCG(7, 2)), reflect.ValueOf(m).Elem(), 4)
	f.Add(Append(nil, m))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &Model{}
		if Read(data, m) != nil {
			return
		}
		b := Append(nil, m)
		again := &Model{}
		require.NoError(t, Read(b, again))
		require.Equal(t, b, Append(nil, again))
	})
}
