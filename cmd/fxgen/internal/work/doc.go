// Package work is what fxgen does with a model once it has one: capture, passes,
// and then printing, counting, running or generating. A Job is data, and so is its
// Result, because models of a user's package exist only in a test binary of that
// package: the command runs jobs on built-in models and graph files itself, and
// sends those on user code to package harness in that binary.
//
// Read Job, Source and Do first.
package work

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/draw"
)

// Verbs of a job.
const (
	Print   = "print"   // the text form
	Stats   = "stats"   // counts
	Run     = "run"     // results on given inputs
	Bench   = "bench"   // times
	Profile = "profile" // times of the plan's steps
	Draw    = "draw"    // DOT, HTML
	Gen     = "gen"     // Go source
	Quant   = "quant"   // the plan of a quantisation, and the quantised graph
	Why     = "why"     // what the passes did and did not
	Feed    = "feed"    // Go source, and the inputs of a run as files: for the engines module and gen
)

// DefaultSeed is the seed of synthetic weights and inputs.
const DefaultSeed = "gofx-1"

// Named is a flag of the form NAME=VALUE.
type Named struct{ Name, Value string }

// Job is what a command was asked to do with a source. Paths in it are absolute.
type Job struct {
	Verb string

	Inputs  []Named // declared types, in the order of the parameters
	Weights string  // a safetensors file, synthetic:SEED, or "" for the source's default
	Seed    string  // of what is synthetic and has no seed of its own

	Passes []string // names; nil means none
	After  string   // the last pass to run
	Node   string   // what why is asked about, "" for all

	Shapes []Named  // "1,128"
	In     []Named  // values of inputs
	Out    []string // names of the outputs wanted as files

	Engine  string
	Threads int
	Repeat  int
	MinTime int64 // nanoseconds
	Timeout int64 // nanoseconds that the model's code may take while it is captured, 0 for any

	Config  Named   // of a quantisation: the file's name and text
	Calib   []Named // files of batches, by input; "" for the only one
	Strict  bool    // all that a quantisation asks for is to be granted
	Plan    bool    // return the plan of a quantisation
	Save    bool    // return the quantised graph
	Report  bool    // measure what it costs
	Ranked  bool    // and what each operator costs alone
	Overlay string  // what a drawing is coloured by: OverlaySQNR, OverlayCost, OverlayTime, or ""

	JSON      bool
	Positions bool
	Drawing   draw.Options
	Depth     int    // levels of modules of a profile, 0 for all
	By        string // what a profile sums up: ByStep, ByScope or ByOp
	Top       int    // rows of a profile, 0 for all
	Samples   bool   // take a profile of the processor, too
	Format    string // of a drawing: dot or html

	Package     string
	Type        string // name of the generated type
	File        string // beginning of the generated files' names
	OutDir      string // where the package is to be
	Func        string // name of the generated function, module style
	OwnState    bool   // module style: do not refer to the user's module
	Style       string // module or kernel
	WeightsMode string
	Eject       bool
	PackagePath string // import path of the package that module style is written into
}

// File is one result that is to become a file.
type File struct {
	Name string
	Data []byte `json:"-"`
}

// Result is what a job gave. Files go to disk, or beside the result in the
// exchange with a test binary.
type Result struct {
	Text  string
	Files []File
	Notes diag.List `json:"-"`
	// InputNames and OutputNames are those of the captured graph.
	InputNames, OutputNames []string
	PeakBytes               int64
	// InputTypes and Shapes describe the inputs of the verb Feed.
	InputTypes []string
	Shapes     [][]int
}
