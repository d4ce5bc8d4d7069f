package weights_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/array/weights"
)

func fileOf(t *testing.T, names ...string) weights.File {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	w, err := os.Create(path)
	require.NoError(t, err)
	var list []safetensors.Named
	for i, name := range names {
		a := array.New(array.F32, 1)
		array.SetFloat64At(a, 0, float64(i))
		list = append(list, safetensors.Named{Name: name, Array: a})
	}
	require.NoError(t, safetensors.Write(w, list, nil))
	require.NoError(t, w.Close())
	f, err := weights.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestRename(t *testing.T) {
	f := fileOf(t, "blocks.0.norm.weight", "fc.weight", "norm1.bias")
	for _, c := range []struct {
		rules, want []string
	}{
		{nil, []string{"blocks.0.norm.weight", "fc.weight", "norm1.bias"}},
		{[]string{"norm*=bn*"}, []string{"blocks.0.norm.weight", "fc.weight", "bn1.bias"}},
		{[]string{"*norm*=*bn*"}, []string{"blocks.0.bn.weight", "fc.weight", "bn1.bias"}},
		{[]string{"blocks.*.norm.*=h.*.ln.*", "*=net.*"}, []string{"h.0.ln.weight", "net.fc.weight", "net.norm1.bias"}},
		{[]string{"fc.weight=norm1.bias", "norm1.bias=fc.weight"}, []string{"blocks.0.norm.weight", "norm1.bias", "fc.weight"}},
	} {
		r, err := weights.Rename(f, c.rules...)
		require.NoError(t, err, c.rules)
		require.Equal(t, f.Names()[0], "blocks.0.norm.weight")
		require.Equal(t, c.want, r.Names(), c.rules)
		for i, name := range c.want {
			a, err := r.Get(name)
			require.NoError(t, err)
			require.Equal(t, float64(i), array.Float64At(a, 0), "%s is the tensor that it was", name)
			_, _, ok := r.Type(name)
			require.True(t, ok)
			require.Equal(t, f.Format(f.Names()[i]), r.Format(name))
		}
	}
	r, err := weights.Rename(f, "norm*=bn*")
	require.NoError(t, err)
	_, _, ok := r.Type("norm1.bias")
	require.False(t, ok, "the old name is gone")
	_, err = r.Get("norm1.bias")
	require.ErrorIs(t, err, weights.CodeName)
	require.Empty(t, r.Format("norm1.bias"))
	for _, rule := range []string{"", "norm", "=a", "a=", "norm*=bn", "norm=bn*", "*.*=*", "absent*=x*", "*weight=w*", "*.*=x*y*"} {
		_, err := weights.Rename(f, rule)
		if rule == "*weight=w*" || rule == "*.*=x*y*" {
			require.NoError(t, err, rule)
			continue
		}
		require.ErrorIs(t, err, weights.CodeRule, rule)
	}
	_, err = weights.Rename(f, "fc.weight=norm1.bias")
	require.ErrorContains(t, err, `would both be "norm1.bias"`)
}

func TestRenames(t *testing.T) {
	any := func(string, string) bool { return true }
	for _, c := range []struct{ have, want, rules []string }{
		{[]string{"norm.weight", "norm.bias"}, []string{"bn.weight", "bn.bias"}, []string{"norm.*=bn.*"}},
		{[]string{"model.a.weight", "model.b.weight"}, []string{"a.weight", "b.weight"}, []string{"model.*=*"}},
		{[]string{"a.weight", "b.weight"}, []string{"net.a.weight", "net.b.weight"}, []string{"*=net.*"}},
		{[]string{"l1.weight", "l2.bias"}, []string{"fc1.weight", "fc2.bias"}, []string{"l1.*=fc1.*", "l2.*=fc2.*"}},
		{[]string{"back.layer1.w", "back.glu.w", "head.w"}, []string{"fc1.w", "gate.w", "fc2.w"}, // the order decides, not the length or the letters
			[]string{"back.layer1.*=fc1.*", "back.glu.*=gate.*", "head.*=fc2.*"}},
		{[]string{"w"}, []string{"v"}, nil},
		{nil, []string{"v"}, nil},
	} {
		require.Equal(t, c.rules, weights.Renames(c.have, c.want, any).Rules, c.have)
	}
	none := weights.Renames([]string{"a.w"}, []string{"b.w"}, func(string, string) bool { return false })
	require.Equal(t, weights.Proposal{Open: []string{"b.w"}}, none)
}

// Where a prefix cannot be replaced for all names, narrower rules keep names together that end alike: two
// convolutions of one type are not exchanged.
func TestRenames_namesThatEndAlike(t *testing.T) {
	any := func(string, string) bool { return true }
	have := []string{"net.0.conv2.w", "net.0.conv1.w", "net.0.extra.w"}
	p := weights.Renames(have, []string{"blocks.0.conv1.w", "blocks.0.conv2.w"}, any)
	require.Equal(t, weights.Proposal{Rules: []string{"net.0.conv2.*=blocks.0.conv2.*", "net.0.conv1.*=blocks.0.conv1.*"}, Open: []string{}}, p)
	p = weights.Renames(have, []string{"blocks.0.conv1.w", "blocks.0.conv2.w", "blocks.0.extra.w"}, any)
	require.Equal(t, weights.Proposal{Rules: []string{"net.*=blocks.*"}, Open: []string{}}, p)
	require.Equal(t, "the names match with HOW", p.Hint("HOW"))
}

func TestRenames_guesses(t *testing.T) {
	any := func(string, string) bool { return true }
	p := weights.Renames([]string{"a.w", "b.w"}, []string{"x.w", "y.w", "z.v", "z.u"}, any)
	require.Equal(t, weights.Proposal{Rules: []string{"a.*=x.*", "b.*=y.*"}, Open: []string{"z.v", "z.u"}, Unsure: true}, p)
	require.Equal(t, `the names match, except "z.v" and 1 more, with HOW; tensors of one type are taken in their order, which may exchange them: check which is which`, p.Hint("HOW"))
}
