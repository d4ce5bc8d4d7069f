package nn_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/array/weights"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// names returns the state dict's names, buffers marked with a star.
func names(m any) []string {
	var out []string
	for _, e := range nn.StateDict(m) {
		n := e.Name
		if e.Buffer {
			n += "*"
		}
		out = append(out, n)
	}
	return out
}

type tied struct {
	Embed  *nn.Embedding
	Body   *nn.NamedSequential
	Blocks []*nn.Linear
	Extra  *nn.ModuleDict
	Drop   *nn.Dropout
	Head   *nn.Linear
}

func newTied() *tied {
	m := &tied{
		Embed:  nn.NewEmbedding(5, 3, nn.Seed(1)),
		Body:   nn.NewNamedSequential(nn.Named("fc", nn.NewLinear(3, 3, nn.Seed(2))), nn.Named("act", nn.NewReLU()), nn.Named("bn", nn.NewBatchNorm1d(3))),
		Blocks: []*nn.Linear{nn.NewLinear(3, 2, nn.NoBias()), nn.NewLinear(2, 3)},
		Extra:  nn.NewModuleDict(nn.Named("z", nn.NewPReLU(1)), nn.Named("a", nn.NewSequential(nn.NewReLU(), nn.NewLinear(1, 1)))),
		Drop:   nn.NewDropout(0.5, nn.DropoutSeed(1)),
		Head:   nn.NewLinear(3, 5),
	}
	m.Head.Weight = m.Embed.Weight
	return m
}

func (m *tied) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = nn.Run(m.Body, m.Embed.Forward(x))
	return m.Head.Forward(x)
}

func TestStateDictHasPyTorchNames(t *testing.T) {
	for _, c := range []struct {
		m    any
		want []string
		n    int
	}{
		{newTied(), []string{"embed.weight", "body.fc.weight", "body.fc.bias", "body.bn.weight", "body.bn.bias",
			"body.bn.running_mean*", "body.bn.running_var*", "body.bn.num_batches_tracked*", "blocks.0.weight",
			"blocks.1.weight", "blocks.1.bias", "extra.z.weight", "extra.a.1.weight", "extra.a.1.bias", "head.bias"}, 15 + 12 + 6 + 6 + 9 + 1 + 2 + 5},
		{nn.NewGRU(2, 3, nn.Bidirectional(), nn.DropoutBetween(0.5, 1)), []string{"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0",
			"weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse", "bias_hh_l0_reverse"}, 2 * (18 + 27 + 9 + 9)},
		{nn.NewLSTMCell(2, 3), []string{"weight_ih", "weight_hh", "bias_ih", "bias_hh"}, 24 + 36 + 24},
		{nn.NewMultiheadAttention(4, 2, nn.DropoutBetween(0.1, 2)), []string{"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"}, 48 + 12 + 16 + 4},
		{nn.NewBilinear(2, 3, 4), []string{"weight", "bias"}, 24 + 4},
		{nn.NewConv2d(2, 4, 3), []string{"weight", "bias"}, 72 + 4},
		{nn.ModuleList{nn.NewLinear(1, 1), nn.NewReLU(), nn.NewPReLU(2)}, []string{"0.weight", "0.bias", "2.weight"}, 4},
	} {
		require.Empty(t, cmp.Diff(c.want, names(c.m)))
		require.Equal(t, c.n, nn.NumParameters(c.m))
	}
	require.Equal(t, []string{"head.weight"}, nn.StateDict(newTied())[0].Aliases)
}

func state(m any) nn.Arrays {
	out := nn.Arrays{}
	for _, e := range nn.StateDict(m) {
		out[e.Name] = array.Clone(e.Tensor.Array())
	}
	return out
}

func requireSame(t *testing.T, want, got nn.Arrays) {
	t.Helper()
	require.Equal(t, want.Names(), got.Names())
	for _, n := range want.Names() {
		require.True(t, array.Equal(want[n], got[n]), n)
	}
}

