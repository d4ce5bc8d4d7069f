package kernel

import (
	"github.com/gofx-dev/gofx/kernel/internal/conv"
	"github.com/gofx-dev/gofx/kernel/internal/pool"
	"github.com/gofx-dev/gofx/kernel/internal/resize"
)

// Convolutions.
type (
	// Conv is the cross-correlation of torch.nn.functional.conv1d, conv2d and conv3d:
	// in[0] [N, C, spatial...] or [C, spatial...], in[1] the weight [M, C/Groups,
	// kernel...], in[2] an optional bias [M].
	Conv = conv.Conv

	// PackConv packs in[0], the weight [M, C/Groups, kernel...] of a convolution in
	// f32, f16 or bf16, for ConvPacked with the same Conv and In: out[0] is f32
	// [PackedConvLen(...)].
	PackConv = conv.PackConv

	// ConvPacked is Conv with a weight that PackConv packed, and an epilogue: in[0]
	// [N, C, spatial...] or [C, spatial...], in[1] the packed weight of Channels
	// filters of the size Kernel, then bias [M], scale [M] and residual, of the
	// result's shape, and the factor and the term of the prologue, of C elements or of
	// N*C, each nil when absent.
	ConvPacked = conv.ConvPacked

	// ConvTranspose is torch.nn.functional.conv_transpose1d to 3d, the gradient of
	// Conv with respect to its input: in[0] [N, C, spatial...] or [C, spatial...],
	// in[1] the weight [C, M/Groups, kernel...], in[2] an optional bias [M].
	ConvTranspose = conv.ConvTranspose
)

// PackedConvLen returns the elements that PackConv{s, in} takes for a weight of
// the shape [M, C/Groups, kernel...].
func PackedConvLen(s Conv, in, weight []int) int {
	return conv.PackedConvLen(s, in, weight)
}

// Pooling.
type (
	// AvgPool is torch.nn.functional.avg_pool1d to 3d over the last len(Kernel)
	// dimensions of in[0].
	AvgPool = pool.AvgPool

	// AdaptiveAvgPool is torch.nn.functional.adaptive_avg_pool1d to 3d over the last
	// Spatial dimensions of in[0]; the output's shape gives the target size.
	AdaptiveAvgPool = pool.AdaptiveAvgPool

	// AdaptiveMaxPool is torch.nn.functional.adaptive_max_pool1d to 3d; dimensions as
	// in AdaptiveAvgPool, the optional out[1] as in MaxPool.
	AdaptiveMaxPool = pool.AdaptiveMaxPool

	// MaxPool is torch.nn.functional.max_pool1d to 3d over the last len(Kernel)
	// dimensions of in[0].
	MaxPool = pool.MaxPool
)

// Images of other sizes.
type (
	// GridSample reads in[0], [N, C, H, W] or [N, C, D, H, W], at the points that
	// in[1], [N, h, w, 2] or [N, d, h, w, 3], gives as x, y(, z) in [-1, 1]; the
	// result is [N, C, h, w] or [N, C, d, h, w].
	GridSample = resize.GridSample

	// Resize interpolates the last Spatial dimensions of in[0] (up to three) to the
	// sizes that out[0] has.
	Resize = resize.Resize
)
