package onnx

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op/ml"
)

const mlHead = `<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]> `

// stump is a tree of one node and two leaves, with lists that %s may change.
const stump = `nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_featureids=[1,0,0], nodes_values=[0.5,0.0,0.0], nodes_modes=["BRANCH_LEQ","LEAF","LEAF"],
	nodes_truenodeids=[1,0,0], nodes_falsenodeids=[2,0,0], target_treeids=[0,0], target_nodeids=[1,2], target_ids=[0,0], target_weights=[1.0,2.0], n_targets=1`

// TestExportersOfTrees are models of testdata/ml, written by the converters of scikit-learn,
// LightGBM and XGBoost, with ONNX Runtime's results.
func TestExportersOfTrees(t *testing.T) {
	dirs, err := filepath.Glob("testdata/ml/*")
	require.NoError(t, err)
	require.Greater(t, len(dirs), 10)
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			f, err := Read(filepath.Join(dir, "model.onnx"))
			require.NoError(t, err)
			m, err := f.Import(Options{})
			require.NoError(t, err)
			samples, err := f.Samples(dir)
			require.NoError(t, err)
			tables := 0
			for n := range m.Graph.Calls(ml.TreeEnsemble) {
				for _, table := range n.Args()[1:] {
					require.Equal(t, graph.GetAttr, table.Opcode(), "tables are parameters")
					tables++
				}
			}
			require.Equal(t, strings.HasPrefix(filepath.Base(dir), "trees"), tables > 0)
			exe, err := cpu.Compile(m, lowering.Options{})
			require.NoError(t, err)
			defer exe.Close()
			for _, s := range samples {
				args := f.Args(s, nil)
				p := interp.Interpreter{State: interp.NewState(m)}
				got, err := p.RunArrays(context.Background(), args)
				require.NoError(t, err)
				_, err = s.Check(got, ortTolerance)
				require.NoError(t, err, "interp")
				got, err = exe.Run(context.Background(), args)
				require.NoError(t, err)
				_, err = s.Check(got, ortTolerance)
				require.NoError(t, err, "plan")
				if !strings.Contains(dir, "probabilities") {
					(&ortCase{tol: ortTolerance}).again(t, m, args, s)
				}
			}
			_, err = codegen.Kernel(exe.Plan(), m.Values(), codegen.KernelOptions{Package: "model", Weights: codegen.WeightsEmbed})
			require.NoError(t, err)
			_, err = codegen.Module(m, codegen.ModuleOptions{Package: "model", Path: "example.com/model", Weights: true})
			require.NoError(t, err)
		})
	}
}