func TestSaveAndLoad(t *testing.T) {
	m, path := newTied(), filepath.Join(t.TempDir(), "m.safetensors")
	require.NoError(t, nn.SaveFile(path, m, map[string]string{"format": "pt"}))
	var b bytes.Buffer
	require.NoError(t, nn.SaveStateDict(&b, m, map[string]string{"format": "pt"}))
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, b.Bytes(), file)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)

	other := newTied()
	nn.ResetParameters(other, 77)
	require.False(t, array.Equal(m.Embed.Weight.Array(), other.Embed.Weight.Array()))
	head := other.Head.Weight
	require.NoError(t, nn.LoadFile(other, path))
	requireSame(t, state(m), state(other))
	require.True(t, head.Equal(m.Embed.Weight), "the tie holds")

	require.Error(t, nn.LoadFile(other, path+".none"))
	require.Error(t, nn.SaveFile(filepath.Join(t.TempDir(), "no", "folder"), m, nil))
	require.Error(t, nn.SaveFile(path, m, map[string]string{"\xff": ""}))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, file, after, "a failed save leaves the file")
}

// State dicts that PyTorch saved are loaded as they are.
func TestLoadFileReadsEveryFormat(t *testing.T) {
	m := struct {
		FC *nn.Linear      `fx:"0"`
		BN *nn.BatchNorm1d `fx:"1"`
	}{nn.NewLinear(3, 2), nn.NewBatchNorm1d(2)}
	require.NoError(t, nn.LoadFile(&m, "../array/torchpt/testdata/state.pth"))
	require.Equal(t, []float32{0, 1, 2, 3, 4, 5}, array.Data[float32](m.FC.Weight.Array()))
	nn.ResetParameters(&m, 5)
	require.NoError(t, nn.LoadFile(&m, "../array/torchpt/testdata/checkpoint.pt#model"))
	require.Error(t, nn.LoadFile(&m, "../array/torchpt/testdata/hostile.pt"))
	path := filepath.Join(t.TempDir(), "w.npz")
	require.NoError(t, npy.WriteArchiveFile(path, []npy.Named{{Name: "weight", Array: array.FromSlice([]float32{7})}}, true))
	p := nn.NewPReLU(1)
	require.NoError(t, nn.LoadFile(p, path))
	require.Equal(t, []float32{7}, array.Data[float32](p.Weight.Array()))
}

func TestLoadReportsEverythingAndChangesNothing(t *testing.T) {
	m := newTied()
	w := state(m)
	delete(w, "body.fc.bias")
	delete(w, "extra.z.weight")
	w["head.extra"] = array.New(array.F32, 1)
	w["blocks.0.weight"] = array.New(array.F32, 3, 2)
	w["body.bn.weight"] = array.New(array.F16, 3)
	w["embed.weight"] = array.New(array.F32, 5, 3)
	before := state(m)
	err := nn.LoadStateDict(m, w)
	var l diag.List
	require.ErrorAs(t, err, &l)
	var got []string
	for _, e := range l {
		got = append(got, e.Error())
	}
	require.Empty(t, cmp.Diff([]string{
		"body.fc.bias: is missing, the module expects f32[3] [FX8030]",
		"body.bn.weight: has element type f16, the module expects f32 [FX8033]\n    hint: pass nn.CastTypes() to convert it",
		"blocks.0.weight: is f32[3,2], the module expects f32[2,3] [FX8032]",
		"extra.z.weight: is missing, the module expects f32[1] [FX8030]",
		"head.extra: is unexpected, the module has no such tensor [FX8031]",
	}, got))
	requireSame(t, before, state(m))

	w["blocks.0.weight"] = array.New(array.F32, 2, 3)
	require.ErrorIs(t, nn.LoadStateDict(m, w, nn.CastTypes(), nn.AllowUnexpected()), nn.MissingWeight)
	require.NoError(t, nn.LoadStateDict(m, w, nn.CastTypes(), nn.NotStrict()))
	require.True(t, array.Equal(array.New(array.F32, 3), nn.StateDict(m)[3].Tensor.Array()))
	require.True(t, array.Equal(array.New(array.F32, 5, 3), m.Head.Weight.Array()))
}

