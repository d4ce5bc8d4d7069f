package nn_test

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// leafCase is a module, an input type, what a leaf call of it must be and the
// type of the result. nils counts absent states that follow the input.
type leafCase struct {
	m             any
	in, want, out string
	nils          int
}

func (c leafCase) args(x *tensor.Tensor) []*tensor.Tensor {
	return append([]*tensor.Tensor{x}, make([]*tensor.Tensor, c.nils)...)
}

var leafCases = []leafCase{
	{nn.NewLinear(4, 3), "f32[2,4]", "linear weight[3,4] bias[3]", "f32[2,3]", 0},
	{nn.NewLinear(4, 3, nn.NoBias()), "f32[2,4]", "linear weight[3,4] bias=nil", "f32[2,3]", 0},
	{nn.NewConv1d(4, 6, 3, nn.Stride(2), nn.Padding(1), nn.Groups(2)), "f32[1,4,9]", "conv1d{stride=[2], padding=[1], groups=2} weight[6,2,3] bias[6]", "f32[1,6,5]", 0},
	{nn.NewConv2d(3, 8, 3), "f32[1,3,6,6]", "conv2d weight[8,3,3,3] bias[8]", "f32[1,8,4,4]", 0},
	{nn.NewConv2d(3, 8, 0, nn.Kernel(3, 1), nn.Stride(2, 1), nn.Padding(1, 0), nn.Dilation(2), nn.NoBias()), "f32[1,3,9,6]", "conv2d{stride=[2,1], padding=[1,0], dilation=[2]} weight[8,3,3,1] bias=nil", "f32[1,8,4,6]", 0},
	{nn.NewConv2d(3, 8, 3, nn.SamePadding()), "f32[1,3,6,6]", "conv2d{pad_mode=\"same\"} weight[8,3,3,3] bias[8]", "f32[1,8,6,6]", 0},
	{nn.NewConv3d(1, 2, 2), "f32[1,1,3,4,5]", "conv3d weight[2,1,2,2,2] bias[2]", "f32[1,2,2,3,4]", 0},
	{nn.NewConvTranspose1d(4, 2, 3, nn.Stride(2), nn.OutputPadding(1)), "f32[1,4,5]", "conv_transpose1d{stride=[2], output_padding=[1]} weight[4,2,3] bias[2]", "f32[1,2,12]", 0},
	{nn.NewConvTranspose2d(4, 6, 2, nn.Stride(2), nn.Groups(2)), "f32[1,4,3,3]", "conv_transpose2d{stride=[2], groups=2} weight[4,3,2,2] bias[6]", "f32[1,6,6,6]", 0},
	{nn.NewConvTranspose3d(2, 1, 2, nn.NoBias(), nn.Padding(1)), "f32[1,2,3,3,3]", "conv_transpose3d{padding=[1]} weight[2,1,2,2,2] bias=nil", "f32[1,1,2,2,2]", 0},
	{nn.NewBatchNorm1d(4), "f32[2,4]", "batch_norm{eps=1e-05} running_mean[4] running_var[4] weight[4] bias[4]", "f32[2,4]", 0},
	{nn.NewBatchNorm2d(4, nn.Eps(0.001), nn.TrackRunningStats(false)), "f32[2,4,2,2]", "batch_norm{eps=0.001} running_mean=nil running_var=nil weight[4] bias[4]", "f32[2,4,2,2]", 0},
	{nn.NewBatchNorm3d(4, nn.Affine(false)), "f32[2,4,1,2,2]", "batch_norm{eps=1e-05} running_mean[4] running_var[4] weight=nil bias=nil", "f32[2,4,1,2,2]", 0},
	{nn.NewInstanceNorm1d(4), "f32[2,4,3]", "instance_norm{eps=1e-05} running_mean=nil running_var=nil weight=nil bias=nil", "f32[2,4,3]", 0},
	{nn.NewInstanceNorm2d(4, nn.Affine(true)), "f32[2,4,3,3]", "instance_norm{eps=1e-05} running_mean=nil running_var=nil weight[4] bias[4]", "f32[2,4,3,3]", 0},
	{nn.NewInstanceNorm3d(4, nn.TrackRunningStats(true)), "f32[2,4,1,3,3]", "instance_norm{eps=1e-05, use_running_stats=true} running_mean[4] running_var[4] weight=nil bias=nil", "f32[2,4,1,3,3]", 0},
	{nn.NewLayerNorm([]int{3, 4}), "f32[2,3,4]", "layer_norm{normalized_shape=[3,4], eps=1e-05} weight[3,4] bias[3,4]", "f32[2,3,4]", 0},
	{nn.NewLayerNorm([]int{4}, nn.Affine(false), nn.Eps(1e-12)), "f32[2,3,4]", "layer_norm{normalized_shape=[4], eps=1e-12} weight=nil bias=nil", "f32[2,3,4]", 0},
	{nn.NewLayerNorm([]int{4}, nn.NoBias()), "f32[2,3,4]", "layer_norm{normalized_shape=[4], eps=1e-05} weight[4] bias=nil", "f32[2,3,4]", 0},
	{nn.NewRMSNorm([]int{4}), "f32[2,3,4]", "rms_norm{normalized_shape=[4], eps=1.1920928955078125e-07} weight[4]", "f32[2,3,4]", 0},
	{nn.NewGroupNorm(2, 4), "f32[2,4,3]", "group_norm{num_groups=2, eps=1e-05} weight[4] bias[4]", "f32[2,4,3]", 0},
	{nn.NewLocalResponseNorm(3), "f32[2,4,3]", "local_response_norm{size=3, alpha=0.0001, beta=0.75, k=1.0}", "f32[2,4,3]", 0},
	{nn.NewReLU(), "f32[2,4]", "relu", "f32[2,4]", 0},
	{nn.NewReLU6(), "f32[2,4]", "relu6", "f32[2,4]", 0},
	{nn.NewSiLU(), "f32[2,4]", "silu", "f32[2,4]", 0},
	{nn.NewHardswish(), "f32[2,4]", "hardswish", "f32[2,4]", 0},
	{nn.NewHardsigmoid(), "f32[2,4]", "hardsigmoid", "f32[2,4]", 0},
	{nn.NewSigmoid(), "f32[2,4]", "sigmoid", "f32[2,4]", 0},
	{nn.NewLogSigmoid(), "f32[2,4]", "logsigmoid", "f32[2,4]", 0},
	{nn.NewTanh(), "f32[2,4]", "tanh", "f32[2,4]", 0},
	{nn.NewSELU(), "f32[2,4]", "selu", "f32[2,4]", 0},
	{nn.NewSoftsign(), "f32[2,4]", "softsign", "f32[2,4]", 0},
	{nn.NewMish(), "f32[2,4]", "mish", "f32[2,4]", 0},
	{nn.NewGELU(), "f32[2,4]", "gelu", "f32[2,4]", 0},
	{nn.NewGELUTanh(), "f32[2,4]", "gelu{approximate=\"tanh\"}", "f32[2,4]", 0},
	{nn.NewHardtanh(-1, 1), "f32[2,4]", "hardtanh{min_val=-1.0, max_val=1.0}", "f32[2,4]", 0},
	{nn.NewELU(1), "f32[2,4]", "elu{alpha=1.0}", "f32[2,4]", 0},
	{nn.NewCELU(2), "f32[2,4]", "celu{alpha=2.0}", "f32[2,4]", 0},
	{nn.NewLeakyReLU(0.01), "f32[2,4]", "leaky_relu{negative_slope=0.01}", "f32[2,4]", 0},
	{nn.NewPReLU(4), "f32[2,4]", "prelu weight[4]", "f32[2,4]", 0},
	{nn.NewSoftplus(1, 20), "f32[2,4]", "softplus{beta=1.0, threshold=20.0}", "f32[2,4]", 0},
	{nn.NewThreshold(0.5, 2), "f32[2,4]", "threshold{threshold=0.5, value=2.0}", "f32[2,4]", 0},
	{nn.NewGLU(-1), "f32[2,4]", "glu{dim=-1}", "f32[2,2]", 0},
	{nn.NewSoftmax(1), "f32[2,4]", "softmax{dim=1}", "f32[2,4]", 0},
	{nn.NewLogSoftmax(-1), "f32[2,4]", "log_softmax{dim=-1}", "f32[2,4]", 0},
	{nn.NewSoftmin(0), "f32[2,4]", "softmin", "f32[2,4]", 0},
	{nn.NewMaxPool1d(2), "f32[1,2,6]", "max_pool1d{kernel_size=[2]}", "f32[1,2,3]", 0},
	{nn.NewMaxPool2d(3, nn.Stride(2), nn.Padding(1)), "f32[1,2,6,6]", "max_pool2d{kernel_size=[3], stride=[2], padding=[1]}", "f32[1,2,3,3]", 0},
	{nn.NewMaxPool2d(2, nn.Stride(2, 2), nn.CeilMode()), "f32[1,2,5,5]", "max_pool2d{kernel_size=[2], ceil_mode=true}", "f32[1,2,3,3]", 0},
	{nn.NewMaxPool3d(2, nn.Dilation(2), nn.Stride(1)), "f32[1,2,4,4,4]", "max_pool3d{kernel_size=[2], stride=[1], dilation=[2]}", "f32[1,2,2,2,2]", 0},
	{nn.NewAvgPool1d(2), "f32[1,2,6]", "avg_pool1d{kernel_size=[2]}", "f32[1,2,3]", 0},
	{nn.NewAvgPool2d(2, nn.Padding(1), nn.CountExcludePad()), "f32[1,2,6,6]", "avg_pool2d{kernel_size=[2], padding=[1], count_exclude_pad=true}", "f32[1,2,4,4]", 0},
	{nn.NewAvgPool3d(2, nn.DivisorOverride(3)), "f32[1,2,4,4,4]", "avg_pool3d{kernel_size=[2], divisor_override=3}", "f32[1,2,2,2,2]", 0},
	{nn.NewAdaptiveAvgPool1d(3), "f32[1,2,6]", "adaptive_avg_pool1d{output_size=[3]}", "f32[1,2,3]", 0},
	{nn.NewAdaptiveAvgPool2d(1, 2), "f32[1,2,6,6]", "adaptive_avg_pool2d{output_size=[1,2]}", "f32[1,2,1,2]", 0},
	{nn.NewAdaptiveAvgPool3d(1), "f32[1,2,2,2,2]", "adaptive_avg_pool3d{output_size=[1]}", "f32[1,2,1,1,1]", 0},
	{nn.NewAdaptiveMaxPool1d(3), "f32[1,2,6]", "adaptive_max_pool1d{output_size=[3]}", "f32[1,2,3]", 0},
	{nn.NewAdaptiveMaxPool2d(2), "f32[1,2,6,6]", "adaptive_max_pool2d{output_size=[2]}", "f32[1,2,2,2]", 0},
	{nn.NewAdaptiveMaxPool3d(1), "f32[1,2,2,2,2]", "adaptive_max_pool3d{output_size=[1]}", "f32[1,2,1,1,1]", 0},
	{nn.NewLPPool1d(2, 3), "f32[1,2,6]", "lp_pool1d{norm_type=2.0, kernel_size=[3]}", "f32[1,2,2]", 0},
	{nn.NewLPPool2d(2, 3, nn.Stride(1)), "f32[1,2,6,6]", "lp_pool2d{norm_type=2.0, kernel_size=[3], stride=[1]}", "f32[1,2,4,4]", 0},
	{nn.NewLPPool3d(2, 3), "f32[1,2,6,6,6]", "lp_pool3d{norm_type=2.0, kernel_size=[3]}", "f32[1,2,2,2,2]", 0},
	{nn.NewDropout(0.5), "f32[2,4]", "dropout{p=0.5}", "f32[2,4]", 0},
	{nn.NewDropout1d(0.1), "f32[2,4,1]", "dropout{p=0.1}", "f32[2,4,1]", 0},
	{nn.NewDropout2d(0.1), "f32[2,4,1,1]", "dropout{p=0.1}", "f32[2,4,1,1]", 0},
	{nn.NewDropout3d(0.1), "f32[2,4,1,1,1]", "dropout{p=0.1}", "f32[2,4,1,1,1]", 0},
	{nn.NewEmbedding(5, 3), "i64[2,4]", "embedding weight[5,3]", "f32[2,4,3]", 0},
	{nn.NewEmbeddingBag(5, 3), "i64[2,4]", "embedding_bag weight[5,3]", "f32[2,3]", 0},
	{nn.NewEmbeddingBag(5, 3, nn.Mode("sum")), "i64[2,4]", "embedding_bag{mode=\"sum\"} weight[5,3]", "f32[2,3]", 0},
	{nn.NewFlatten(), "f32[2,3,4]", "flatten{start_dim=1, end_dim=-1}", "f32[2,12]", 0},
	{nn.NewUnflatten(1, 2, -1), "f32[2,6]", "unflatten{dim=1, sizes=[2,-1]}", "f32[2,2,3]", 0},
	{nn.NewUpsample(2, "nearest"), "f32[1,2,3]", "interpolate{scale_factor=[2.0]}", "f32[1,2,6]", 0},
	{nn.NewUpsampleTo("bilinear", 4, 5), "f32[1,2,3,3]", "interpolate{size=[4,5], mode=\"bilinear\"}", "f32[1,2,4,5]", 0},
	{nn.NewPixelShuffle(2), "f32[1,4,3,3]", "pixel_shuffle{upscale_factor=2}", "f32[1,1,6,6]", 0},
	{nn.NewPixelUnshuffle(2), "f32[1,1,4,4]", "pixel_unshuffle{downscale_factor=2}", "f32[1,4,2,2]", 0},
	{nn.NewUnfold(2, nn.Stride(2)), "f32[1,1,4,4]", "unfold{kernel_size=[2], stride=[2]}", "f32[1,4,4]", 0},
	{nn.NewFold(4, 4, 2, nn.Stride(2)), "f32[1,4,4]", "fold{output_size=[4,4], kernel_size=[2], stride=[2]}", "f32[1,1,4,4]", 0},
	{nn.NewZeroPad(1, 2), "f32[1,2,4]", "pad{pad=[1,2]}", "f32[1,2,7]", 0},
	{nn.NewConstantPad(3, 1, 0, 0, 1), "f32[1,2,4,4]", "pad{pad=[1,0,0,1], value=3.0}", "f32[1,2,5,5]", 0},
	{nn.NewReflectionPad(1, 1), "f32[1,2,4]", "pad{pad=[1,1], mode=\"reflect\"}", "f32[1,2,6]", 0},
	{nn.NewReplicationPad(1, 1), "f32[1,2,4]", "pad{pad=[1,1], mode=\"replicate\"}", "f32[1,2,6]", 0},
	{nn.NewCircularPad(1, 1), "f32[1,2,4]", "pad{pad=[1,1], mode=\"circular\"}", "f32[1,2,6]", 0},
	{nn.NewLSTM(4, 3), "f32[5,2,4]", "lstm weight_ih_l0[12,4] weight_hh_l0[12,3] bias_ih_l0[12] bias_hh_l0[12]", "f32[5,2,3]", 2},
	{nn.NewLSTM(4, 3, nn.NumLayers(2), nn.Bidirectional(), nn.BatchFirst()), "f32[2,5,4]", "lstm{num_layers=2, bidirectional=true, batch_first=true} weight_ih_l0[12,4] weight_hh_l0[12,3] bias_ih_l0[12] bias_hh_l0[12] weight_ih_l0_reverse[12,4] weight_hh_l0_reverse[12,3] bias_ih_l0_reverse[12] bias_hh_l0_reverse[12] weight_ih_l1[12,6] weight_hh_l1[12,3] bias_ih_l1[12] bias_hh_l1[12] weight_ih_l1_reverse[12,6] weight_hh_l1_reverse[12,3] bias_ih_l1_reverse[12] bias_hh_l1_reverse[12]", "f32[2,5,6]", 2},
	{nn.NewGRU(4, 3, nn.NoBias()), "f32[5,2,4]", "gru{no_bias=true} weight_ih_l0[9,4] weight_hh_l0[9,3]", "f32[5,2,3]", 1},
	{nn.NewRNN(4, 3, nn.Nonlinearity("relu")), "f32[5,2,4]", "rnn{nonlinearity=\"relu\"} weight_ih_l0[3,4] weight_hh_l0[3,3] bias_ih_l0[3] bias_hh_l0[3]", "f32[5,2,3]", 1},
}
