// Package work does fxgen's jobs on a model: capture, passes, and
// then printing, counting, running or generating. A Job is data, and so is its
// Result, because models of a user's package exist only in a test binary of that
// package: the command runs jobs on built-in models and graph files itself, and
// sends those on user code to package harness in that binary.
//
// Read Job, Source and Do first.
package work

import (
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/draw"
)

// Verbs of a job.
const (
	Print   = "print"        // the text form
	Stats   = "stats"        // counts
	Run     = "run"          // results on given inputs
	Bench   = exchange.Bench // times
	Profile = "profile"      // times of the plan's steps
	Draw    = "draw"         // DOT, HTML
	Gen     = "gen"          // Go source
	Quant   = "quant"        // the plan of a quantisation, and the quantised graph
	Why     = "why"          // the rewrites that the passes did and did not make
	Measure = "measure"      // the plan's steps and their costs: Measured
	Values  = "values"       // values of nodes, for compare
	Bisect  = "bisect"       // the rewrite that breaks a check
	Shrink  = "shrink"       // a small graph that fails, as a test
	Verify  = "verify"       // the outputs of a run, to be compared
	Export  = "export"       // an ONNX model
	Lower   = "lower"        // the program that a target would compile
	Grad    = "grad"         // the graph of results and gradients
	Train   = "train"        // a network with the weights that training gives it
	Feed    = "feed"         // Go source, and the inputs of a run as files: for the engines module and gen
)

// DefaultSeed is the seed of synthetic weights and inputs.
const DefaultSeed = "gofx-1"

// Named is a flag of the form NAME=VALUE.
type Named struct{ Name, Value string }

// Exported says how a model is exported.
type Exported struct {
	Name     string // of the file
	Opset    int    // 0: the lowest that will do
	External bool   // with the constants in a file next to it
}

// Job is the command's task for a source. Paths in it are absolute.
type Job struct {
	Verb string

	Inputs  []Named  // declared types, in the order of the parameters
	Weights string   // a file of weights, synthetic:SEED, or "" for the source's default
	Rename  []string // rules of weights.Rename for the names in the file
	Seed    string   // of synthetic data without a seed of its own

	Passes []string // names; nil means none
	After  string   // the last pass to run
	Diff   bool     // of why: show what each pass changes in the graph's text
	Node   string   // the subject of why, or the only value that is observed; "" for all
	StopAt Named    // the pass, and its rewrite, that the pipeline ends with

	Rel, Abs float64  // how close values must be
	Check    []string // of bisect: the program that accepts or refuses a saved graph, with its arguments
	CheckDir string   // where it runs

	Cache       string // of a language model's keys and values: f32, f16 or int8; "" for f32
	Activations string // that its weights in blocks are multiplied by: f32 or int8; "" for f32

	Shapes []Named  // "1,128"
	In     []Named  // values of inputs
	Out    []string // names of the outputs wanted as files
	All    bool     // want all of them

	Engine   string
	On       string // the device of engine gpu, the plugin of xla; "" for the first
	Threads  int
	Measure  bool   // implementations are chosen by measuring
	Products string // "bf16" for operands of products that are rounded to it, or ""
	Rounding bool   // of sessions: plans may round as they do by themselves
	Graphs   bool   // of the verb lazy: generate code of the graphs
	Donate   bool   // of the verb lazy: barriers that repeat update the model in its memory
	Repeat   int
	MinTime  int64 // nanoseconds
	Timeout  int64 // nanoseconds that the model's code may take while it is captured, 0 for any

	Training bool // capture the module in training mode

	ONNX    Exported       // how a model is exported
	Config  Named          // of a quantisation: the file's name and text
	Calib   []Named        // files of batches, by input; "" for the only one
	Strict  bool           // all that a quantisation asks for is to be granted
	Plan    bool           // return the plan of a quantisation
	Save    bool           // return the graph with its weights
	Grad    Gradient       // what the verb of that name differentiates
	Train   Training       // how the verb of that name trains
	Report  bool           // measure the cost
	Ranked  bool           // and the cost of each operator alone
	Device  Named          // device that times are predicted for: the file's name and text
	Rate    float64        // requests a second that a fleet of such devices serves, 0 for none
	Latency int64          // nanoseconds that 99 % of them may take
	Turns   map[string]int // how often while loops run their bodies
	Overlay string         // the colouring of a drawing: OverlaySQNR, OverlayCost, OverlayTime, OverlayFile, or ""
	Marks   Named          // of OverlayFile: the file's name and text

	MaxBytes int64 // of a value of generated code whose sizes are numbers, 0 for any machine's

	JSON      bool
	Positions bool
	Drawing   draw.Options
	Depth     int            // levels of modules of a profile, 0 for all
	By        string         // grouping of a profile or of the plan's costs: ByStep, ByScope or ByOp; "" for no costs
	Top       int            // rows of a profile, 0 for all
	Samples   bool           // take a profile of the processor, too
	Predict   []int          // threads that a profile predicts times for
	Target    string         // of the lowered program
	Bounds    map[string]int // the most that sizes of symbols can be in it
	Format    string         // of a drawing that is a page: FormatHTML or FormatJSON; "" for a picture

	Package     string
	Type        string // name of the generated type
	File        string // beginning of the generated files' names
	Test        string // name of the test that is written
	OutDir      string // where the package is to be
	Func        string // name of the generated function, module style
	OwnState    bool   // module style: do not refer to the user's module
	Style       string // module or kernel
	WeightsMode string
	Eject       bool
	Tested      string // whether a test and an example are generated: TestedAuto, TestedYes or TestedNo
	SamplesDir  string // folder of samples in ONNX's layout that the test has; "" for made-up ones
	PackagePath string // import path of the package that module style is written into
}

// What a job gives travels between processes, of which some do not link this package.
type (
	// Result is the result of a job.
	Result = exchange.Result
	// File is one result that is to become a file.
	File = exchange.File
	// Culprit is the rewrite that bisect has found.
	Culprit = exchange.Culprit
)
