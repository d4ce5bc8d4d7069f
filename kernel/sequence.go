package kernel

import (
	"github.com/gofx-dev/gofx/kernel/internal/attention"
	"github.com/gofx-dev/gofx/kernel/internal/rnn"
)

// Attention.
type (
	// Attention is torch.nn.functional.scaled_dot_product_attention without dropout
	// (Vaswani et al., 2017): softmax(q·kᵀ·scale)·v of in[0] q [..., L, E],
	// in[1] k [..., S, E] and in[2] v [..., S, V] to [..., L, V]; leading dimensions
	// broadcast. With HeadsLast heads lie side by side: [..., L, H·V] of q [..., H, L, E].
	Attention = attention.Attention
)

// Recurrent layers.
type (
	// LSTM is torch.nn.LSTM without projections and dropout (Hochreiter and
	// Schmidhuber, 1997).
	LSTM = rnn.LSTM

	// GRU is torch.nn.GRU without dropout (Cho et al., 2014, in the variant that
	// applies the reset gate after the product).
	GRU = rnn.GRU

	// RNN is torch.nn.RNN without dropout: h' = f(W_ih·x + b_ih + W_hh·h + b_hh), f
	// being "tanh" or "relu" (Elman, 1990).
	RNN = rnn.RNN
)
