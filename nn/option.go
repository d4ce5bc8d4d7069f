package nn

import "github.com/gofx-dev/gofx/op"

// settings is what options change; every constructor starts from its defaults.
type settings struct {
	kernel, stride, padding, dilation, outputPadding []int
	groups                                           int
	bias, affine, track, cumulative                  bool
	paddingMode                                      string
	ceilMode, excludePad                             bool
	divisor                                          int
	eps, momentum                                    float64
	noInit                                           bool
	seed                                             uint64

	layers                    int
	bidirectional, batchFirst bool
	nonlinearity              string
	dropout                   float64
	dropoutSeed               uint64

	feedforward          int
	normFirst, finalNorm bool
	activation           Module

	paddingIdx *int
	mode       string
}

// The option interfaces say which constructors take an option; the options
// themselves are functions such as Stride and NoBias.
type (
	// ConvOption is an option of convolutions, as every WindowOption, BiasOption and
	// InitOption is.
	ConvOption interface{ conv(*settings) }
	// LinearOption is an option of Linear and Bilinear: every BiasOption and InitOption is.
	LinearOption interface{ linear(*settings) }
	// PoolOption is an option of pools, as every WindowOption is.
	PoolOption interface{ pool(*settings) }
	// NormOption is an option of normalisations, as every EpsOption, BiasOption and
	// InitOption is.
	NormOption interface{ norm(*settings) }
	// RNNOption is an option of LSTM, GRU, RNN and their cells, as every SequenceOption,
	// BiasOption and InitOption is.
	RNNOption interface{ rnn(*settings) }
	// EmbeddingOption is an option of Embedding and EmbeddingBag, as every InitOption is.
	EmbeddingOption interface{ embedding(*settings) }
	// AttentionOption is an option of MultiheadAttention: every SequenceOption, BiasOption
	// and InitOption is.
	AttentionOption interface{ attention(*settings) }
	// TransformerOption is an option of the layers and stacks of transformers, as every
	// SequenceOption, EpsOption, BiasOption and InitOption is.
	TransformerOption interface{ transformer(*settings) }

	// WindowOption is an option of convolutions and pools.
	WindowOption interface {
		ConvOption
		PoolOption
	}
	// EpsOption is an option of normalisations and of transformers.
	EpsOption interface {
		NormOption
		TransformerOption
	}
	// SequenceOption is an option of recurrent networks, attention and transformers.
	SequenceOption interface {
		RNNOption
		AttentionOption
		TransformerOption
	}
	// BiasOption is an option of all modules that may have a bias.
	BiasOption interface {
		ConvOption
		LinearOption
		NormOption
		RNNOption
		AttentionOption
		TransformerOption
	}
	// InitOption is an option of all modules that have parameters with random initial values.
	InitOption interface {
		BiasOption
		EmbeddingOption
	}
)

// set is the body of every option.
type set func(*settings)

type (
	convOption        set
	poolOption        set
	normOption        set
	rnnOption         set
	bagOption         set
	convPoolOption    set
	sequenceOption    set
	biasOption        set
	initOption        set
	transformerOption set
)

func (f convOption) conv(s *settings)               { f(s) }
func (f poolOption) pool(s *settings)               { f(s) }
func (f normOption) norm(s *settings)               { f(s) }
func (f rnnOption) rnn(s *settings)                 { f(s) }
func (f bagOption) embedding(s *settings)           { f(s) }
func (f convPoolOption) conv(s *settings)           { f(s) }
func (f convPoolOption) pool(s *settings)           { f(s) }
func (f biasOption) conv(s *settings)               { f(s) }
func (f biasOption) linear(s *settings)             { f(s) }
func (f biasOption) norm(s *settings)               { f(s) }
func (f biasOption) rnn(s *settings)                { f(s) }
func (f biasOption) attention(s *settings)          { f(s) }
func (f biasOption) transformer(s *settings)        { f(s) }
func (f initOption) conv(s *settings)               { f(s) }
func (f initOption) linear(s *settings)             { f(s) }
func (f initOption) norm(s *settings)               { f(s) }
func (f initOption) rnn(s *settings)                { f(s) }
func (f initOption) embedding(s *settings)          { f(s) }
func (f initOption) attention(s *settings)          { f(s) }
func (f initOption) transformer(s *settings)        { f(s) }
func (f sequenceOption) rnn(s *settings)            { f(s) }
func (f sequenceOption) attention(s *settings)      { f(s) }
func (f sequenceOption) transformer(s *settings)    { f(s) }
func (f normOption) transformer(s *settings)        { f(s) }
func (f transformerOption) transformer(s *settings) { f(s) }

