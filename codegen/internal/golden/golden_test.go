package golden_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/internal/golden"
	"github.com/gofx-dev/gofx/codegen/internal/golden/a_chain_over_what_a_view_reads_later"
	"github.com/gofx-dev/gofx/codegen/internal/golden/a_norm_and_relu_before_convolutions_that_share_them"
	"github.com/gofx-dev/gofx/codegen/internal/golden/a_residual_of_the_operand_itself"
	"github.com/gofx-dev/gofx/codegen/internal/golden/a_residual_that_is_another_view"
	"github.com/gofx-dev/gofx/codegen/internal/golden/assign_to_a_buffer"
	"github.com/gofx-dev/gofx/codegen/internal/golden/attention_of_symbolic_features_in_f16"
	"github.com/gofx-dev/gofx/codegen/internal/golden/bert"
	"github.com/gofx-dev/gofx/codegen/internal/golden/bert_with_one_function_and_state_of_its_own"
	"github.com/gofx-dev/gofx/codegen/internal/golden/bert_with_one_function_for_its_layers"
	"github.com/gofx-dev/gofx/codegen/internal/golden/bias_scale_and_clamp_in_another_order"
	"github.com/gofx-dev/gofx/codegen/internal/golden/cell_with_weights_in_a_loop"
	"github.com/gofx-dev/gofx/codegen/internal/golden/computed_constant"
	"github.com/gofx-dev/gofx/codegen/internal/golden/cond"
	"github.com/gofx-dev/gofx/codegen/internal/golden/deep_recipe_of_an_unexported_type"
	"github.com/gofx-dev/gofx/codegen/internal/golden/deviation_beyond_the_range_of_the_variance"
	"github.com/gofx-dev/gofx/codegen/internal/golden/division_by_zeros"
	"github.com/gofx-dev/gofx/codegen/internal/golden/einsum_of_symbolic_sizes"
	"github.com/gofx-dev/gofx/codegen/internal/golden/gpt2"
	"github.com/gofx-dev/gofx/codegen/internal/golden/in_place_on_a_proxy"
	"github.com/gofx-dev/gofx/codegen/internal/golden/instance_norm_of_symbolic_channels_in_f16"
	"github.com/gofx-dev/gofx/codegen/internal/golden/logsumexp_of_all_that_may_be_empty"
	"github.com/gofx-dev/gofx/codegen/internal/golden/logsumexp_of_what_may_be_empty"
	"github.com/gofx-dev/gofx/codegen/internal/golden/loops_in_loops"
	"github.com/gofx-dev/gofx/codegen/internal/golden/lstm_results"
	"github.com/gofx-dev/gofx/codegen/internal/golden/mlp"
	"github.com/gofx-dev/gofx/codegen/internal/golden/mlp_with_state_of_its_own"
	"github.com/gofx-dev/gofx/codegen/internal/golden/nested_result"
	"github.com/gofx-dev/gofx/codegen/internal/golden/nested_result_of_the_users_type"
	"github.com/gofx-dev/gofx/codegen/internal/golden/norms_between_elementwise_calls"
	"github.com/gofx-dev/gofx/codegen/internal/golden/one_filter_with_two_strides"
	"github.com/gofx-dev/gofx/codegen/internal/golden/one_weight_in_three_forms"
	"github.com/gofx-dev/gofx/codegen/internal/golden/opaque_module"
	"github.com/gofx-dev/gofx/codegen/internal/golden/operator_of_a_users_package"
	"github.com/gofx-dev/gofx/codegen/internal/golden/optional_input"
	"github.com/gofx-dev/gofx/codegen/internal/golden/parameters_in_regions"
	"github.com/gofx-dev/gofx/codegen/internal/golden/pieces_of_a_batch_of_one"
	"github.com/gofx-dev/gofx/codegen/internal/golden/pieces_that_are_joined_used_and_joined_again"
	"github.com/gofx-dev/gofx/codegen/internal/golden/positions"
	"github.com/gofx-dev/gofx/codegen/internal/golden/recurrence"
	"github.com/gofx-dev/gofx/codegen/internal/golden/residual"
	"github.com/gofx-dev/gofx/codegen/internal/golden/residual_in_a_named_list"
	"github.com/gofx-dev/gofx/codegen/internal/golden/residual_with_folded_weights"
	"github.com/gofx-dev/gofx/codegen/internal/golden/resnet18"
	"github.com/gofx-dev/gofx/codegen/internal/golden/scan"
	"github.com/gofx-dev/gofx/codegen/internal/golden/size_dependent_reshape_with_symbols"
	"github.com/gofx-dev/gofx/codegen/internal/golden/size_dependent_reshape_without_specs"
	"github.com/gofx-dev/gofx/codegen/internal/golden/split"
	"github.com/gofx-dev/gofx/codegen/internal/golden/split_results"
	"github.com/gofx-dev/gofx/codegen/internal/golden/split_with_state_of_its_own"
	"github.com/gofx-dev/gofx/codegen/internal/golden/squeeze_and_excite_between_convolutions"
	"github.com/gofx-dev/gofx/codegen/internal/golden/structured_arguments_and_results"
	"github.com/gofx-dev/gofx/codegen/internal/golden/sums_over_some_axes_of_a_chain"
	"github.com/gofx-dev/gofx/codegen/internal/golden/swap_in_a_loop"
	"github.com/gofx-dev/gofx/codegen/internal/golden/tied_weights"
	"github.com/gofx-dev/gofx/codegen/internal/golden/topk_results"
	"github.com/gofx-dev/gofx/codegen/internal/golden/variadic_arguments"
	"github.com/gofx-dev/gofx/codegen/internal/golden/weight_norm"
	"github.com/gofx-dev/gofx/codegen/internal/golden/weights_with_gaps"
	"github.com/gofx-dev/gofx/codegen/internal/golden/while"
	"github.com/gofx-dev/gofx/codegen/internal/golden/wrapped_function"
	"github.com/gofx-dev/gofx/codegen/internal/golden/wrapped_function_with_a_type_rule"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// printed holds what each package offers: its function, or the constructor of its
