package golden_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/internal/golden"
	"github.com/gofx-dev/gofx/codegen/internal/golden/achainoverwhataviewreadslater"
	"github.com/gofx-dev/gofx/codegen/internal/golden/anormandrelubeforeconvolutionsthatsharethem"
	"github.com/gofx-dev/gofx/codegen/internal/golden/aresidualoftheoperanditself"
	"github.com/gofx-dev/gofx/codegen/internal/golden/aresidualthatisanotherview"
	"github.com/gofx-dev/gofx/codegen/internal/golden/assigntoabuffer"
	"github.com/gofx-dev/gofx/codegen/internal/golden/attentionofsymbolicfeaturesinf16"
	"github.com/gofx-dev/gofx/codegen/internal/golden/bert"
	"github.com/gofx-dev/gofx/codegen/internal/golden/bertwithonefunctionandstateofitsown"
	"github.com/gofx-dev/gofx/codegen/internal/golden/bertwithonefunctionforitslayers"
	"github.com/gofx-dev/gofx/codegen/internal/golden/biasscaleandclampinanotherorder"
	"github.com/gofx-dev/gofx/codegen/internal/golden/cellwithweightsinaloop"
	"github.com/gofx-dev/gofx/codegen/internal/golden/computedconstant"
	"github.com/gofx-dev/gofx/codegen/internal/golden/cond"
	"github.com/gofx-dev/gofx/codegen/internal/golden/deeprecipeofanunexportedtype"
	"github.com/gofx-dev/gofx/codegen/internal/golden/deviationbeyondtherangeofthevariance"
	"github.com/gofx-dev/gofx/codegen/internal/golden/divisionbyzeros"
	"github.com/gofx-dev/gofx/codegen/internal/golden/einsumofsymbolicsizes"
	"github.com/gofx-dev/gofx/codegen/internal/golden/gpt2"
	"github.com/gofx-dev/gofx/codegen/internal/golden/inplaceonaproxy"
	"github.com/gofx-dev/gofx/codegen/internal/golden/instancenormofsymbolicchannelsinf16"
	"github.com/gofx-dev/gofx/codegen/internal/golden/logsumexpofallthatmaybeempty"
	"github.com/gofx-dev/gofx/codegen/internal/golden/logsumexpofwhatmaybeempty"
	"github.com/gofx-dev/gofx/codegen/internal/golden/loopsinloops"
	"github.com/gofx-dev/gofx/codegen/internal/golden/lstmresults"
	"github.com/gofx-dev/gofx/codegen/internal/golden/mlp"
	"github.com/gofx-dev/gofx/codegen/internal/golden/mlpwithstateofitsown"
	"github.com/gofx-dev/gofx/codegen/internal/golden/nestedresult"
	"github.com/gofx-dev/gofx/codegen/internal/golden/nestedresultoftheuserstype"
	"github.com/gofx-dev/gofx/codegen/internal/golden/normsbetweenelementwisecalls"
	"github.com/gofx-dev/gofx/codegen/internal/golden/onefilterwithtwostrides"
	"github.com/gofx-dev/gofx/codegen/internal/golden/oneweightinthreeforms"
	"github.com/gofx-dev/gofx/codegen/internal/golden/opaquemodule"
	"github.com/gofx-dev/gofx/codegen/internal/golden/operatorofauserspackage"
	"github.com/gofx-dev/gofx/codegen/internal/golden/optionalinput"
	"github.com/gofx-dev/gofx/codegen/internal/golden/parametersinregions"
	"github.com/gofx-dev/gofx/codegen/internal/golden/piecesofabatchofone"
	"github.com/gofx-dev/gofx/codegen/internal/golden/piecesthatarejoinedusedandjoinedagain"
	"github.com/gofx-dev/gofx/codegen/internal/golden/positions"
	"github.com/gofx-dev/gofx/codegen/internal/golden/recurrence"
	"github.com/gofx-dev/gofx/codegen/internal/golden/residual"
	"github.com/gofx-dev/gofx/codegen/internal/golden/residualinanamedlist"
	"github.com/gofx-dev/gofx/codegen/internal/golden/residualwithfoldedweights"
	"github.com/gofx-dev/gofx/codegen/internal/golden/resnet18"
	"github.com/gofx-dev/gofx/codegen/internal/golden/scan"
	"github.com/gofx-dev/gofx/codegen/internal/golden/sizedependentreshapewithoutspecs"
	"github.com/gofx-dev/gofx/codegen/internal/golden/sizedependentreshapewithsymbols"
	"github.com/gofx-dev/gofx/codegen/internal/golden/split"
	"github.com/gofx-dev/gofx/codegen/internal/golden/splitresults"
	"github.com/gofx-dev/gofx/codegen/internal/golden/splitwithstateofitsown"
	"github.com/gofx-dev/gofx/codegen/internal/golden/squeezeandexcitebetweenconvolutions"
	"github.com/gofx-dev/gofx/codegen/internal/golden/structuredargumentsandresults"
	"github.com/gofx-dev/gofx/codegen/internal/golden/sumsoversomeaxesofachain"
	"github.com/gofx-dev/gofx/codegen/internal/golden/swapinaloop"
	"github.com/gofx-dev/gofx/codegen/internal/golden/tiedweights"
	"github.com/gofx-dev/gofx/codegen/internal/golden/topkresults"
	"github.com/gofx-dev/gofx/codegen/internal/golden/variadicarguments"
	"github.com/gofx-dev/gofx/codegen/internal/golden/weightnorm"
	"github.com/gofx-dev/gofx/codegen/internal/golden/weightswithgaps"
	"github.com/gofx-dev/gofx/codegen/internal/golden/while"
	"github.com/gofx-dev/gofx/codegen/internal/golden/wrappedfunction"
	"github.com/gofx-dev/gofx/codegen/internal/golden/wrappedfunctionwithatyperule"
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
	"achainoverwhataviewreadslater":               achainoverwhataviewreadslater.Forward,
	"aresidualoftheoperanditself":                 aresidualoftheoperanditself.NewModel,
	"aresidualthatisanotherview":                  aresidualthatisanotherview.NewModel,
	"biasscaleandclampinanotherorder":             biasscaleandclampinanotherorder.NewModel,
	"onefilterwithtwostrides":                     onefilterwithtwostrides.NewModel,
	"oneweightinthreeforms":                       oneweightinthreeforms.NewModel,
	"piecesofabatchofone":                         piecesofabatchofone.NewModel,
	"piecesthatarejoinedusedandjoinedagain":       piecesthatarejoinedusedandjoinedagain.Forward,
	"sumsoversomeaxesofachain":                    sumsoversomeaxesofachain.Forward,
	"weightswithgaps":                             weightswithgaps.NewModel,
	"assigntoabuffer":                             assigntoabuffer.Forward,
	"bert":                                        bert.Forward,
	"bertwithonefunctionforitslayers":             bertwithonefunctionforitslayers.Forward,
	"bertwithonefunctionandstateofitsown":         bertwithonefunctionandstateofitsown.NewModel,
	"computedconstant":                            computedconstant.NewModel,
	"cond":                                        cond.Forward,
	"deeprecipeofanunexportedtype":                deeprecipeofanunexportedtype.NewModel,
	"gpt2":                                        gpt2.Forward,
	"inplaceonaproxy":                             inplaceonaproxy.Forward,
	"lstmresults":                                 lstmresults.NewModel,
	"mlp":                                         mlp.Forward,
	"mlpwithstateofitsown":                        mlpwithstateofitsown.NewModel,
	"nestedresult":                                nestedresult.Forward,
	"nestedresultoftheuserstype":                  nestedresultoftheuserstype.Forward,
	"opaquemodule":                                opaquemodule.Forward,
	"operatorofauserspackage":                     operatorofauserspackage.Forward,
	"optionalinput":                               optionalinput.Forward,
	"parametersinregions":                         parametersinregions.Forward,
	"positions":                                   positions.Forward,
	"recurrence":                                  recurrence.Forward,
	"residual":                                    residual.Forward,
	"residualinanamedlist":                        residualinanamedlist.Forward,
	"residualwithfoldedweights":                   residualwithfoldedweights.NewModel,
	"resnet18":                                    resnet18.Forward,
	"scan":                                        scan.Forward,
	"sizedependentreshapewithoutspecs":            sizedependentreshapewithoutspecs.Forward,
	"sizedependentreshapewithsymbols":             sizedependentreshapewithsymbols.Forward,
	"split":                                       split.Forward,
	"splitresults":                                splitresults.Forward,
	"splitwithstateofitsown":                      splitwithstateofitsown.NewModel,
	"structuredargumentsandresults":               structuredargumentsandresults.Forward,
	"tiedweights":                                 tiedweights.Forward,
	"topkresults":                                 topkresults.Forward,
	"logsumexpofwhatmaybeempty":                   logsumexpofwhatmaybeempty.Forward,
	"logsumexpofallthatmaybeempty":                logsumexpofallthatmaybeempty.Forward,
	"instancenormofsymbolicchannelsinf16":         instancenormofsymbolicchannelsinf16.Forward,
	"attentionofsymbolicfeaturesinf16":            attentionofsymbolicfeaturesinf16.Forward,
	"deviationbeyondtherangeofthevariance":        deviationbeyondtherangeofthevariance.Forward,
	"divisionbyzeros":                             divisionbyzeros.Forward,
	"einsumofsymbolicsizes":                       einsumofsymbolicsizes.Forward,
	"variadicarguments":                           variadicarguments.Forward,
	"weightnorm":                                  weightnorm.Forward,
	"cellwithweightsinaloop":                      cellwithweightsinaloop.Forward,
	"loopsinloops":                                loopsinloops.Forward,
	"swapinaloop":                                 swapinaloop.NewModel,
	"while":                                       while.Forward,
	"wrappedfunction":                             wrappedfunction.Forward,
	"wrappedfunctionwithatyperule":                wrappedfunctionwithatyperule.Forward,
	"anormandrelubeforeconvolutionsthatsharethem": anormandrelubeforeconvolutionsthatsharethem.NewModel,
	"normsbetweenelementwisecalls":                normsbetweenelementwisecalls.Forward,
	"squeezeandexcitebetweenconvolutions":         squeezeandexcitebetweenconvolutions.NewModel,
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
