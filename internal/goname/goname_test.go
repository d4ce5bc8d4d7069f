package goname_test

import (
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/goname"
)

func TestIdentifiersOfTexts(t *testing.T) {
	for text, want := range map[string][2]string{
		"batch_norm": {"batchNorm", "BatchNorm"}, "conv2d": {"conv2d", "Conv2d"}, "t": {"t", "T"}, "MinVal": {"minVal", "MinVal"},
		"KeepDim": {"keepDim", "KeepDim"}, "DType": {"dtype", "DType"}, "N": {"n", "N"}, "ABTest": {"abTest", "ABTest"}, "Dim0": {"dim0", "Dim0"},
		"layer1.0.conv1": {"layer1Block0Conv1", "Layer1Block0Conv1"}, "f.0.1.2": {"f0Block1Block2", "F0Block1Block2"}, "a_1_2": {"a1_2", "A1_2"}, "layer10.conv1": {"layer10Conv1", "Layer10Conv1"}, "MLP.fc": {"mlpFc", "MLPFc"},
		"HTTPModel": {"httpModel", "HTTPModel"}, "Q_proj": {"qProj", "QProj"}, "": {"v", "V"}, "é": {"v", "V"}, "9": {"v9", "V9"}, "_a-b": {"aB", "AB"}, "h_n": {"hN", "HN"},
	} {
		require.Equal(t, want[0], goname.Lower(text), text)
		require.Equal(t, want[1], goname.Upper(text), text)
	}
	for text, want := range map[string]string{"N": "N", "seq_len": "seq_len", "2x": "x", "é": "size", "_": "size", "a b": "ab"} {
		require.Equal(t, want, goname.Keep(text), text)
	}
}

func TestOtherNames(t *testing.T) {
	for name, want := range map[string]string{"KeepDim": "keep_dim", "DType": "dtype", "N": "n", "Dim0": "dim0"} {
		require.Equal(t, want, goname.Snake(name))
	}
	for text, want := range map[string]string{"My Net": "mynet", "": "model", "3d": "model3d", "resnet-18": "resnet18"} {
		require.Equal(t, want, goname.Package(text))
	}
}

func TestNamesOfASetDiffer(t *testing.T) {
	s := goname.NewSet("m")
	for _, c := range [][2]string{{"m", "m2"}, {"m", "m3"}, {"conv1", "conv1"}, {"conv1", "conv1_2"}, {"type", "vtype"}, {"len", "len2"}} {
		require.Equal(t, c[1], s.Lower(c[0]), c[0])
	}
	require.Equal(t, "Model", s.Upper("model"))
	inner := goname.NewSet()
	inner.Include(s)
	require.Equal(t, "conv1_3", inner.Lower("conv1"))
	require.True(t, inner.Has("conv1"))
	inner.Free("conv1")
	require.False(t, inner.Has("conv1"))
	require.Equal(t, "conv1", inner.Lower("conv1"))
}

func FuzzIdentifiers(f *testing.F) {
	f.Add("layer1.0.conv1")
	f.Add("\x00é9")
	f.Fuzz(func(t *testing.T, text string) {
		s := goname.NewSet()
		for _, name := range []string{s.Lower(text), s.Lower(text), s.Upper(text), s.Upper(text), goname.Keep(text) + "_"} {
			require.True(t, token.IsIdentifier(name), "%q of %q", name, text)
		}
		require.True(t, strings.ToUpper(goname.Upper(text)[:1]) == goname.Upper(text)[:1])
	})
}

func TestNamesOfModelFiles(t *testing.T) {
	for _, c := range [][2]string{{"layer1.0/conv", "layer1_0_conv"}, {"_x__", "x"}, {"ä", "v"}, {"", "v"}, {"7up", "v_7up"}, {"aé9", "a_9"}, {strings.Repeat("ab", 60), strings.Repeat("ab", 50)}} {
		require.Equal(t, c[1], goname.Legal(c[0], "v"), c[0])
	}
	require.Equal(t, "layer1.0.conv_1.p_2x", goname.LegalPath("layer1.0.conv-1.2x"))
	for text, number := range map[string]bool{"": false, "0": true, "123456789": true, "1234567890": false, "1a": false} {
		require.Equal(t, number, goname.IsNumber(text), text)
	}
}

func TestLabels(t *testing.T) {
	var l goname.Labels
	var got []string
	for _, name := range []string{"x", "x", "x_1", "y", "x", "x_1"} {
		got = append(got, l.Fresh(name))
	}
	require.Equal(t, []string{"x", "x_1", "x_1_1", "y", "x_2", "x_1_2"}, got)
}