// TestTreesThatAreNone: whatever lists say, the node is named that is wrong.
func TestTreesThatAreNone(t *testing.T) {
	for _, c := range []struct{ old, with, want string }{
		{`nodes_truenodeids=[1,0,0]`, `nodes_truenodeids=[0,0,0]`, "node 0 of tree 0 comes first in its tree and is below another node"},
		{`nodes_truenodeids=[1,0,0]`, `nodes_truenodeids=[7,0,0]`, "node 0 of tree 0 leads to node 7, which is not there [FX8104]"},
		{`nodes_falsenodeids=[2,0,0]`, `nodes_falsenodeids=[-1,0,0]`, "leads to node -1"},
		{`nodes_nodeids=[0,1,2]`, `nodes_nodeids=[0,1,1]`, "node 1 of tree 0 is there twice"},
		{`nodes_treeids=[0,0,0]`, `nodes_treeids=[0,0,1]`, "leads to node 2, which is not there"},
		{`nodes_treeids=[0,0,0]`, `nodes_treeids=[0,0]`, "nodes_falsenodeids has 3 elements and nodes_treeids 2, expected as many"},
		{`nodes_featureids=[1,0,0]`, `nodes_featureids=[2,0,0]`, "node 0 of tree 0 reads feature 2, the input has 2"},
		{`nodes_featureids=[1,0,0]`, `nodes_featureids=[-1,0,0]`, "reads feature -1, expected 0 or more"},
		{`nodes_values=[0.5,0.0,0.0]`, `nodes_values=[nan,0.0,0.0]`, "node 0 of tree 0 has NaN for a threshold"},
		{`"BRANCH_LEQ","LEAF"`, `"BRANCH_XOR","LEAF"`, `has the mode "BRANCH_XOR", which is not one of ONNX's`},
		{`"BRANCH_LEQ","LEAF","LEAF"`, `"BRANCH_LEQ","BRANCH_LEQ","BRANCH_LEQ"`, "node 0 of tree 0 comes first in its tree and is below another node"},
		{`target_nodeids=[1,2]`, `target_nodeids=[1,9]`, "target_nodeids names node 9 of tree 0, which is not there"},
		{`target_treeids=[0,0]`, `target_treeids=[0,5]`, "target_nodeids names node 2 of tree 5"},
		{`target_ids=[0,0]`, `target_ids=[0,1]`, "node 2 of tree 0 adds to result 1 of 1"},
		{`target_ids=[0,0]`, `target_ids=[0,-1]`, "adds to result -1 of 1"},
		{`target_weights=[1.0,2.0]`, `target_weights=[1.0,nan]`, "node 2 of tree 0 adds NaN"},
		{`target_weights=[1.0,2.0]`, `target_weights=[1.0]`, "target_weights has 1 elements and target_treeids 2"},
		{`n_targets=1`, `n_targets=0`, "n_targets is 0"},
		{`n_targets=1`, `n_targets=4611686018427387904`, "n_targets is 4611686018427387904"},
		{`n_targets=1`, `n_targets=1, base_values=[1.0,2.0]`, "base_values has 2 elements, expected 1"},
		{`n_targets=1`, `n_targets=1, aggregate_function="MEDIAN"`, `attribute aggregate_function is "MEDIAN", which is not supported [FX8103]`},
		{`n_targets=1`, `n_targets=1, nodes_missing_value_tracks_true=[1]`, "nodes_missing_value_tracks_true has 1 elements"},
		{`n_targets=1`, `n_targets=1, target_weights_as_tensor={double[2] t = {1.0, 2.0}}`, "target_weights and target_weights_as_tensor are both there"},
	} {
		require.Contains(t, stump, c.old)
		_, err := fromText(mlHead + `g (float[N,2] x) => (float y) { y = ai.onnx.ml.TreeEnsembleRegressor<` + strings.Replace(stump, c.old, c.with, 1) + `>(x) }`).Import(Options{})
		require.ErrorContains(t, err, c.want, c.with)
		require.ErrorContains(t, err, `model.onnx: node "TreeEnsembleRegressor_y": TreeEnsembleRegressor: `)
	}
	// A cycle below the root, in the first form and in the second one.
	_, err := fromText(mlHead + `g (float[N,2] x) => (float y) { y = ai.onnx.ml.TreeEnsembleRegressor<nodes_treeids=[0,0,0,0], nodes_nodeids=[0,1,2,3], nodes_featureids=[0,0,0,0], nodes_values=[0.0,0.0,0.0,0.0],
		nodes_modes=["BRANCH_LEQ","BRANCH_LEQ","BRANCH_LEQ","LEAF"], nodes_truenodeids=[1,2,1,0], nodes_falsenodeids=[3,3,3,0], target_treeids=[0], target_nodeids=[3], target_ids=[0], target_weights=[1.0]>(x) }`).Import(Options{})
	require.ErrorContains(t, err, "node 1 of tree 0 is below itself, expected trees [FX8104]")
}

// five is a tree in the form of set 5.
const five = `n_targets=1, tree_roots=[0], nodes_featureids=[0, 1], nodes_modes={uint8[2] t = {0, 6}}, nodes_splits={float[2] t = {0.5, 0.0}}, nodes_truenodeids=[1, 0], nodes_trueleafs=[0, 1],
	nodes_falsenodeids=[1, 1], nodes_falseleafs=[1, 1], leaf_targetids=[0, 0], leaf_weights={float[2] t = {1.0, 2.0}}, membership_values={float[3] t = {3.0, 4.0, nan}}`

