package onnxpb

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEncodesByTheSpecification compares with bytes worked out by hand from onnx.proto3.
func TestEncodesByTheSpecification(t *testing.T) {
	m := Model{
		Opset:   17,
		Nodes:   []Node{{Op: "Relu", In: []string{"x"}, Out: []string{"y"}}},
		Inputs:  []Value{{"x", Float, []int{300}}},
		Outputs: []Value{{"y", Float, nil}},
	}
	want := "" +
		"0808" + // ir_version 8
		"3a30" + // graph, 48 bytes
		"0a0c" + "0a0178" + "120179" + "220452656c75" + // node
		"120167" + // name g
		"5a10" + "0a0178" + "120b" + "0a09" + "0801" + "1205" + "0a03" + "08ac02" + // input of 300
		"620b" + "0a0179" + "1206" + "0a04" + "0801" + "1200" + // output, a scalar
		"4202" + "1011" // opset 17
	got := hex.EncodeToString(m.Encode())
	require.Equal(t, len(want), len(got))
	require.Equal(t, want, got)
}

func TestAttributes(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{7, "0a0161" + "1807" + "a00102"},
		{-1, "0a0161" + "18ffffffffffffffffff01" + "a00102"},
		{float32(1.5), "0a0161" + "150000c03f" + "a00101"},
		{"hi", "0a0161" + "22026869" + "a00103"},
		{[]int{1, 2}, "0a0161" + "4001" + "4002" + "a00107"},
	} {
		require.Equal(t, c.want, hex.EncodeToString(Attr{"a", c.value}.encode()))
	}
	require.PanicsWithValue(t, "onnxpb: attribute a is not an int, []int, float32 or string", func() { Attr{"a", 1.0}.encode() })
}

func TestTensor(t *testing.T) {
	got := Tensor{"w", Int8, []int{2}, []byte{1, 255}}.encode()
	require.Equal(t, "0802"+"1003"+"420177"+"4a02"+"01ff", hex.EncodeToString(got))
}
