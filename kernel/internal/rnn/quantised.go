package rnn

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// QLSTM is LSTM with weights of 8 bits, ONNX Runtime's DynamicQuantizeLSTM: x of a
// layer, and the state of each step, of the whole batch, are quantised by the range
// that they have, as DynamicQuantize does, and multiplied as integers; gates and
// states are f32. Operands are those of LSTM, f32, but w_ih and w_hh are i8 with the
// zero point 0, each followed by its scale, f32 of one element or of one for each
// row. Packed says that they are the output of QPackLinear.
//
//gofx:kernel
type QLSTM struct {
	Layers                    int
	Bidirectional, BatchFirst bool
	HasBias                   bool
	Packed                    bool
}

// Run implements Step.
func (s QLSTM) Run(w *par.Workspace, out, in []*array.Array) { s.config().runQuantised(w, out, in) }

// ScratchBytes implements Scratcher.
func (s QLSTM) ScratchBytes(out, in []*array.Array) int { return s.config().scratchBytes(out, in) }

func (s QLSTM) config() recurrent {
	return recurrent{layers: s.Layers, bidir: s.Bidirectional, batchFirst: s.BatchFirst, bias: s.HasBias, cell: cellLSTM, quantised: true, packed: s.Packed}
}

// QGRU is GRU with weights of 8 bits; see QLSTM.
//
//gofx:kernel
type QGRU struct {
	Layers                    int
	Bidirectional, BatchFirst bool
	HasBias                   bool
	Packed                    bool
}

// Run implements Step.
func (s QGRU) Run(w *par.Workspace, out, in []*array.Array) { s.config().runQuantised(w, out, in) }

// ScratchBytes implements Scratcher.
func (s QGRU) ScratchBytes(out, in []*array.Array) int { return s.config().scratchBytes(out, in) }

func (s QGRU) config() recurrent {
	return recurrent{layers: s.Layers, bidir: s.Bidirectional, batchFirst: s.BatchFirst, bias: s.HasBias, cell: cellGRU, quantised: true, packed: s.Packed}
}

// step names the step in messages.
func (s recurrent) step() string {
	if s.cell == cellLSTM {
		return "q_lstm"
	}
	return "q_gru"
}

func (s recurrent) runQuantised(w *par.Workspace, out, in []*array.Array) {
	if d := in[0].DType(); d != array.F32 || out[0].DType() != d {
		operand.BadOperand(s.step(), "x or the result is not f32")
	}
	runRecurrent[float32](w, s, out, in)
}