// state.
var printed = map[string]any{
	"a_chain_over_what_a_view_reads_later":         a_chain_over_what_a_view_reads_later.Forward,
	"a_residual_of_the_operand_itself":             a_residual_of_the_operand_itself.NewModel,
	"a_residual_that_is_another_view":              a_residual_that_is_another_view.NewModel,
	"bias_scale_and_clamp_in_another_order":        bias_scale_and_clamp_in_another_order.NewModel,
	"one_filter_with_two_strides":                  one_filter_with_two_strides.NewModel,
	"one_weight_in_three_forms":                    one_weight_in_three_forms.NewModel,
	"pieces_of_a_batch_of_one":                     pieces_of_a_batch_of_one.NewModel,
	"pieces_that_are_joined_used_and_joined_again": pieces_that_are_joined_used_and_joined_again.Forward,
	"sums_over_some_axes_of_a_chain":               sums_over_some_axes_of_a_chain.Forward,
	"weights_with_gaps":                            weights_with_gaps.NewModel,
	"assign_to_a_buffer":                           assign_to_a_buffer.Forward,
	"bert":                                         bert.Forward,
	"bert_with_one_function_for_its_layers":        bert_with_one_function_for_its_layers.Forward,
	"bert_with_one_function_and_state_of_its_own":  bert_with_one_function_and_state_of_its_own.NewModel,
	"computed_constant":                            computed_constant.NewModel,
	"cond":                                         cond.Forward,
	"deep_recipe_of_an_unexported_type":            deep_recipe_of_an_unexported_type.NewModel,
	"gpt2":                                         gpt2.Forward,
	"in_place_on_a_proxy":                          in_place_on_a_proxy.Forward,
	"lstm_results":                                 lstm_results.NewModel,
	"mlp":                                          mlp.Forward,
	"mlp_with_state_of_its_own":                    mlp_with_state_of_its_own.NewModel,
	"nested_result":                                nested_result.Forward,
	"nested_result_of_the_users_type":              nested_result_of_the_users_type.Forward,
	"opaque_module":                                opaque_module.Forward,
	"operator_of_a_users_package":                  operator_of_a_users_package.Forward,
	"optional_input":                               optional_input.Forward,
	"parameters_in_regions":                        parameters_in_regions.Forward,
	"positions":                                    positions.Forward,
	"recurrence":                                   recurrence.Forward,
	"residual":                                     residual.Forward,
	"residual_in_a_named_list":                     residual_in_a_named_list.Forward,
	"residual_with_folded_weights":                 residual_with_folded_weights.NewModel,
	"resnet18":                                     resnet18.Forward,
	"scan":                                         scan.Forward,
	"size_dependent_reshape_without_specs":         size_dependent_reshape_without_specs.Forward,
	"size_dependent_reshape_with_symbols":          size_dependent_reshape_with_symbols.Forward,
	"split":                                        split.Forward,
	"split_results":                                split_results.Forward,
	"split_with_state_of_its_own":                  split_with_state_of_its_own.NewModel,
	"structured_arguments_and_results":             structured_arguments_and_results.Forward,
	"tied_weights":                                 tied_weights.Forward,
	"topk_results":                                 topk_results.Forward,
	"logsumexp_of_what_may_be_empty":               logsumexp_of_what_may_be_empty.Forward,
	"logsumexp_of_all_that_may_be_empty":           logsumexp_of_all_that_may_be_empty.Forward,
	"instance_norm_of_symbolic_channels_in_f16":    instance_norm_of_symbolic_channels_in_f16.Forward,
	"attention_of_symbolic_features_in_f16":        attention_of_symbolic_features_in_f16.Forward,
	"deviation_beyond_the_range_of_the_variance":   deviation_beyond_the_range_of_the_variance.Forward,
	"division_by_zeros":                            division_by_zeros.Forward,
	"einsum_of_symbolic_sizes":                     einsum_of_symbolic_sizes.Forward,
	"variadic_arguments":                           variadic_arguments.Forward,
	"weight_norm":                                  weight_norm.Forward,
	"cell_with_weights_in_a_loop":                  cell_with_weights_in_a_loop.Forward,
	"loops_in_loops":                               loops_in_loops.Forward,
	"swap_in_a_loop":                               swap_in_a_loop.NewModel,
	"while":                                        while.Forward,
	"wrapped_function":                             wrapped_function.Forward,
	"wrapped_function_with_a_type_rule":            wrapped_function_with_a_type_rule.Forward,
	"a_norm_and_relu_before_convolutions_that_share_them": a_norm_and_relu_before_convolutions_that_share_them.NewModel,
	"norms_between_elementwise_calls":                     norms_between_elementwise_calls.Forward,
	"squeeze_and_excite_between_convolutions":             squeeze_and_excite_between_convolutions.NewModel,
}

