// Package archtest holds the architecture as data: which room may import which,
// and the dependencies allowed in the small rooms. Its tests fail on anything
// else.
package archtest

import "strings"

// Module is the module's import path.
const Module = "github.com/gofx-dev/gofx"

// Rows lists the rooms, highest row first; a room imports rooms of lower rows only.
var Rows = [][]string{
	{"cmd"}, // and everything below it
	{"lowering/gpu/cardtest"},
	{"models/decode"},
	{"models"},
	{"models/sampling", "models/tokens"},
	{"train"},
	{"fx"},
	{"lazy/lazytest", "compile"},
	{"lazy"},
	{"draw/graphviz"},
	{"codegen", "draw", "lowering/cpu", "lowering/gpu", "lowering/xla", "onnx", "pt2"},
	{"onnx/internal/exporter", "onnx/internal/importer"},
	{"onnx/internal/contrib", "onnx/internal/ml"},
	{"onnx/internal/standard"},
	{"onnx/internal/rule"},
	{"onnx/internal/modelfile"},
	{"onnx/internal/spec", "lowering/gpu/internal/run"},
	{"lowering/gpu/internal/cuda/cudatest", "lowering/gpu/internal/lower"},
	{"lowering/gpu/internal/opencl", "lowering/gpu/internal/cuda", "lowering/gpu/internal/source", "lowering/gpu/internal/pack", "lowering/gpu/internal/ptx"},
	{"lowering/xla/internal/eval"},
	{"lowering/xla/internal/stablehlo"},
	{"codegen/graphtable"},
	{"codegen/module", "codegen/kernelstyle"},
	{"lowering/shard"},
	{"codegen/gosrc", "codegen/certificate", "codegen/kernelstyle/outline", "lowering/cost", "lowering/generated"},
	{"lowering/internal/packs", "lowering/internal/measure"},
	{"lowering", "lowering/plan", "lowering/internal/join", "lowering/gpu/internal/device"},
	{"lowering/internal/lifetimes", "passes/quant/tune"},
	{"passes/recompute"},
	{"passes/fusion", "passes/quant", "passes/partition", "passes/schedule", "passes/arrange", "passes/grad"},
	{"passes/debug", "passes/quant/integer"},
	{"passes/expand", "passes/quant/internal/form"},
	{"passes/simplify", "passes/shapeprop"},
	{"passes", "compile/source"},
	{"compile/state", "interp", "tracer", "nn", "optim", "graph/repeat", "graph/count", "internal/opdoc"},
	{"tracer/record"},
	{"tracer/alias"},
	{"tensor", "graph"},
	{"graph/guard"},
	{"op/std", "op/api", "op/ml"},
	{"op"},
	{"op/expr", "kernel"},
	// The families below kernel; docs/kernels.md describes each.
	{"kernel/internal/conv", "kernel/internal/program", "kernel/internal/attention", "kernel/internal/index"},
	{"kernel/internal/reduce", "kernel/internal/winograd", "kernel/internal/rnn", "kernel/internal/narrow", "kernel/internal/linalg"},
	{"kernel/internal/gemm", "kernel/internal/rowcol", "kernel/internal/pool", "kernel/internal/quant", "kernel/internal/resize", "kernel/internal/ml"},
	{"kernel/internal/geom", "kernel/internal/move", "kernel/internal/kerneltest"},
	{"kernel/internal/operand", "kernel/internal/random"},
	{"kernel/internal/par", "kernel/internal/half", "kernel/internal/vmath"},
	{"kernel/internal/cpu", "kernel/internal/opcode"},
	{"array/weights", "lowering/xla/pjrt"},
	{"array/gguf", "array/npy", "array/safetensors", "array/torchpt", "internal/effects"},
	{"shape", "internal/blocks"},
	{"array", "internal/named", "internal/onnxpb", "internal/scan", "internal/turn", "internal/userpkg"},
	{"diag"},
	{"internal/dynlib", "internal/goname", "internal/kept", "internal/licences", "internal/mapfile", "internal/near", "internal/peek", "internal/swap", "internal/textdiff", "internal/ziparc"},
}

// Exceptions are imports within one row, or upwards, that are allowed, with reasons.
var Exceptions = map[string]string{
	"op/expr -> kernel": "opcodes of scalar programs exist once, in kernel (decision 0001)",
}

// Machinery holds the folders of generators and of test tools. No package of the
// product imports from them, so that nothing of them reaches a user's binary; they
// import what they need.
var Machinery = []string{"internal/testkit", "internal/generators", "codegen/internal", "kernel/internal/kerneltest", "lowering/gpu/cardtest", "lowering/gpu/internal/cuda/cudatest"}