func TestLoadFindsTiedTensorsUnderTheirOtherName(t *testing.T) {
	m := newTied()
	w := state(m)
	w["head.weight"] = array.New(array.F32, 5, 3)
	require.NoError(t, nn.LoadStateDict(m, w), "both names are known")
	require.True(t, array.Equal(w["embed.weight"], m.Embed.Weight.Array()))
	delete(w, "embed.weight")
	require.NoError(t, nn.LoadStateDict(m, w))
	require.True(t, array.Equal(w["head.weight"], m.Embed.Weight.Array()))
	w["head.weight"] = array.New(array.F32, 1)
	require.ErrorIs(t, nn.LoadStateDict(m, w), nn.WeightShape)
}

// broken fails when data is read.
type broken struct{ nn.Arrays }

func (b broken) Get(name string) (*array.Array, error) {
	if name == "head.bias" {
		return nil, errors.New("the disk is gone")
	}
	return b.Arrays.Get(name)
}

func TestLoadChangesNothingWhenReadingFails(t *testing.T) {
	m := newTied()
	before := state(m)
	w := nn.Arrays{}
	for n, a := range before {
		w[n] = array.New(a.DType(), a.Shape()...)
	}
	require.ErrorContains(t, nn.LoadStateDict(m, broken{w}), "the disk is gone")
	requireSame(t, before, state(m))
	_, err := w.Get("nothing")
	require.ErrorIs(t, err, nn.MissingWeight)
}

func TestFileIsASourceOfWeights(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, safetensors.Write(&b, []safetensors.Named{{Name: "weight", Array: array.FromSlice([]float32{1, 2}, 2)}}, nil))
	f, err := safetensors.Parse(b.Bytes())
	require.NoError(t, err)
	m := nn.NewPReLU(2)
	require.NoError(t, nn.LoadStateDict(m, nn.File(f)))
	require.Equal(t, []float32{1, 2}, tensor.Data[float32](m.Weight))
}

// A checkpoint of PyTorch's DataParallel has a prefix before all names, also before those of the counters, which
// may be missing: the error has the rule, once.
func TestLoadFile_prefix(t *testing.T) {
	type block struct {
		Conv1, Conv2 *nn.Conv2d
		Bn           *nn.BatchNorm2d
	}
	newBlock := func() *block {
		return &block{nn.NewConv2d(3, 3, 1), nn.NewConv2d(3, 3, 1, nn.Seed(2)), nn.NewBatchNorm2d(3)}
	}
	path := filepath.Join(t.TempDir(), "w.safetensors")
	theirs := newBlock()
	require.NoError(t, nn.SaveFile(path, struct{ Module *block }{theirs}, nil))
	net := newBlock()
	err := nn.LoadFile(net, path)
	require.ErrorIs(t, err, nn.MissingWeight)
	const hint = "    hint: the names match with weights.Rename(file, \"module.*=*\")"
	require.True(t, strings.HasSuffix(err.Error(), hint), err)
	require.Equal(t, 1, strings.Count(err.Error(), "hint: "))

	f, err := weights.Open(path)
	require.NoError(t, err)
	defer f.Close()
	renamed, err := weights.Rename(f, "module.*=*")
	require.NoError(t, err)
	require.NoError(t, nn.LoadStateDict(net, renamed))
	require.True(t, net.Conv2.Weight.Equal(theirs.Conv2.Weight))
}

// Weights in memory cannot be renamed by rules.
func TestLoadStateDict_arraysHaveNoRules(t *testing.T) {
	err := nn.LoadStateDict(nn.NewPReLU(1), nn.Arrays{"a.weight": array.New(array.F32, 1)})
	require.ErrorIs(t, err, nn.MissingWeight)
	require.NotContains(t, err.Error(), "weights.Rename")
}