// Kernel sets the size of the kernel for each axis, where it is not the same for
// all of them.
func Kernel(n ...int) WindowOption {
	return convPoolOption(func(s *settings) { s.kernel = n })
}

// Stride sets the step between windows, one number or one for each axis. The
// default is 1 for convolutions and the kernel size for pools.
func Stride(n ...int) WindowOption {
	return convPoolOption(func(s *settings) { s.stride = n })
}

// Padding sets how many elements are added on both sides, one number or one for
// each axis; the default is 0.
func Padding(n ...int) WindowOption {
	return convPoolOption(func(s *settings) { s.padding = n })
}

// Dilation sets the distance between the elements of a window, one number or one
// for each axis; the default is 1.
func Dilation(n ...int) WindowOption {
	return convPoolOption(func(s *settings) { s.dilation = n })
}

// OutputPadding sets the size that a transposed convolution adds to one side of
// its result.
func OutputPadding(n ...int) ConvOption {
	return convOption(func(s *settings) { s.outputPadding = n })
}

// Groups sets the number of blocks that a convolution's channels are divided
// into; the default is 1.
func Groups(n int) ConvOption { return convOption(func(s *settings) { s.groups = n }) }

// SamePadding pads a convolution of stride 1 so that the size does not change.
func SamePadding() ConvOption { return convOption(func(s *settings) { s.paddingMode = "same" }) }

// PaddingMode sets what a convolution pads with: "zeros" (the default),
// "reflect", "replicate" or "circular".
func PaddingMode(mode string) ConvOption {
	return convOption(func(s *settings) { s.paddingMode = mode })
}

// CeilMode makes a pool round the size of its result up.
func CeilMode() PoolOption { return poolOption(func(s *settings) { s.ceilMode = true }) }

// CountExcludePad makes an average pool leave the padding out of its counts.
func CountExcludePad() PoolOption { return poolOption(func(s *settings) { s.excludePad = true }) }

// DivisorOverride sets the number that an average pool divides by.
func DivisorOverride(n int) PoolOption { return poolOption(func(s *settings) { s.divisor = n }) }

// NoBias leaves the bias out.
func NoBias() BiasOption {
	return biasOption(func(s *settings) { s.bias = false })
}

// Eps sets the number that a normalisation, or each of a transformer, adds to the variance.
func Eps(v float64) EpsOption {
	return normOption(func(s *settings) { s.eps = v })
}

// Momentum sets the weight of a new batch in the running statistics; the default
// is 0.1.
func Momentum(v float64) NormOption { return normOption(func(s *settings) { s.momentum = v }) }

// CumulativeAverage makes the running statistics plain averages over all batches,
// as a momentum of None does in PyTorch.
func CumulativeAverage() NormOption { return normOption(func(s *settings) { s.cumulative = true }) }

// Affine decides whether a normalisation has weight and bias.
func Affine(on bool) NormOption { return normOption(func(s *settings) { s.affine = on }) }

// TrackRunningStats decides whether a batch or instance normalisation keeps
// running statistics.
func TrackRunningStats(on bool) NormOption { return normOption(func(s *settings) { s.track = on }) }

// Seed sets the seed of the random initial weights; the default is 0. Modules of
// the same type, shape and seed start equal: give each a seed, or call
// ResetParameters on the whole model.
func Seed(seed uint64) InitOption {
	return initOption(func(s *settings) { s.seed = seed })
}

// NoInit leaves all parameters zero: for models whose weights are loaded.
func NoInit() InitOption {
	return initOption(func(s *settings) { s.noInit = true })
}

// compact gives the shortest list that means the same: none for the default,
// one number where all axes agree. Equal settings give equal attributes.
func compact(v []int, def int) op.Ints {
	if len(v) == 0 {
		return op.Ints{}
	}
	for _, n := range v {
		if n != v[0] {
			return op.IntList(v...)
		}
	}
	if v[0] == def {
		return op.Ints{}
	}
	return op.IntList(v[0])
}

// filled returns v spread over n axes; an empty v gives the default.
func filled(v []int, n, def int) []int {
	out := make([]int, n)
	for i := range out {
		switch {
		case len(v) == n:
			out[i] = v[i]
		case len(v) > 0:
			out[i] = v[0]
		default:
			out[i] = def
		}
	}
	return out
}
