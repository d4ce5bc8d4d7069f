package shapes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/bench/shapes/derive"
)

// manifests is the folder of the reference manifests.
const manifests = "../../internal/testkit/fxtest/testdata"

// TestTableHasThePublishedWork compares multiply-adds with numbers that do not
// come from the manifests: those that torchvision's documentation gives, which
// count fully connected layers too.
func TestTableHasThePublishedWork(t *testing.T) {
	for _, c := range []struct {
		network string
		linear  int // multiply-adds of fully connected layers
		gmacs   float64
	}{
		{"resnet18", 512 * 1000, 1.81},
		{"resnet50", 2048 * 1000, 4.09},
		{"vgg16", 25088*4096 + 4096*4096 + 4096*1000, 15.47},
		{"mobilenet_v3_large", 960*1280 + 1280*1000, 0.22},
		{"densenet121", 1024 * 1000, 2.83},
	} {
		sum := c.linear
		for _, v := range Convs(c.network) {
			sum += v.Count * v.MACs()
		}
		require.InDelta(t, c.gmacs, float64(sum)/1e9, 0.006, c.network)
	}
}

func TestTableHasThePublishedLayers(t *testing.T) {
	for network, layers := range map[string]int{"resnet18": 20, "resnet50": 53, "vgg16": 13, "densenet121": 120} {
		sum := 0
		for _, c := range Convs(network) {
			sum += c.Count
		}
		require.Equal(t, layers, sum, network)
	}
	require.Nil(t, Convs("nothing"))
}

func TestConvsAreSound(t *testing.T) {
	texts := map[string]bool{}
	for _, c := range AllConvs() {
		text := Text(c.Conv)
		require.False(t, texts[text], text)
		texts[text] = true
		require.Positive(t, c.Out(), text)
		require.Zero(t, c.C%c.Groups, text)
		require.Zero(t, c.M%c.Groups, text)
		require.NotEmpty(t, c.Networks, text)
	}
	require.Len(t, AllConvs(), len(texts))
	for _, s := range Sources {
		for _, c := range Convs(s.Network) {
			count := c.Count
			c.Count = 1
			require.True(t, texts[Text(c)])
			require.Positive(t, count)
		}
	}
}

// TestTableIsDerived repeats the derivation.
func TestTableIsDerived(t *testing.T) {
	for _, s := range Sources {
		m, err := derive.Read(manifests, s.Manifest)
		require.NoError(t, err)
		convs, linear, err := m.Convs()
		require.NoError(t, err)
		require.Equal(t, Convs(s.Network), convs, s.Network)
		for _, c := range convs {
			linear += c.Count * c.MACs()
		}
		require.Equal(t, m.MACs, linear, s.Network)
	}
}

func TestGemms(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range Gemms() {
		require.False(t, seen[g.Text()], g.Text())
		seen[g.Text()] = true
		require.Positive(t, g.M*g.N*g.K)
	}
	for _, want := range []string{"64x64x64", "1024x1024x1024", "4096x4096x4096", "bert_128x3072x768", "gpt2_1x2304x768", "mlp_32x512x784", "deeprec_256x17768x512", "bert_scores_12x128x128x64"} {
		require.True(t, seen[want], want)
	}
}
