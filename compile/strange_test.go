package compile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

type ring struct {
	Self *ring
	Any  any
	Err  error
	W    *tensor.Tensor
	Ptr  **tensor.Tensor
	Buf  []*ring
	Last any
}

type ringIn struct {
	R *ring
	X *tensor.Tensor
	N *int
}

type ringOut struct {
	R   *tensor.Tensor
	Me  *ring
	Any any
	Mid *any
	N   *int
	T   **tensor.Tensor
	All []*ring
}

func ringWorld() ringIn {
	n := 4
	r := &ring{W: tensor.Zeros(2), Any: 7}
	r.Self, r.Ptr, r.Buf, r.Last = r, &r.W, []*ring{r, nil, r}, &n
	return ringIn{r, vec(1, 2), &n}
}

// TestStrangePrograms runs programs whose memory leads back to itself, or into the middle of other memory.
func TestStrangePrograms(t *testing.T) {
	typ := pkg + ".ring"
	table := state.Table{Func: "ring", Receiver: true, Dynamic: []string{"*int", "*" + typ},
		Fields: []state.Field{field("ring", "Self", "*"+typ, rw), field("ring", "Any", "interface {}", rw), field("ring", "W", tensorName, rw), field("ring", "Ptr", "*"+"*github.com/gofx-dev/gofx/tensor.Tensor", rw),
			field("ring", "Buf", "[]*"+typ, rw|state.Len|state.Cap), field("ring", "Last", "interface {}", rw)},
		Elems:   []state.Elem{{Type: "*int", Access: rw}, {Type: "**github.com/gofx-dev/gofx/tensor.Tensor", Access: rw}, {Type: "[]*" + typ, Access: rw | state.Len | state.Cap}},
		InPlace: pairTable.InPlace}
	for name, run := range map[string]func(in *ringIn, out *ringOut){
		"myself":           func(in *ringIn, out *ringOut) { out.Me, out.Any, in.R.Any = in.R, in.R, in.R.Self },
		"interior pointer": func(in *ringIn, out *ringOut) { out.Mid, in.R.Any = &in.R.Any, 8 },
		"interior tensor":  func(in *ringIn, out *ringOut) { out.T = &in.R.W; in.R.W = in.X.Add(in.R.W) },
		"through pointer":  func(in *ringIn, out *ringOut) { *in.R.Ptr = in.X.Neg(); out.R = in.R.W },
		"shared number":    func(in *ringIn, out *ringOut) { *in.N++; out.R = in.X.AddScalar(float64(*in.R.Last.(*int))) },
		"new and shared":   func(in *ringIn, out *ringOut) { m := 3; in.R.Last, out.N = &m, &m },
		"new rings":        func(in *ringIn, out *ringOut) { r := &ring{Any: 1}; r.Self, r.Ptr, out.Me, in.R.Self = r, &r.W, r, r },
		"list of mine":     func(in *ringIn, out *ringOut) { out.All = in.R.Buf[1:]; in.R.Buf = append(in.R.Buf[:1], in.R) },
		"tensor of before": func(in *ringIn, out *ringOut) { w := in.R.W; in.R.W.AddInPlace(in.X); in.R.W = w.Neg(); out.R = w },
		"one tensor":       func(in *ringIn, out *ringOut) { y := in.X.Exp(); in.R.W, out.R, out.T = y, y, &y },
		"nothing":          func(in *ringIn, out *ringOut) {},
	} {
		t.Run(name, func(t *testing.T) {
			if hits := everyWord(t, table, run, ringWorld); name != "shared number" { // which is another one at each call
				require.Greater(t, hits, 30)
			}
		})
	}
}