func TestTreesOfSetFiveThatAreNone(t *testing.T) {
	const head = `<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 5]> `
	for _, c := range []struct{ old, with, want string }{
		{`five`, `five`, ""},
		{`nodes_truenodeids=[1, 0]`, `nodes_truenodeids=[0, 0]`, "node 0 is below itself"},
		{`nodes_truenodeids=[1, 0]`, `nodes_truenodeids=[2, 0]`, "node 0 leads to 2 of 2 nodes or leaves"},
		{`nodes_falsenodeids=[1, 1]`, `nodes_falsenodeids=[1, -1]`, "node 1 leads to -1"},
		{`nodes_trueleafs=[0, 1]`, `nodes_trueleafs=[0, 0]`, "node 0 is below itself"},
		{`tree_roots=[0]`, `tree_roots=[2]`, "tree_roots names node 2 of 2"},
		{`tree_roots=[0]`, `tree_roots=[]`, "0 roots"},
		{`{0, 6}`, `{0, 9}`, `node 1 has the mode "9"`},
		{`uint8[2]`, `int64[2]`, "nodes_modes has other elements than one u8 for each node"},
		{`{0.5, 0.0}`, `{nan, 0.0}`, "node 0 has NaN for a threshold"},
		{`leaf_targetids=[0, 0]`, `leaf_targetids=[0, 3]`, "leaf 1 adds to result 3 of 1"},
		{`leaf_targetids=[0, 0]`, `leaf_targetids=[0]`, "leaf_weights has 2 elements and leaf_targetids 1"},
		{`float[3] t = {3.0, 4.0, nan}`, `float[1] t = {nan}`, "node 1 asks for members of a set that membership_values does not have"},
		{`float[3] t = {3.0, 4.0, nan}`, `float[4] t = {3.0, nan, 4.0, nan}`, "membership_values has more sets than nodes ask for"},
		{`n_targets=1`, `n_targets=1, post_transform=9`, "post_transform 9"},
		{`n_targets=1`, `n_targets=1, aggregate_function=-1`, "aggregate_function is -1"},
	} {
		text := strings.Replace(five, c.old, c.with, 1)
		_, err := fromText(head + `g (float[N,2] x) => (float y) { y = ai.onnx.ml.TreeEnsemble<` + text + `>(x) }`).Import(Options{})
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want, c.with)
	}
	// Transforms are numbered as the standard says, in which 1 is SOFTMAX and 2 LOGISTIC.
	for post, name := range map[string]string{"1": "Softmax<axis=-1>", "2": "Sigmoid"} {
		two := strings.NewReplacer("n_targets=1", "n_targets=2, post_transform="+post, "leaf_targetids=[0, 0]", "leaf_targetids=[0, 1]").Replace(five)
		x := array.FromSlice([]float32{0, 3, 1, 2}, 2, 2)
		got := runText(t, head+`g (float[2,2] x) => (float y) { y = ai.onnx.ml.TreeEnsemble<`+two+`>(x) }`, x)
		want := runText(t, head+`g (float[2,2] x) => (float y) { v = ai.onnx.ml.TreeEnsemble<`+strings.Replace(two, "post_transform="+post, "post_transform=0", 1)+`>(x) y = `+name+`(v) }`, x)
		require.NoError(t, compare(got[0], want[0]))
	}
}

