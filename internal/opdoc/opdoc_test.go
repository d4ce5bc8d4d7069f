package opdoc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/ml"
	"github.com/gofx-dev/gofx/op/std"
)

func TestSignature(t *testing.T) {
	require.Equal(t, "relu(x)", Signature(std.Relu))
	require.Equal(t, "sub(x, other?; other, alpha, reverse)", Signature(std.Sub))
	require.Contains(t, Signature(std.Cat), "tensors...")
	require.True(t, strings.HasSuffix(Signature(std.Split), " → ..."), Signature(std.Split))
	require.True(t, strings.HasSuffix(Signature(std.Topk), " → values, indices"), Signature(std.Topk))
}

func TestReference(t *testing.T) {
	sub := Reference(std.Sub)
	require.Contains(t, sub, "sub is x - alpha*other.\n\noperands    x, other?\nattributes  other (number), alpha (number), reverse (bool)\nmade by     expression\n")
	for _, d := range append(std.Sub.Differences(), op.Everywhere()...) {
		require.Contains(t, sub, d.Text)
	}
	require.Contains(t, sub, "\nfunc Sub(x, other *Tensor, opts ...SubAttrs) *Tensor\n     and the method x.Sub; x.SubInPlace writes in place\n")
	require.Contains(t, Reference(ml.TreeEnsemble), "\nml.TreeEnsemble of package github.com/gofx-dev/gofx/op/ml, with ml.TreeEnsembleAttrs; tensor.CallOp calls it.\n")
	getitem := op.Lookup("getitem")
	require.Equal(t, []string{"may share the data of tuple"}, Effects(getitem))
	require.NotContains(t, Reference(getitem), "func ")
	require.NotContains(t, Reference(getitem)+Reference(ml.TreeEnsemble), "PyTorch")
	require.Empty(t, Functions(getitem))
}