// generated returns the printed model as something to be traced, with the options
// that give it the inputs and the state of the captured one.
func generated(t *testing.T, c golden.Case, g *graph.Module) (fn any, opts []fx.Option) {
	entry := reflect.ValueOf(printed[c.Folder()])
	require.True(t, entry.IsValid(), "package %s is not in the table", c.Folder())
	opts = []fx.Option{fx.With(func(p *tracer.Tracer) {
		for _, n := range g.Graph.Inputs() {
			def, _ := n.Default().(*array.Array)
			p.Inputs = append(p.Inputs, tracer.Input{Name: n.Target(), Type: n.Type(), Default: def})
		}
	})}
	switch typ := entry.Type(); {
	case typ.NumIn() == 0: // the constructor of a state
		m := entry.Call(nil)[0].Interface()
		values := nn.Arrays{}
		for _, e := range nn.StateDict(m) {
			values[e.Name] = array.Clone(g.Param(e.Name).Value)
		}
		require.NoError(t, nn.LoadStateDict(m, values))
		return m, opts
	case typ.In(0) == reflect.TypeOf(c.Fn):
		in := make([]reflect.Type, typ.NumIn()-1)
		for i := range in {
			in[i] = typ.In(i + 1)
		}
		out := make([]reflect.Type, typ.NumOut())
		for i := range out {
			out[i] = typ.Out(i)
		}
		bound := reflect.MakeFunc(reflect.FuncOf(in, out, false), func(args []reflect.Value) []reflect.Value {
			return entry.Call(append([]reflect.Value{reflect.ValueOf(c.Fn)}, args...))
		})
		return bound.Interface(), append(opts, fx.Root(c.Fn))
	}
	return entry.Interface(), opts
}

