package tensor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// typesOf parses types separated by blanks; _ is an absent operand.
func typesOf(t *testing.T, text string) (list []shape.Type) {
	for _, s := range strings.Fields(text) {
		if s == "_" {
			list = append(list, shape.Type{})
			continue
		}
		ty, err := shape.ParseType(s)
		require.NoError(t, err)
		list = append(list, ty)
	}
	return list
}

func TestSignature(t *testing.T) {
	for _, c := range []struct{ signature, in, out, err, guards string }{
		{signature: "f32[N,K], f32[K] -> f32[N], i64[2*K]", in: "f32[B,3] f32[3]", out: "f32[B] i64[6]"},
		{signature: "f32[N,K], f32[K] -> f32[N]", in: "f32[B,3] _", out: "f32[B]"},
		{signature: "f32[N,K], f32[K] -> f32[K]", in: "f32[B,C] f32[3]", out: "f32[3]", guards: "C == 3"},
		{signature: "f32[N,2*N] -> f32[N]", in: "f32[3,6]", out: "f32[3]"},
		{signature: "f32[N,2*N] -> f32[N]", in: "f32[3,7]", err: "needs size 6 on axis 1 [FX2001]"},
		{signature: "f32[N], f32[N] -> f32[N]", in: "f32[3] f32[4]", err: "needs size 3 on axis 0 [FX2001]"},
		{signature: "f32[N] -> f32[N]", in: "f64[3]", err: "operand 0 is f64[3], the signature says f32[N] [FX2004]"},
		{signature: "f32[N] -> f32[N]", in: "f32[3,3]", err: "operand 0 is f32[3,3], the signature says f32[N] [FX2002]"},
		{signature: "f32[N] -> f32[N]", in: "f32[3] f32[3]", err: "2 operands, the signature f32[N] -> f32[N] has 1 [FX2006]"},
		{signature: "?[N], f32[N]... -> ?[N], i64[]", in: "bf16[2] f32[2] f32[2] f32[2]", out: "bf16[2] i64[]"},
		{signature: "f32[*] -> f32[?,2]", in: "f32[1,2,3]", out: "f32[?,2]"},
		{signature: "f32[N,K] -> f32[K]", in: "f32[*]", out: "f32[?]"},
		{signature: " -> f32[3]", in: "", out: "f32[3]"},
	} {
		var guards []string
		infer := &op.Infer{Assume: func(r shape.Relation) error {
			guards = append(guards, r.String())
			return nil
		}}
		got, err := tensor.Signature(c.signature)(infer, typesOf(t, c.in))
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.signature)
			continue
		}
		require.NoError(t, err, c.signature)
		require.Equal(t, fmt.Sprint(typesOf(t, c.out)), fmt.Sprint(got), c.signature)
		require.Equal(t, c.guards, strings.Join(guards, " "), c.signature)
	}
}

func TestSignatureMistakes(t *testing.T) {
	for text, msg := range map[string]string{
		"f32[N]":                "there is no ->",
		"f32[N] ->":             "there is no list of results",
		"f32[N] -> f32[N]...":   "there is no list of results",
		"f32[N] f32[N] -> i8[]": "there is no , or nothing behind one",
		"f32[N], -> i8[]":       "there is no , or nothing behind one",
		"f32[N] -> f32[M]":      "no operand has M as the size of an axis",
		"f32[2*N] -> f32[N]":    "no operand has N as the size of an axis",
		"f32[N] -> (f32[N])":    "is a tuple",
		"g32[N] -> f32[N]":      "column 1",
	} {
		e := failure(t, func() { tensor.Signature(text) })
		require.Contains(t, e.Msg, msg, text)
		require.Equal(t, tensor.BadWrap, e.Code)
		require.Positive(t, e.Pos.Line)
	}
	rule := tensor.Signature("f32[N] -> f32[N]")
	require.Contains(t, failure(t, func() { tensor.Wrap(unruly, rule, rule) }).Msg, "2 type rules")
	require.Contains(t, failure(t, func() { tensor.Wrap(unruly, nil) }).Msg, "one that is nil")
}

func unruly(x *tensor.Tensor) *tensor.Tensor { return x }

// A function that returns something else than its rule says is found when it runs.
func TestResultsAreHeldToTheTypeRule(t *testing.T) {
	host := func([]*array.Array) ([]*array.Array, error) { return []*array.Array{array.New(array.F32, 4)}, nil }
	for signature, msg := range map[string]string{
		"f32[N] -> f32[N+1]":       "",
		"f32[N] -> f32[N]":         "value 0 of the Go function is f32[4], its type rule says f32[3] [FX2001]",
		"f32[N] -> i64[N+1]":       "its type rule says i64[4]",
		"f32[N] -> f32[N], f32[N]": "the type rule of the Go function gives 2 types, the function 1 results",
	} {
		o := op.NewAdHoc("example.com/p", "lies", op.Args("x"), true, false, host, op.Declared{Infer: tensor.Signature(signature)})
		_, err := o.Eval(nil, nil, []*array.Array{array.New(array.F32, 3)})
		if msg == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, msg, signature)
		require.NotErrorIs(t, err, diag.Code("FX9001"))
	}
}
