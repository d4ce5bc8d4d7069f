package quant

// Reason is why something that was asked for was not granted, or not as it was
// asked. Its String is the code by which plans and docs/quant.md name it.
type Reason uint8

// The reasons. Those up to Within are no refusals: nothing that was asked for is
// missing from the result.
const (
	NotAsked    Reason = iota // the configuration leaves the operator in float
	NoFloats                  // the operator computes integers or bools
	Structure                 // the operator belongs to the graph itself: getitem, assign
	Unused                    // nothing behind, or in front, is quantised: conversions would cost and gain nothing
	FloatResult               // nothing takes the result quantised, and the operator can give floats
	Within                    // computed together with another operator, in its precision

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
)

var reasonInfo = []struct{ code, name string }{
	NotAsked: {"Q01", "not asked"}, NoFloats: {"Q02", "no floats"}, Structure: {"Q03", "structure"},
	Unused: {"Q04", "no gain"}, FloatResult: {"Q05", "float result"}, Within: {"Q06", "fused"},
	NoForm: {"Q11", "no form"}, NoMode: {"Q12", "no such mode"}, NoScheme: {"Q13", "no such scheme"},
	OtherScheme: {"Q14", "other scheme"}, NeverDeclared: {"Q15", "declared never"}, OpaqueCode: {"Q16", "opaque"},
	OtherFloats: {"Q17", "other floats"}, UnknownType: {"Q18", "unknown type"}, TupleResult: {"Q19", "several results"},
	ComputedWeight: {"Q20", "computed weight"}, UnfitWeight: {"Q21", "unfit weight"}, InRegion: {"Q22", "in a region"},
	InTraining: {"Q23", "training"}, WrittenMemory: {"Q24", "written memory"},
	FasterInFloat: {"Q25", "faster in float"},
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
func (r Reason) Refusal() bool { return r > Within }

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