// TestRefusedLearning lists the models that stay refused, with the cure.
func TestRefusedLearning(t *testing.T) {
	classes := func(more string) string {
		return strings.NewReplacer("target_", "class_", ", n_targets=1", more).Replace(stump)
	}
	for _, c := range []struct{ graph, want string }{
		{`g (float[2,2] x) => (int64 y, float z) { y, z = ai.onnx.ml.TreeEnsembleClassifier<` + classes(`, classlabels_strings=["a","b"]`) + `>(x) }`, "the classes are strings, expected integers [FX8108]"},
		{`g (float[2,2] x) => (int64 y, float z) { y, z = ai.onnx.ml.TreeEnsembleClassifier<` + classes(`, classlabels_int64s=[4]`) + `>(x) }`, "there are 1 class labels, expected 2 or more"},
		{`g (float[2,2] x) => (int64 y, float z) { y, z = ai.onnx.ml.TreeEnsembleClassifier<` + classes(`, classlabels_int64s=[4,5], post_transform="PROBIT"`) + `>(x) }`, "runtimes differ [FX8103]"},
		{`g (float[2,3] x) => (float y) { y = ai.onnx.ml.ZipMap<classlabels_int64s=[1,2,3]>(x) }`, "zipmap=False"},
		{`g (float[2,3] x) => (float y) { y = ai.onnx.ml.DictVectorizer<int64_vocabulary=[1,2,3]>(x) }`, "there are no maps"},
		{`g (float[2,3] x) => (float y) { y = ai.onnx.ml.Mystery(x) }`, "operator ai.onnx.ml.Mystery is not supported [FX8102]"},
		{`g (int64[2,3] x) => (float y) { y = ai.onnx.ml.LabelEncoder<keys_strings=["a"], values_int64s=[1]>(x) }`, "keys_strings are strings"},
		{`g (int64[2,3] x) => (float y) { y = ai.onnx.ml.LabelEncoder<keys_int64s=[1,2], values_int64s=[1]>(x) }`, "keys and values are not as many"},
		{`g (int64[2,3] x) => (float y) { y = ai.onnx.ml.LabelEncoder<keys_floats=[1.0], values_int64s=[1]>(x) }`, "the input is i64[2,3] and the keys are f32"},
		{`g (int64[2,3] x) => (float y) { y = ai.onnx.ml.OneHotEncoder<cats_strings=["a"]>(x) }`, "the categories are strings"},
		{`g (float[2,3] x) => (float y) { y = ai.onnx.ml.Scaler<scale=[1.0,2.0]>(x) }`, "attribute scale has 2 elements, expected 1 or 3"},
		{`g (float[2,3,4] x) => (float y) { y = ai.onnx.ml.Normalizer(x) }`, "expected one or two dimensions"},
		{`g (bool[2,3] x) => (float y) { y = ai.onnx.ml.Normalizer(x) }`, "expected numbers"},
		{`g (float[2,3] x) => (float y) { y = ai.onnx.ml.Imputer<replaced_value_float=0.5>(x) }`, "there is no number to put in the place of missing ones"},
		{`g (float[2,3] x, float[1] i) => (float y) { y = ai.onnx.ml.ArrayFeatureExtractor(x, i) }`, "the indices are f32[1], expected integers"},
		{`g (float[2,3] x) => (float y) { y = ai.onnx.ml.FeatureVectorizer<inputdimensions=[1,2]>(x) }`, "inputdimensions has 2 elements for 1 inputs"},
		{`g (float[2,3] x) => (float y) { y = ai.onnx.ml.FeatureVectorizer<inputdimensions=[4611686018427387904]>(x) }`, "expected a known number"},
		{`g (float[2,3] x) => (float y) { y = ai.onnx.ml.LinearRegressor<coefficients=[1.0,2.0,3.0], targets=2>(x) }`, "there are 3 coefficients for 2 results"},
		{`g (float[2,3] x) => (float y) { y = ai.onnx.ml.LinearRegressor<coefficients=[1.0,2.0], targets=1>(x) }`, "LinearRegressor"},
		{`g (float[2,3] x) => (int64 y, float z) { y, z = ai.onnx.ml.LinearClassifier<coefficients=[1.0,2.0,3.0], intercepts=[1.0], classlabels_ints=[1,2,3]>(x) }`, "one score for 3 classes"},
		{`g (float[2,1] x) => (float y) { y = ai.onnx.ml.SVMRegressor<coefficients=[1.0], support_vectors=[1.0], n_supports=1, rho=[1.0], kernel_type="RBF">(x) }`, "expected gamma, coef0 and degree"},
		{`g (float[2,1] x) => (float y) { y = ai.onnx.ml.SVMRegressor<coefficients=[1.0], support_vectors=[1.0], n_supports=7, rho=[1.0]>(x) }`, "there are 1 coefficients, expected 7"},
		{`g (float[2,1] x) => (int64 y, float z) { y, z = ai.onnx.ml.SVMClassifier<coefficients=[1.0,1.0], support_vectors=[1.0,2.0], vectors_per_class=[1,4611686018427387904], rho=[1.0], classlabels_ints=[0,1]>(x) }`, "a class has 4611686018427387904 vectors"},
		{`g (float[2,1] x) => (int64 y, float z) { y, z = ai.onnx.ml.SVMClassifier<coefficients=[1.0,1.0], support_vectors=[1.0,2.0], vectors_per_class=[1,1], rho=[1.0], prob_a=[1.0,2.0], prob_b=[1.0,2.0], classlabels_ints=[0,1]>(x) }`, "prob_a has 2 elements, expected 1"},
	} {
		_, err := fromText(mlHead + c.graph).Import(Options{})
		require.ErrorContains(t, err, c.want, c.graph)
	}
}

// TestScoresOfStrings: if nobody reads the names of classes the scores are available.
func TestScoresOfStrings(t *testing.T) {
	text := strings.NewReplacer("target_", "class_", ", n_targets=1", "").Replace(stump)
	x := array.FromSlice([]float32{0, 0, 0, 1}, 2, 2)
	got := runText(t, mlHead+`g (float[2,2] x) => (float z) { y, z = ai.onnx.ml.TreeEnsembleClassifier<`+text+`, classlabels_strings=["a","b"]>(x) }`, x)
	require.Equal(t, []float32{0, 1, -1, 2}, array.Data[float32](got[0]))
}