// NoStd lists the rooms that must not know operators by name.
var NoStd = []string{"graph", "graph/count", "interp", "tracer", "tracer/record", "tracer/alias", "codegen", "codegen/module", "codegen/kernelstyle", "codegen/kernelstyle/outline", "codegen/graphtable", "codegen/gosrc", "lazy", "compile", "compile/state", "passes", "passes/shapeprop", "passes/simplify", "passes/partition", "passes/debug", "graph/repeat", "lowering", "lowering/plan", "lowering/internal/join", "lowering/cost", "lowering/shard"}

// Only restricts rooms to a few of the rooms below them.
var Only = map[string][]string{
	// Code generation sees the plan, never another target's form of a graph.
	"codegen":                     {"codegen/module", "codegen/kernelstyle", "codegen/graphtable", "codegen/gosrc", "lowering/generated", "lowering/plan", "graph", "array", "diag"},
	"codegen/graphtable":          {"codegen/kernelstyle", "codegen/gosrc", "lowering/generated", "lowering/plan", "internal/goname", "array", "diag"},
	"codegen/module":              {"internal/goname", "internal/peek", "codegen/gosrc", "tracer", "tensor", "graph", "graph/guard", "op/api", "op", "array", "array/safetensors", "shape", "diag"},
	"codegen/kernelstyle":         {"internal/goname", "codegen/gosrc", "codegen/kernelstyle/outline", "lowering/plan", "graph", "graph/guard", "kernel", "array", "array/safetensors", "shape", "diag"},
	"codegen/kernelstyle/outline": {"lowering/plan"},
	"codegen/certificate":         {"tensor", "array", "array/safetensors", "shape", "diag"},
	"codegen/gosrc":               {"internal/goname", "graph", "op", "op/expr", "kernel", "array", "shape", "diag"},
	// What a value is, is the engine's.
	"tracer/record": {"tracer/alias", "tensor", "op", "array", "shape", "diag"},
	"tracer/alias":  {"op", "array", "shape", "diag"},
	"fx": {"passes/arrange", "passes/recompute", "passes/grad", "passes/fusion", "passes/quant/integer", "passes/partition", "passes/simplify", "passes/shapeprop", "passes", "lowering", "lowering/plan",
		"interp", "tracer", "nn", "tensor", "graph", "op", "op/std", "array", "array/npy", "array/safetensors", "shape", "diag", "internal/near"},
}

// Small lists the rooms that generated code links; Banned the packages that
// they must not depend on, directly or not.
var (
	Small  = []string{"array", "shape", "diag", "kernel", "array/safetensors"}
	Banned = []string{"fmt", "encoding/json", "math/big", "text/template", "regexp", "net/http", "log"}
)

// Service lists the rooms that a user's program imports: to capture, run and plan networks, and in
// generated code. Modules of other people are for the command line, tests and drawing, so that
// the program's go.mod requires this module alone.
var Service = []string{"fx", "lazy", "compile", "compile/source", "compile/state", "nn", "optim", "train", "tensor", "models", "models/decode", "models/sampling", "models/tokens", "lowering/cpu", "array/weights", "onnx", "pt2", "codegen/certificate"}

// row returns the row of a room (0 is the highest), -1 for unknown ones.
func row(room string) int {
	for i, rooms := range Rows {
		for _, r := range rooms {
			if r == room {
				return i
			}
		}
	}
	return -1
}

// isMachinery reports whether a package is below one of the Machinery folders.
func isMachinery(room string) bool {
	for _, folder := range Machinery {
		if room == folder || strings.HasPrefix(room, folder+"/") {
			return true
		}
	}
	return false
}

// Judge returns the fault of one room importing another, "" when it is allowed.
func Judge(from, to string) string {
	switch {
	case isMachinery(from):
		return ""
	case isMachinery(to):
		return from + " imports " + to + ": the product imports neither generators nor what tests use"
	case strings.HasPrefix(from, "cmd/"):
		return "" // the top row imports the whole product
	}
	if strings.HasPrefix(to, "cmd/") {
		return from + " imports " + to + ": nothing imports a command"
	}
	if _, ok := Exceptions[from+" -> "+to]; ok {
		return ""
	}
	a, b := row(from), row(to)
	switch {
	case a < 0:
		return "room " + from + " is not in the design's rows"
	case b < 0:
		return "room " + to + " is not in the design's rows"
	case b <= a:
		return from + " imports " + to + ", which is not in a lower row"
	}
	for _, r := range NoStd {
		if r == from && (to == "op/std" || to == "op/ml") {
			return from + " imports " + to + ": an engine that can name operators grows a switch over them"
		}
	}
	if allowed, ok := Only[from]; ok {
		for _, r := range allowed {
			if r == to {
				return ""
			}
		}
		return from + " may not import " + to
	}
	return ""
}

// Picture returns the rows as text: the rooms, highest row first, as
// docs/architecture.md draws them.
func Picture() string {
	var b strings.Builder
	for _, row := range Rows {
		b.WriteString(strings.Join(row, "   ") + "\n")
	}
	return b.String()
}
