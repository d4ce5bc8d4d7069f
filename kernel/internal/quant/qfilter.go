package quant

import (
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// qBlock is the channels of a block of depthwise weights.
const qBlock = 64

// qFilter is the layout of a packed convolution weight: one PackedQ for each
// group, or blocks of 64 channels for a depthwise convolution.
type qFilter struct {
	outChans, chans, groups int
	taps                    int
	depthwise               bool
	merged                  bool // taps of a line are next to each other in the image
	runs, run               int  // bytes that are read in one piece
	line                    int  // taps of a run
}

// newFilter describes weights [outChans, chans/groups, kernel...].
func newFilter(step string, outChans, chans int, kernel []int, groups int, dilation []int) (f qFilter) {
	groups = max(groups, 1)
	taps, ok := array.NumElems(kernel)
	if !ok || len(kernel) == 0 || outChans%groups != 0 || chans%groups != 0 {
		operand.BadOperand(step, "channels are not a multiple of the groups, or the kernel is of a bad size")
	}
	f = qFilter{outChans: outChans, chans: chans, groups: groups, taps: taps, runs: taps, run: chans / groups, line: 1}
	f.depthwise = groups > 1 && groups == chans && groups == outChans
	last := kernel[len(kernel)-1]
	dilated := len(dilation) > 0 && dilation[len(dilation)-1] != 1
	f.merged = groups == 1 && last > 0 && !dilated
	if f.merged {
		f.line, f.runs, f.run = last, taps/last, f.run*last
	}
	if _, ok := array.NumElems([]int{outChans + qBlock, f.runs, f.run + 4, 2}); !ok {
		operand.BadOperand(step, "the weight is too large")
	}
	return f
}

// bytes is the length of the packed weight.
func (f *qFilter) bytes() int {
	if f.depthwise {
		blocks := (f.chans + qBlock - 1) / qBlock
		return blocks * (f.tapGroups()*4*qBlock + 4*qBlock)
	}
	size, _ := qPackedBytes(f.outChans/f.groups, f.runs, f.run)
	return size * f.groups
}

// tapGroups is the groups of four taps of a depthwise filter.
func (f *qFilter) tapGroups() int { return (f.taps + 3) / 4 }

// group returns the packed weights of a group; of all channels of a depthwise
// filter, whose sums alone are those of a PackedQ.
func (f *qFilter) group(mem []int8, g int) PackedQ {
	if f.depthwise {
		blocks := (f.chans + qBlock - 1) / qBlock
		split := blocks * f.tapGroups() * 4 * qBlock
		q := PackedQ{n: f.chans, taps: 1, run: f.taps, data: mem[:split]}
		sums := mem[split:]
		if len(sums) > 0 {
			q.sums = unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(sums))), blocks*qBlock)
		}
		return q
	}
	size := len(mem) / f.groups
	return qPacked(mem[g*size:(g+1)*size], f.outChans/f.groups, f.runs, f.run)
}

// pack lays out a dense weight; flip makes its bytes signed.
func (f *qFilter) pack(mem, weight []int8, flip int8) {
	if f.depthwise {
		f.packDepthwise(mem, weight, flip)
		return
	}
	per := f.outChans / f.groups
	size := f.chans / f.groups * f.taps // of one filter
	src := qSource{flip: flip, col: size, tap: 1, step: f.taps}
	if f.merged {
		src.tap, src.inner, src.outer = f.line, f.chans, 1
	}
	for g := range f.groups {
		q := f.group(mem, g)
		src.bytes = weight[g*per*size:]
		q.pack(src)
	}
}

// packDepthwise interleaves four taps. Sum j of a block's four vectors holds
// channels 4j to 4j+3 of each 16, as interleaving the image's bytes gives them. An
// instruction multiplies four taps of sixteen channels at once that way, though no
// two channels are added.
func (f *qFilter) packDepthwise(mem, weight []int8, flip int8) {
	q := f.group(mem, 0)
	clear(q.data)
	clear(q.sums)
	block := f.tapGroups() * 4 * qBlock
	for c := range f.chans {
		at := c/qBlock*block + depthwiseAt(c%qBlock)
		sum := int32(0)
		for t := range f.taps {
			v := weight[c*f.taps+t] ^ flip
			q.data[at+t/4*4*qBlock+t%4] = v
			sum += int32(v)
		}
		q.sums[c] = sum
	}
}

// depthwiseAt is where a channel of a block has its first tap.
func depthwiseAt(c int) int { return c%16/4*64 + c/16*16 + c%4*4 }

// QConvPackedBytes is the length of the i8 vector that QPackConv writes for a
// weight of this shape, [M, C/groups, kernel...].
//
//gofx:kernel
func QConvPackedBytes(weight []int, groups int, dilation []int) int {
	f := shapeFilter("q_pack_conv", weight, groups, dilation)
	return f.bytes()
}

func shapeFilter(step string, weight []int, groups int, dilation []int) qFilter {
	if len(weight) < 3 {
		operand.BadOperand(step, "the weight is not [M, C/groups, kernel...]")
	}
	return newFilter(step, weight[0], weight[1]*max(groups, 1), weight[2:], groups, dilation)
}

// QPackConv packs in[0], a weight [M, C/Groups, kernel...] of i8 or u8, into
// out[0], a vector of QConvPackedBytes i8, for QConv with Packed and the same
// groups and dilation. It is done once, when weights are loaded.
//
//gofx:kernel
type QPackConv struct {
	Groups   int
	Dilation []int
}

// Packed implements Packer.
func (s QPackConv) Packed(weight *array.Array) (array.DType, []int) {
	return array.I8, []int{QConvPackedBytes(weight.Shape(), s.Groups, s.Dilation)}
}

// ScratchBytes implements Scratcher.
func (QPackConv) ScratchBytes(_, in []*array.Array) int { return operand.LoadBytes(in[0]) }

// Run implements Step.
func (s QPackConv) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "q_pack_conv"
	f := shapeFilter(step, in[0].Shape(), s.Groups, s.Dilation)
	mem := array.Data[int8](out[0])
	if len(mem) != f.bytes() {
		operand.BadOperand(step, "the packed weight has another length")
	}
	mark := w.Mark()
	f.pack(mem, asInt8(loadBytesOf(w, in[0])), weightFlip(step, in[0]))
	w.Release(mark)
}
