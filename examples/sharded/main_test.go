package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
	"github.com/gofx-dev/gofx/models"
)

// usual are the options of the command without flags.
func usual() options {
	return options{config: models.BertBase, batch: 32, seq: 128, meshes: "1x1,8x1,4x2,2x4,1x4", stages: 3,
		links: map[string]shard.Link{"data": {Rate: 50e9, Latency: 10 * time.Microsecond}, "tensor": {Rate: 450e9, Latency: 2 * time.Microsecond}}}
}

// TestReadme: the command prints what the README shows.
func TestReadme(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(&out, usual()))
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, line := range strings.Split(out.String(), "\n") {
		if line = strings.TrimRight(line, " "); line != "" {
			require.Contains(t, string(readme), "    "+line+"\n", "the output is\n%s", out.String())
		}
	}
}

// TestExchanges_ofMegatron: Megatron's count, two sums of the hidden states a layer, by rings.
func TestExchanges_ofMegatron(t *testing.T) {
	o := usual()
	m, err := capture(o)
	require.NoError(t, err)
	whole, err := shard.Propagate(m, lowering.Options{}, shard.Layout{})
	require.NoError(t, err)
	for _, text := range []string{"8x1", "4x2", "2x4", "1x4", "2x12", "32x1"} {
		mesh, err := parse(text)
		require.NoError(t, err)
		p, err := shard.Propagate(m, lowering.Options{}, layout(m, mesh))
		require.NoError(t, err)
		data, n := int64(mesh[0].Size), int64(mesh[1].Size)
		states := int64(o.batch) / data * int64(o.seq*o.config.HiddenSize) * 4
		sum := p.Totals()
		require.Equal(t, int64(2*o.config.NumLayers)*2*states*(n-1)/n, sum.Sent[shard.AllReduce], text)
		require.Equal(t, sum.Sent[shard.AllReduce], sent(sum), "nothing else is sent")
		share := float64(whole.Totals().Flops) / float64(data*n)
		require.InEpsilon(t, share, float64(sum.Flops), 0.02, "%s: norms and sums of residuals are computed by all", text)
		for _, w := range p.Weights {
			if strings.HasSuffix(w.Name, "output.dense.weight") {
				require.Equal(t, shard.Split{"", "tensor"}, w.Split, w.Name)
			}
			if strings.HasSuffix(w.Name, "query.bias") {
				require.Equal(t, shard.Split{"tensor"}, w.Split, w.Name)
			}
		}
	}
}

// TestHeads: a mesh that does not divide the heads has to gather them; the plan says where.
func TestHeads(t *testing.T) {
	o := usual()
	o.meshes, o.config.NumLayers, o.stages = "1x8", 1, 1
	var out bytes.Buffer
	require.NoError(t, run(&out, o))
	require.Contains(t, out.String(), "3 × all-gather along tensor of reshape's x (bert.go:182)")
}

func TestProgram(t *testing.T) {
	o := usual()
	o.config.NumLayers, o.stages, o.meshes = 1, 1, "2x4"
	o.program = filepath.Join(t.TempDir(), "bert.mlir")
	require.NoError(t, run(&bytes.Buffer{}, o))
	text, err := os.ReadFile(o.program)
	require.NoError(t, err)
	require.Contains(t, string(text), "mhlo.num_partitions = 8 : i32")
	require.Contains(t, string(text), `tensor<768x768xf32> {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}`)
}

// TestRun: the network runs over eight devices of XLA's plugin for processors, where that is installed.
func TestRun(t *testing.T) {
	env, err := filepath.Abs("../../.venv")
	require.NoError(t, err)
	t.Setenv("VIRTUAL_ENV", env)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	o := usual()
	o.config = models.BertConfig{VocabSize: 100, MaxPositions: 16, TypeVocabSize: 2, HiddenSize: 32, NumLayers: 1, NumHeads: 4, IntermediateSize: 64, LayerNormEps: 1e-12}
	o.batch, o.seq, o.meshes, o.stages = 4, 8, "2x4", 1
	o.run, o.plugin, o.devices = true, "cpu", 8
	var out bytes.Buffer
	err = run(&out, o)
	if errors.Is(err, pjrt.NoPlugin) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.Regexp(t, `8 devices of "cpu" ran data=2 tensor=4 in .*; results are within [0-9]e-0[5-9] of one device's`, out.String())
}

func TestMistakes(t *testing.T) {
	for meshes, want := range map[string]string{"2by4": "expected sizes", "5x1": "no 5 equal parts along data", "0x1": "axis data of the mesh has size 0"} {
		o := usual()
		o.meshes, o.config.NumLayers = meshes, 1
		require.ErrorContains(t, run(&bytes.Buffer{}, o), want)
	}
}