// TestPrintedCodeTracesBackToTheGraph holds for code over the user's module with
// the same nodes, and for code with state of its own with calls of modules
// written as calls of operators.
func TestPrintedCodeTracesBackToTheGraph(t *testing.T) {
	ctx := context.Background()
	for _, c := range golden.All() {
		t.Run(c.Name, func(t *testing.T) {
			want, err := c.Capture(ctx)
			require.NoError(t, err)
			fn, opts := generated(t, c, want.Module)
			got, err := fx.Trace(ctx, fn, append(opts, c.Policy...)...)
			require.NoError(t, err)
			if reflect.TypeOf(printed[c.Folder()]).NumIn() == 0 || len(want.Subs()) > 0 { // a trace looks through calls
				_, err := passes.Run(ctx, want.Module, []passes.Pass{simplify.Inline}, passes.Options{})
				require.NoError(t, err)
				for _, m := range []*graph.Module{want.Module, got.Module} {
					_, err := passes.Run(ctx, m, []passes.Pass{simplify.Functionalize}, passes.Options{})
					require.NoError(t, err)
				}
			}
			ownTypes(want.Graph.Output().Structure(), got.Graph.Output().Structure())
			equal, diff := graph.Equal(want.Graph, got.Graph)
			require.True(t, equal, diff)
		})
	}
}

// ownTypes lets generated result types count as the user's types that they stand for.
func ownTypes(want, got *graph.Structure) {
	if want == nil || got == nil || len(want.Fields) != len(got.Fields) {
		return
	}
	if want.Kind == graph.StructOf && want.Type != got.Type {
		got.Type = want.Type
	}
	for i := range want.Fields {
		ownTypes(want.Fields[i], got.Fields[i])
	}
}

// TestPrintedCodeComputesTheSame runs the printed code eagerly and the graph in
// the interpreter, each with a state of its own where the model writes one.
func TestPrintedCodeComputesTheSame(t *testing.T) {
	ctx := context.Background()
	for k, c := range golden.All() {
		t.Run(c.Name, func(t *testing.T) {
			gm, err := c.Capture(ctx)
			require.NoError(t, err)
			fn, _ := generated(t, c, gm.Module)
			m := reflect.ValueOf(fn)
			if m.Kind() == reflect.Pointer {
				m = m.MethodByName("Forward")
			}
			// Copies of the model: runs may write its buffers.
			interpreted, err := golden.All()[k].Capture(ctx)
			require.NoError(t, err)
			eager := golden.All()[k].Eager
			for _, in := range c.Inputs {
				args := make([]reflect.Value, len(in))
				for i, x := range in {
					args[i] = reflect.ValueOf(x)
				}
				var got []*tensor.Tensor
				for _, r := range m.Call(args) {
					got = collect(r, got)
				}
				want, err := interpreted.Run(ctx, in...)
				require.NoError(t, err)
				same(t, want, got)
				if c.Passes == nil { // which may round differently
					same(t, eager(in), got)
				}
			}
		})
	}
}

func same(t *testing.T, want, got []*tensor.Tensor) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.True(t, want[i].Equal(got[i]), "result %d: %s, expected %s", i, got[i], want[i])
	}
}

// collect lists the tensors of a result in the order of the fields, of the keys.
func collect(v reflect.Value, out []*tensor.Tensor) []*tensor.Tensor {
	switch v.Kind() {
	case reflect.Pointer:
		if x, ok := v.Interface().(*tensor.Tensor); ok {
			if x == nil {
				return out
			}
			return append(out, x)
		}
		if v.IsNil() {
			return out
		}
		return collect(v.Elem(), out)
	case reflect.Struct:
		for i := range v.NumField() {
			out = collect(v.Field(i), out)
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = collect(v.Index(i), out)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() { // the maps here have one key
			out = collect(v.MapIndex(k), out)
		}
	}
	return out
}