// TestTwoColumns: of two classes with a column each the greater one is chosen, as ONNX's
// own evaluator does; ONNX Runtime chooses 1 whenever the second column is positive.
func TestTwoColumns(t *testing.T) {
	text := strings.NewReplacer("target_ids=[0,0]", "class_ids=[0,1]", "target_", "class_", ", n_targets=1", ", classlabels_int64s=[5,7]").Replace(stump)
	x := array.FromSlice([]float32{0, 0, 0, 1}, 2, 2)
	got := runText(t, mlHead+`g (float[2,2] x) => (int64 y, float z) { y, z = ai.onnx.ml.TreeEnsembleClassifier<`+text+`>(x) }`, x)
	require.Equal(t, []int64{5, 7}, array.Data[int64](got[0]))
	require.Equal(t, []float32{1, 0, 0, 2}, array.Data[float32](got[1]))
}

// TestDoublesGoBack exports results of 64 bits, whose operator has leaves of one number each.
func TestDoublesGoBack(t *testing.T) {
	text := strings.NewReplacer("target_treeids=[0,0], target_nodeids=[1,2], target_ids=[0,0], target_weights=[1.0,2.0], n_targets=1",
		"class_treeids=[0,0,0,0,0], class_nodeids=[1,1,1,2,2], class_ids=[0,1,2,0,2], class_weights=[0.1,0.2,0.7,0.9,0.1], classlabels_int64s=[1,2,3]").Replace(stump)
	f := fromText(mlHead + `g (double[N,2] x) => (int64 y, float z) { y, z = ai.onnx.ml.TreeEnsembleClassifier<` + text + `>(x) }`)
	m, err := f.Import(Options{})
	require.NoError(t, err)
	x := array.FromSlice([]float64{0, 0.5, 0, math.Nextafter(0.5, 1)}, 2, 2)
	p := interp.Interpreter{State: interp.NewState(m)}
	want, err := p.RunArrays(context.Background(), []*array.Array{x})
	require.NoError(t, err)
	require.Equal(t, []int64{3, 1}, array.Data[int64](want[0]))
	(&ortCase{tol: ortTolerance}).again(t, m, []*array.Array{x}, Sample{Outputs: want, Inputs: map[string]*array.Array{"x": x}})

	// Together with such trees others are written in the same form: a model has one set of the
	// domain.
	f = fromText(mlHead + `g (double[N,2] x, float[N,2] w) => (int64 y, float z, float v, float u) { y, z = ai.onnx.ml.TreeEnsembleClassifier<` + text + `>(x)
		v = ai.onnx.ml.TreeEnsembleRegressor<` + stump + `>(w) u = ai.onnx.ml.TreeEnsembleRegressor<` + stump + `>(x) }`)
	m, err = f.Import(Options{})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, Export(&b, m, ExportOptions{}))
	back, err := Parse(b.Bytes(), "again.onnx")
	require.NoError(t, err)
	require.Equal(t, int64(5), back.f.Model.Opsets[1].Version)
	for _, n := range back.f.Model.Graph.Nodes {
		require.NotEqual(t, "TreeEnsembleRegressor", n.Op)
	}
	w := array.Cast(x, array.F32)
	p = interp.Interpreter{State: interp.NewState(m)}
	want, err = p.RunArrays(context.Background(), []*array.Array{x, w})
	require.NoError(t, err)
	(&ortCase{tol: ortTolerance}).again(t, m, []*array.Array{x, w}, Sample{Outputs: want, Inputs: map[string]*array.Array{"x": x, "w": w}})
}

