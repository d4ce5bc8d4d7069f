package nn

import "strconv"

// Feedforward sets the width between the two linear layers of a transformer's layer; the default
// is 2048.
func Feedforward(n int) TransformerOption {
	return transformerOption(func(s *settings) { s.feedforward = n })
}

// NormFirst normalises before attention and linear layers, not after their residuals.
func NormFirst() TransformerOption {
	return transformerOption(func(s *settings) { s.normFirst = true })
}

// FinalNorm normalises the result of a stack of layers.
func FinalNorm() TransformerOption {
	return transformerOption(func(s *settings) { s.finalNorm = true })
}

// Activation sets the function between the two linear layers, such as NewGELU(); the default is
// NewReLU().
func Activation(m Module) TransformerOption {
	return transformerOption(func(s *settings) { s.activation = m })
}

func transformerSettings(opts []TransformerOption) settings {
	s := settings{bias: true, eps: 1e-5, feedforward: 2048}
	for _, o := range opts {
		o.transformer(&s)
	}
	if s.feedforward < 1 {
		refuse("transformer", "feedforward is "+strconv.Itoa(s.feedforward)+", expected 1 or more", "")
	}
	if s.activation == nil {
		s.activation = NewReLU()
	}
	return s
}

// layerOptions are the options of n layers, each with seeds of its own.
func layerOptions(n int, opts []TransformerOption) [][]TransformerOption {
	if n < 1 {
		refuse("transformer", strconv.Itoa(n)+" layers, expected 1 or more", "")
	}
	list := make([][]TransformerOption, n)
	for i := range list {
		own := transformerOption(func(s *settings) {
			s.seed, s.dropoutSeed = NewSource(s.seed+uint64(i)).Uint64(), NewSource(s.dropoutSeed+uint64(i)).Uint64()
		})
		list[i] = append(append(list[i], opts...), own)
	}
	return list
}

// attn returns attention; place tells the dropouts of one layer apart.
func (s *settings) attn(dim, heads int, place uint64) *MultiheadAttention {
	opts := []AttentionOption{NoInit()}
	if s.batchFirst {
		opts = append(opts, BatchFirst())
	}
	if !s.bias {
		opts = append(opts, NoBias())
	}
	if s.dropout > 0 {
		opts = append(opts, DropoutBetween(s.dropout, s.dropoutSeed+place))
	}
	return NewMultiheadAttention(dim, heads, opts...)
}

func (s *settings) feed(dim int) (up, down *Linear) {
	opts := []LinearOption{NoInit()}
	if !s.bias {
		opts = append(opts, NoBias())
	}
	return NewLinear(dim, s.feedforward, opts...), NewLinear(s.feedforward, dim, opts...)
}

func (s *settings) layerNorm(dim int) *LayerNorm {
	opts := []NormOption{Eps(s.eps)}
	if !s.bias {
		opts = append(opts, NoBias())
	}
	if s.noInit {
		opts = append(opts, NoInit())
	}
	return NewLayerNorm([]int{dim}, opts...)
}

func (s *settings) lastNorm(dim int) *LayerNorm {
	if !s.finalNorm {
		return nil
	}
	return s.layerNorm(dim)
}

func (s *settings) drop(place uint64) *Dropout {
	if s.dropout == 0 {
		return nil
	}
	return NewDropout(s.dropout, DropoutSeed(s.dropoutSeed+place))
}

// reset draws the weights of modules from one source, in order.
func (s *settings) reset(modules ...interface{ ResetParameters(*Source) }) {
	if s.noInit {
		return
	}
	src := NewSource(s.seed)
	for _, m := range modules {
		m.ResetParameters(src)
	}
}
