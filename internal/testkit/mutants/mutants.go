package mutants

import (
	"context"
	"os"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/debug"
)

// Rewrites lists the mutants of the pipeline, "pass/mistake".
func Rewrites() []string {
	return []string{"functionalize/lost-attribute", "fold/wrong-value", "fold/wrong-operand", "double-neg/wrong-rewrite", "double-neg/lost-use",
		"scale/wrong-number", "scale/lost-number", "shift/wrong-number", "double-relu/lost-call", "untranspose/wrong-rewrite",
		"abs-neg/wrong-operator", "merge/lost-attribute", "merge/lost-operand", "sub-add/swapped-operands", "silu/wrong-operator", "dead/lost-effect"}
}

// Kernels lists the operators whose kernels are wrong in an Engine.
func Kernels() []string { return []string{"matmul", "softmax", "cumsum", "mean"} }

// Pipeline returns the twelve passes with a mutant, which does its harm at one node.
// Without a mutant they are right.
func Pipeline(mutant, victim string) []passes.Pass {
	f := fault{kind: mutant, victim: victim}
	return f.pipeline()
}

// Victims lists the nodes at which a mutant can do harm in a module.
func Victims(ctx context.Context, m *graph.Module, mutant string) ([]string, error) {
	f := fault{kind: mutant}
	_, err := passes.Run(ctx, graph.Clone(m), f.pipeline(), passes.Options{})
	return f.seen, err
}

// Mended, set in the environment, makes Fails use the right passes and kernels.
const Mended = "GOFX_MENDED"

// Fails is the failure of a mutant of the pipeline or, where victim is "", of a kernel.
func Fails(mutant, victim string) debug.Failure {
	if os.Getenv(Mended) != "" {
		mutant = ""
	}
	if victim != "" {
		return debug.Fails(Pipeline(mutant, victim), passes.Options{}, nil)
	}
	return debug.Fails(nil, passes.Options{}, Engine(mutant))
}

// Engine returns plans for the CPU in which the kernels of an operator are wrong.
func Engine(operator string) debug.EngineFor {
	return func(m *graph.Module) (debug.Engine, error) {
		exe, err := cpu.Compile(m, lowering.Options{})
		if err != nil {
			return nil, err
		}
		for i := range exe.Plan().Steps {
			s := &exe.Plan().Steps[i]
			if operator != "" && (s.Op == operator || strings.HasPrefix(s.Op, operator+"+")) {
				s.Kernel = &wrong{s.Kernel}
			}
		}
		return exe, nil
	}
}

// wrong is a kernel that gets the last element wrong.
type wrong struct{ right kernel.Step }

// Run implements kernel.Step.
func (k *wrong) Run(w *kernel.Workspace, out, in []*array.Array) {
	k.right.Run(w, out, in)
	last := out[0].Len() - 1
	array.SetFloat64At(out[0], last, 2*array.Float64At(out[0], last)+0.25)
}