// TestAggregatesGoBack: averages, least and greatest of 64 bits over leaves of several numbers.
func TestAggregatesGoBack(t *testing.T) {
	text := strings.NewReplacer("target_treeids=[0,0], target_nodeids=[1,2], target_ids=[0,0], target_weights=[1.0,2.0], n_targets=1",
		"target_treeids=[0,0,0,1,1], target_nodeids=[1,1,2,1,2], target_ids=[0,1,1,0,1], target_weights=[0.5,-2.0,0.25,3.0,-1.0], n_targets=2",
		"nodes_treeids=[0,0,0]", "nodes_treeids=[0,0,0,1,1,1]", "nodes_nodeids=[0,1,2]", "nodes_nodeids=[0,1,2,0,1,2]", "nodes_featureids=[1,0,0]", "nodes_featureids=[1,0,0,0,0,0]",
		"[0.5,0.0,0.0]", "[0.5,0.0,0.0,0.0,0.0,0.0]", `"BRANCH_LEQ","LEAF","LEAF"`, `"BRANCH_LEQ","LEAF","LEAF","BRANCH_GT","LEAF","LEAF"`, "nodes_truenodeids=[1,0,0]", "nodes_truenodeids=[1,0,0,1,0,0]",
		"nodes_falsenodeids=[2,0,0]", "nodes_falsenodeids=[2,0,0,2,0,0]").Replace(stump)
	for _, how := range []string{"SUM", "AVERAGE", "MIN", "MAX"} {
		f := fromText(mlHead + `g (double[N,2] x) => (float y) { y = ai.onnx.ml.TreeEnsembleRegressor<` + text + `, aggregate_function="` + how + `">(x) }`)
		m, err := f.Import(Options{})
		require.NoError(t, err)
		x := array.FromSlice([]float64{1, 0, -1, 0, 1, 1, -1, 1}, 4, 2)
		p := interp.Interpreter{State: interp.NewState(m)}
		want, err := p.RunArrays(context.Background(), []*array.Array{x})
		require.NoError(t, err)
		if how == "AVERAGE" {
			require.Equal(t, []float32{1.75, -1, 0.25, -1.5, 1.5, 0.125, 0, -0.375}, array.Data[float32](want[0]))
		}
		(&ortCase{tol: ortTolerance}).again(t, m, []*array.Array{x}, Sample{Outputs: want, Inputs: map[string]*array.Array{"x": x}})
	}
}

// TestTreesInPlaces: trees in bodies and functions, on rows of other shapes and types.
func TestTreesInPlaces(t *testing.T) {
	tree := `ai.onnx.ml.TreeEnsembleRegressor<` + stump + `>`
	x := array.FromSlice([]float32{0, 0, 0, 1, 0, float32(math.NaN())}, 3, 2)
	run := func(graph string, in ...*array.Array) []float64 {
		t.Helper()
		got := runText(t, graph, in...)
		out := make([]float64, got[0].Len())
		for i := range out {
			out[i] = array.Float64At(got[0], i)
		}
		return out
	}
	require.Equal(t, []float64{1, 2, 2}, run(mlHead+`g (float[N,2] x) => (float y) { y = `+tree+`(x) }`, x))
	require.Empty(t, run(mlHead+`g (float[N,2] x) => (float y) { y = `+tree+`(x) }`, array.New(array.F32, 0, 2)))
	require.Equal(t, []float64{2}, run(mlHead+`g (float[2] x) => (float y) { y = `+tree+`(x) }`, array.FromSlice([]float32{0, 1})))
	require.Equal(t, []float64{2, 1}, run(mlHead+`g (int64[2,2] x) => (float y) { y = `+tree+`(x) }`, array.FromSlice([]int64{0, 1, 0, 0}, 2, 2)))
	require.Equal(t, []float64{1, 2, 2}, run(mlHead+`g (float[N,2] x, bool c) => (float y) { y = If<then_branch = a () => (float v) { v = `+tree+`(x) }, else_branch = b () => (float w) { w = `+tree+`(x) }>(c) }`, x, array.Scalar(true)))
	require.Equal(t, []float64{2, 4, 4}, run(mlHead+`g (float[N,2] x) => (float y) { v = `+tree+`(x) w = `+tree+`(x) y = Add(v, w) }`, x))
	require.Equal(t, []float64{1, 2, 2}, run(mlHead+`g (float[N,2] x) => (float y) { y = my.f(x) } <domain: "my", opset_import: ["" : 17, "ai.onnx.ml" : 3]> f (a) => (b) { b = `+tree+`(a) }`, x))
	require.Equal(t, []float64{1}, run(mlHead+`g () => (float y) { x = Constant<value_floats=[0.0, 0.0]>() y = `+tree+`(x) }`))
	half := array.Cast(x, array.F16)
	require.Len(t, run(`<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 5]> g (float16[N,2] x) => (float16 y) { y = ai.onnx.ml.TreeEnsemble<`+five+`>(x) }`, half), 3)

	// How many features there are may be known when the model runs only.
	f := fromText(mlHead + `g (float[N,F] x) => (float y) { y = ` + tree + `(x) }`)
	m, err := f.Import(Options{})
	require.NoError(t, err)
	exe, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	defer exe.Close()
	out, err := exe.Run(context.Background(), []*array.Array{x})
	require.NoError(t, err)
	require.Equal(t, []float32{1, 2, 2}, array.Data[float32](out[0]))
	_, err = exe.Run(context.Background(), []*array.Array{array.New(array.F32, 3, 1)})
	require.ErrorContains(t, err, "node 0 reads feature 1 of 1 [FX2032]")
	require.NotErrorIs(t, err, diag.Internal)
}
