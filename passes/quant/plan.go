package quant

import (
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gofx-dev/gofx/diag"
)

// Plan says of every operator, weight and value of a graph what was asked, by whom,
// what is granted, and why not. Its text is the same for the same graph,
// configuration and backend.
type Plan struct {
	Backend string
	Entries []Entry
	// Groups are the values, by node name, that have equal parameters.
	Groups [][]string
}

// Part says what of a node an entry speaks of.
type Part uint8

// The parts.
const (
	OperatorPart Part = iota
	WeightPart
	ValuePart
)

// String returns "operator", "weight" or "value".
func (p Part) String() string { return [...]string{"operator", "weight", "value"}[p] }

// Entry is one decision.
type Entry struct {
	Node    string // the node's name
	Op      string // its operator, or opcode
	Part    Part
	Param   string // of a weight: its path
	Asked   string // "static"; of weights and values the scheme
	By      string // who asked: "global", "op linear"
	Granted string // "static", "static, computed in f32 between", "u8 affine tensor, histogram"; "float"
	Group   int    // 1 + the index in Plan.Groups, 0 for none
	Why     []Why

	pos diag.Pos
}

// Pos returns the user's line that the entry is about.
func (e Entry) Pos() diag.Pos { return e.pos }

// Refusals returns the entries with a reason that is a refusal.
func (p *Plan) Refusals() []Entry {
	var out []Entry
	for _, e := range p.Entries {
		for _, w := range e.Why {
			if w.Reason.Refusal() {
				out = append(out, e)
				break
			}
		}
	}
	return out
}

// refusals returns an error for each refusal.
func (p *Plan) refusals() diag.List {
	var errs diag.List
	for _, e := range p.Refusals() {
		what := e.Part.String()
		if e.Param != "" {
			what += " " + e.Param
		}
		errs = append(errs, &diag.Error{Code: Refused, Pos: e.pos, Node: e.Node, Op: e.Op,
			Msg:  what + " is asked to be " + e.Asked + " by " + e.By + ", " + p.Backend + " grants " + e.Granted + ": " + whys(e.Why),
			Hint: "exclude the operator, ask for what the backend has, or leave out strict"})
	}
	return errs
}

func whys(list []Why) string {
	var parts []string
	for _, w := range list {
		parts = append(parts, w.String())
	}
	return strings.Join(parts, "; ")
}

// count returns how many operators are quantised, and of how many.
func (p *Plan) count() (granted, all int) {
	for _, e := range p.Entries {
		if e.Part == OperatorPart {
			all++
			if e.Granted != Float.String() {
				granted++
			}
		}
	}
	return granted, all
}

// String returns the plan as a table, a line for each entry in the order of the
// graph.
func (p *Plan) String() string {
	var b strings.Builder
	granted, all := p.count()
	b.WriteString("plan for " + p.Backend + ": " + strconv.Itoa(granted) + " of " + strconv.Itoa(all) + " operators quantised\n")
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, e := range p.Entries {
		what := e.Part.String()
		if e.Part == WeightPart {
			what += " " + e.Param
		}
		if e.Part == OperatorPart {
			what = e.Op
		}
		group := ""
		if e.Group > 0 {
			group = " = group " + strconv.Itoa(e.Group)
		}
		line := "%" + e.Node + "\t" + what + "\t" + e.Asked + " by " + e.By + "\t" + e.Granted + group + "\t" + whys(e.Why) + "\n"
		_, _ = w.Write([]byte(line)) // a strings.Builder does not fail
	}
	_ = w.Flush()
	for line := range strings.Lines(table.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	for i, g := range p.Groups {
		b.WriteString("group " + strconv.Itoa(i+1) + ": %" + strings.Join(g, " %") + "\n")
	}
	return b.String()
}

// Reason is why something that was asked for was not granted, or not as it was
// asked. Its String is the code by which plans and docs/quant.md name it.
type Reason uint8

// The reasons. Those up to Between are no refusals: nothing that was asked for is
// missing from the result.
const (
	NotAsked    Reason = iota // the configuration leaves the operator in float
	NoFloats                  // the operator computes integers or bools
	Structure                 // the operator belongs to the graph itself: getitem, assign
	Unused                    // nothing after, or in front, is quantised: conversions would cost and gain nothing
	FloatResult               // nothing takes the result quantised, and the operator can give floats
	Within                    // computed together with another operator, in its precision
	Between                   // no integer form: computed in f32 between quantised values

	NoForm         // the backend has no quantised form of the operator
	NoMode         // the backend has the operator, but not in this mode
	NoScheme       // the backend has no such element type, size, granularity or symmetry
	OtherScheme    // another operator that uses the value, or its group, has decided otherwise
	NeverDeclared  // the operator's record says that it is never quantised
	OpaqueCode     // a Go function or module whose meaning is not known
	OtherFloats    // the operator computes floats other than f32
	UnknownType    // the type is not known
	TupleResult    // the operator has several results
	ComputedWeight // the weight is computed, written, or has no value
	UnfitWeight    // the weight has values that are not finite, or a size that does not suit
	InRegion       // the operator is within cond, while or scan
	InTraining     // the operator is in training mode
	WrittenMemory  // the value's memory is written in place
	FasterInFloat  // the backend computes the operator faster in floats
	InfiniteValue  // the value, or an operand, has infinities in calibration
)

var reasonInfo = []struct{ code, name string }{
	NotAsked: {"Q01", "not asked"}, NoFloats: {"Q02", "no floats"}, Structure: {"Q03", "structure"},
	Unused: {"Q04", "no gain"}, FloatResult: {"Q05", "float result"}, Within: {"Q06", "fused"}, Between: {"Q07", "in floats"},
	NoForm: {"Q11", "no form"}, NoMode: {"Q12", "no such mode"}, NoScheme: {"Q13", "no such scheme"},
	OtherScheme: {"Q14", "other scheme"}, NeverDeclared: {"Q15", "declared never"}, OpaqueCode: {"Q16", "opaque"},
	OtherFloats: {"Q17", "other floats"}, UnknownType: {"Q18", "unknown type"}, TupleResult: {"Q19", "several results"},
	ComputedWeight: {"Q20", "computed weight"}, UnfitWeight: {"Q21", "unfit weight"}, InRegion: {"Q22", "in a region"},
	InTraining: {"Q23", "training"}, WrittenMemory: {"Q24", "written memory"},
	FasterInFloat: {"Q25", "faster in float"}, InfiniteValue: {"Q26", "infinite value"},
}

// Reasons returns all reasons.
func Reasons() []Reason {
	all := make([]Reason, len(reasonInfo))
	for i := range all {
		all[i] = Reason(i)
	}
	return all
}

// String returns "Q11 no form".
func (r Reason) String() string { return reasonInfo[r].code + " " + reasonInfo[r].name }

// Refusal reports whether something that was asked for is missing; strict
// configurations make that an error.
func (r Reason) Refusal() bool { return r > Between }

// Why is a reason with what it is about.
type Why struct {
	Reason Reason
	Text   string
}

// String returns "Q11 no form: cpu has none of softmax".
func (w Why) String() string {
	if w.Text == "" {
		return w.Reason.String()
	}
	return w.Reason.String() + ": " + w.Text
}
