// Package shapes lists the sizes that are measured.
package shapes

//go:generate go run ./gen ../../internal/testkit/fxtest/testdata

import (
	"fmt"

	"github.com/gofx-dev/gofx/bench/shapes/derive"
)

// Conv is one distinct convolution of a network.
type Conv = derive.Conv

// Source says which manifest has a network's convolutions. Batch norms add none.
type Source struct{ Network, Manifest string }

// Sources are the networks whose convolutions are measured.
var Sources = []Source{
	{"resnet18", "resnet18"},
	{"resnet50", "resnet50"},
	{"vgg16", "vgg16_bn"},
	{"mobilenet_v3_large", "mobilenet_v3_large"},
	{"densenet121", "densenet121"},
	{"efficientnet_b1", "efficientnet_b1"},
}

type network struct {
	name  string
	convs [][8]int
}

func conv(v [8]int) Conv {
	return Conv{C: v[0], Size: v[1], M: v[2], Kernel: v[3], Stride: v[4], Pad: v[5], Groups: v[6], Count: v[7]}
}

// Convs returns the convolutions of a network, nil for an unknown one.
func Convs(name string) []Conv {
	for _, n := range table {
		if n.name == name {
			out := make([]Conv, len(n.convs))
			for i, v := range n.convs {
				out[i] = conv(v)
			}
			return out
		}
	}
	return nil
}

// SharedConv is a convolution and the networks that have it.
type SharedConv struct {
	Conv // Count is 1
	// Networks has the number of uses in each network.
	Networks map[string]int
}

// AllConvs returns every distinct convolution of all networks once.
func AllConvs() []SharedConv {
	var all []SharedConv
	index := map[Conv]int{}
	for _, n := range table {
		for _, v := range n.convs {
			c := conv(v)
			count := c.Count
			c.Count = 1
			i, ok := index[c]
			if !ok {
				i = len(all)
				index[c] = i
				all = append(all, SharedConv{c, map[string]int{}})
			}
			all[i].Networks[n.name] += count
		}
	}
	return all
}

// Text names a convolution: input channels and size, output channels, kernel,
// stride, padding, groups.
func Text(c Conv) string {
	return fmt.Sprintf("c%d_%dx%d_m%d_k%d_s%d_p%d_g%d", c.C, c.Size, c.Size, c.M, c.Kernel, c.Stride, c.Pad, c.Groups)
}

// Gemm is a product of an M×K by a K×N matrix.
type Gemm struct {
	Name    string // where it comes from; empty for the square ones
	M, N, K int
	Weight  bool // the right operand is a constant weight
	Batch   int  // number of independent products; 0 means one
}

// Text names a product.
func (g Gemm) Text() string {
	s := fmt.Sprintf("%dx%dx%d", g.M, g.N, g.K)
	if g.Batch > 1 {
		s = fmt.Sprintf("%dx%s", g.Batch, s)
	}
	if g.Name != "" {
		s = g.Name + "_" + s
	}
	return s
}

// Gemms returns the products: square ones from 64 to 4096, and those of BERT
// base at 128 tokens, GPT-2 small at 128 tokens and when it makes one token, an
// MLP and DeepRecommender at batches from 1 to 256. Names are M×N×K.
func Gemms() []Gemm {
	var g []Gemm
	for n := 64; n <= 4096; n *= 2 {
		g = append(g, Gemm{M: n, N: n, K: n})
	}
	add := func(name string, m int, nk ...[2]int) {
		for _, s := range nk {
			g = append(g, Gemm{Name: name, M: m, N: s[0], K: s[1], Weight: true})
		}
	}
	add("bert", 128, [2]int{768, 768}, [2]int{3072, 768}, [2]int{768, 3072})
	g = append(g, Gemm{Name: "bert_scores", M: 128, N: 128, K: 64, Batch: 12},
		Gemm{Name: "bert_values", M: 128, N: 64, K: 128, Batch: 12})
	for _, tokens := range []int{128, 1} {
		add("gpt2", tokens, [2]int{2304, 768}, [2]int{768, 768}, [2]int{3072, 768}, [2]int{768, 3072}, [2]int{50257, 768})
	}
	for _, batch := range []int{1, 32, 256} {
		add("mlp", batch, [2]int{512, 784}, [2]int{512, 512}, [2]int{10, 512})
	}
	for _, batch := range []int{1, 16, 64, 128, 256} {
		add("deeprec", batch, [2]int{512, 17768}, [2]int{512, 512}, [2]int{1024, 512}, [2]int{512, 1024}, [2]int{17768, 512})
	}
	return g
}
