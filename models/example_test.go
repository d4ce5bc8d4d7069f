package models_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

func ExampleAll() {
	for _, m := range models.All() {
		if m.Name == "mlp" {
			fmt.Println(m.Name, m.Inputs[0].Name, m.Inputs[0].Type, m.Dims)
		}
	}
	// Output: mlp x f32[N,784] map[N:8]
}

// Synthetic weights and inputs follow a formula that any language can repeat.
func ExampleSynthetic() {
	m := models.Lookup("mlp")
	net := m.New().(*models.MLP)
	models.Synthetic(m, net, "gofx-1")
	fmt.Printf("%.6f\n", net.Fc1.Weight.At(0, 0).Item())

	in, err := m.SyntheticInputs("gofx-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(in[0].Type(), net.Forward(in[0]).Type())
	// Output:
	// -0.006349
	// f32[8,784] f32[8,10]
}

func ExampleSyntheticInput() {
	m := models.Lookup("gpt2")
	x, err := models.SyntheticInput(m.Inputs[0], "gofx-1", map[string]int{"N": 1, "S": 4})
	fmt.Println(x.Type(), err)
	_, err = models.SyntheticInput(m.Inputs[0], "gofx-1", nil)
	fmt.Println(err)
	// Output:
	// i64[1,4] <nil>
	// input input_ids has the unknown size N [FX8034]
	//     hint: give the size of every symbol
}

func ExampleNewStream() {
	s := models.NewStream("gofx-1", "fc1.weight")
	fmt.Printf("%.6f %.6f\n", s.At(0), s.At(1))
	// Output: 0.448685 0.890006
}

func ExampleRuleOf() {
	conv, bn := nn.NewConv2d(1, 1, 3), nn.NewBatchNorm2d(1)
	fmt.Println(models.RuleOf(conv, "weight", 4), models.RuleOf(conv, "bias", 1), models.RuleOf(bn, "weight", 1), models.RuleOf(bn, "running_var", 1))
	// Output: conv bias norm_weight running_var
}

// Networks are ordinary modules: they run, and are captured.
func ExampleNewMLP() {
	gm, err := fx.Trace(context.Background(), models.NewMLP(), fx.Input("x", "f32[N,784]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gm.Graph.Len(), gm.Graph.Output().Arg(0).Type())
	// Output: 7 f32[N,10]
}

// All image classifiers are alike in use.
func ExampleNewResNet18() {
	image := tensor.Zeros(1, 3, 32, 32)
	for _, net := range []nn.Module{
		models.NewResNet18(), models.NewResNet34(), models.NewResNet50(), models.NewResNet101(), models.NewResNeXt50(),
		models.NewVGG16BN(), models.NewSqueezeNet11(), models.NewDenseNet121(),
		models.NewMobileNetV2(), models.NewMobileNetV3Large(), models.NewEfficientNetB0(), models.NewEfficientNetB1(),
		models.NewShuffleNetV2(), models.NewRegNetY400MF(), models.NewConvNeXtTiny(),
	} {
		fmt.Printf("%T %.1f million parameters, %v\n", net, float64(nn.NumParameters(net))/1e6, nn.Run(net, image).Type())
	}
	// Output:
	// *models.ResNet 11.7 million parameters, f32[1,1000]
	// *models.ResNet 21.8 million parameters, f32[1,1000]
	// *models.ResNet 25.6 million parameters, f32[1,1000]
	// *models.ResNet 44.5 million parameters, f32[1,1000]
	// *models.ResNet 25.0 million parameters, f32[1,1000]
	// *models.VGG 138.4 million parameters, f32[1,1000]
	// *models.SqueezeNet 1.2 million parameters, f32[1,1000]
	// *models.DenseNet 8.0 million parameters, f32[1,1000]
	// *models.MobileNetV2 3.5 million parameters, f32[1,1000]
	// *models.MobileNetV3 5.5 million parameters, f32[1,1000]
	// *models.EfficientNet 5.3 million parameters, f32[1,1000]
	// *models.EfficientNet 7.8 million parameters, f32[1,1000]
	// *models.ShuffleNetV2 2.3 million parameters, f32[1,1000]
	// *models.RegNet 4.3 million parameters, f32[1,1000]
	// *models.ConvNeXt 28.6 million parameters, f32[1,1000]
}

// These take images of 64 by 64 and larger.
func ExampleNewAlexNet() {
	image := tensor.Zeros(1, 3, 64, 64)
	for _, net := range []nn.Module{models.NewAlexNet(), models.NewVGG11(), models.NewGoogLeNet()} {
		fmt.Printf("%T %.1f million parameters, %v\n", net, float64(nn.NumParameters(net))/1e6, nn.Run(net, image).Type())
	}
	// Output:
	// *models.AlexNet 61.1 million parameters, f32[1,1000]
	// *models.VGG 132.9 million parameters, f32[1,1000]
	// *models.GoogLeNet 6.6 million parameters, f32[1,1000]
}

// Windows of 7 by 7 must cover the map of each stage.
func ExampleNewSwinT() {
	fmt.Println(models.NewSwinT().Forward(tensor.Zeros(1, 3, 224, 224)).Type())
	// Output: f32[1,1000]
}

// Networks for each point of an image take images of any height and width.
func ExampleNewFCNResNet50() {
	image := tensor.Zeros(1, 3, 24, 40)
	fmt.Println(models.NewFCNResNet50().Forward(image).Type())
	fmt.Println(models.NewDeepLabV3MobileNetV3Large().Forward(image).Type())
	// Output:
	// f32[1,21,24,40]
	// f32[1,21,24,40]
}

func ExampleNewMonoDepth() {
	a, b, c, d := models.NewMonoDepth().Forward(tensor.Zeros(1, 3, 64, 128))
	fmt.Println(a.Type(), b.Type(), c.Type(), d.Type())
	// Output: f32[1,2,64,128] f32[1,2,32,64] f32[1,2,16,32] f32[1,2,8,16]
}

// Three branches share their weights.
func ExampleNewTridentNet() {
	fmt.Println(models.NewTridentNet().Forward(tensor.Zeros(2, 3, 32, 32)).Type())
	// Output: f32[6,1024,2,2]
}

// A policy chooses the blocks of each image.
func ExampleNewBlockDrop() {
	policy := tensor.Zeros(1, 15)
	policy.Narrow(1, 2, 1).AddScalarInPlace(1)
	logits, run := models.NewBlockDrop().Forward(tensor.Zeros(1, 3, 32, 32), policy)
	fmt.Println(logits.Type(), tensor.Data[int64](run))
	// Output: f32[1,10] [0 0 1 0 0 0 0 0 0 0 0 0 0 0 0]
}

func ExampleNewQuantizedResNet18() {
	logits, stem := models.NewQuantizedResNet18().Forward(tensor.Zeros(1, 3, 32, 32))
	fmt.Println(logits.Type(), stem.Type())
	// Output: f32[1,1000] f32[1,64,16,16]
}

// A configuration gives the sizes of a transformer.
func ExampleNewViT() {
	c := models.ViTB16
	c.ImageSize, c.NumLayers, c.Width, c.MLPWidth, c.NumClasses = 32, 1, 24, 48, 7
	fmt.Println(models.NewViT(c).Forward(tensor.Zeros(2, 3, 32, 32)).Type())
	// Output: f32[2,7]
}

// A fully convolutional network takes images of any height and width.
func ExampleNewUNet() {
	fmt.Println(models.NewUNet().Forward(tensor.Zeros(1, 3, 16, 24)).Type())
	// Output: f32[1,2,16,24]
}

func ExampleNewPainter() {
	strokes := models.NewPainter().Forward(tensor.Zeros(1, 9, 128, 128))
	fmt.Println(strokes.Type(), strokes.At(0, 0).Item())
	// Output: f32[1,65] 0.5
}

func ExampleNewLSTM() {
	output, h, c := models.NewLSTM(8, 3).Forward(tensor.Zeros(5, 2, 8))
	fmt.Println(output.Type(), h.Type(), c.Type())
	// Output: f32[5,2,8] f32[3,2,8] f32[3,2,8]
}

func ExampleNewLSTMCells() {
	output, h, c := models.NewLSTMCells(8, 3).Forward(tensor.Zeros(5, 2, 8))
	fmt.Println(output.Type(), h.Type(), c.Type())
	// Output: f32[5,2,8] f32[2,8] f32[2,8]
}

func ExampleNewGRU() {
	output, h := models.NewGRU(8, 6, 2).Forward(tensor.Zeros(3, 5, 8))
	fmt.Println(output.Type(), h.Type())
	// Output: f32[3,5,12] f32[4,3,6]
}

func ExampleNewAttnDecoder() {
	word := tensor.FromSlice([]int64{3}, 1, 1)
	logProbs, hidden, weights := models.NewAttnDecoder(20, 8, 5).Forward(word, tensor.Zeros(1, 1, 8), tensor.Zeros(5, 8))
	fmt.Println(logProbs.Type(), hidden.Type(), weights.Type())
	// Output: f32[1,20] f32[1,1,8] f32[1,5]
}

// The scores that are added say which words are written: 3, 4 and the end.
func ExampleNewGreedyDecoder() {
	std, err := models.SyntheticInput(models.InputSpec{Name: "std", Type: "f32[6,1,20]", Rule: models.ForcedTokens{Tokens: [][]int{{3, 4}}}}, "gofx-1", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	tokens, _, _ := models.NewGreedyDecoder(20, 8, 6).Forward(std, tensor.Zeros(1, 8), tensor.Zeros(1, 8))
	fmt.Println(tensor.Data[int64](tokens))
	// Output: [3 4 0 0 0 0]
}

// The probabilities are those of the text's beginnings.
func ExampleNewSegmentalLM() {
	alpha, nll := models.NewSegmentalLM(20, 8, 16, 4).Forward(tensor.FromSlice([]int64{3, 1, 4}, 3))
	fmt.Println(alpha.Type(), nll.Type())
	// Output: f32[4] f32[]
}

func ExampleNewDeepRecommender() {
	fmt.Println(models.NewDeepRecommender(40).Forward(tensor.Zeros(2, 40)).Type())
	// Output: f32[2,40]
}

// Two tables, of which three rows each are added up.
func ExampleNewDLRM() {
	rows := tensor.FromSlice([]int64{0, 9, 4, 3, 3, 1}, 1, 2, 3)
	click := models.NewDLRM([]int{10, 4}).Forward(tensor.Zeros(1, 13), rows)
	fmt.Println(click.Type(), click.Item())
	// Output: f32[1,1] 0.5
}

// Smaller configurations keep the structure.
func ExampleNewBert() {
	c := models.BertBase
	c.VocabSize, c.HiddenSize, c.NumLayers, c.NumHeads, c.IntermediateSize = 100, 8, 1, 2, 16
	hidden, pooled := models.NewBert(c).Forward(tensor.Arange(5).Unsqueeze(0), tensor.Arange(5).Unsqueeze(0).OnesLike())
	fmt.Println(hidden.Type(), pooled.Type())
	// Output: f32[1,5,8] f32[1,8]
}

func ExampleNewDistilBert() {
	c := models.DistilBertBase
	c.VocabSize, c.HiddenSize, c.NumLayers, c.NumHeads, c.IntermediateSize = 100, 8, 1, 2, 16
	ids := tensor.Arange(5).Unsqueeze(0)
	fmt.Println(models.NewDistilBert(c).Forward(ids, ids.OnesLike()).Type())
	// Output: f32[1,5,8]
}

func ExampleNewDeberta() {
	c := models.DebertaBase
	c.VocabSize, c.HiddenSize, c.NumLayers, c.NumHeads, c.IntermediateSize = 100, 8, 1, 2, 16
	ids := tensor.Arange(5).Unsqueeze(0)
	fmt.Println(models.NewDeberta(c).Forward(ids, ids.OnesLike()).Type())
	// Output: f32[1,5,8]
}

// Two texts are compared with one image.
func ExampleNewAlign() {
	ids := tensor.Zeros(2, 4).Cast(array.I64)
	net := models.NewAlign()
	net.Temperature.AddScalarInPlace(1)
	image, text, fits := net.Forward(ids, ids.OnesLike(), tensor.Zeros(1, 3, 32, 32))
	fmt.Println(image.Type(), text.Type(), fits.Type())
	// Output: f32[1,1280] f32[2,1280] f32[2,1]
}

func ExampleNewGPT2() {
	c := models.GPT2Config{VocabSize: 100, MaxPositions: 16, Width: 8, NumLayers: 1, NumHeads: 2, LayerNormEps: 1e-5}
	hidden, logits := models.NewGPT2(c).Forward(tensor.Arange(5).Unsqueeze(0))
	fmt.Println(hidden.Type(), logits.Type())
	// Output: f32[1,5,8] f32[1,5,100]
}

// A decoder is shown every token once: its results for them are past at the
// next call.
func ExampleNewGPT2Decoder() {
	c := models.GPT2Config{VocabSize: 100, MaxPositions: 16, Width: 8, NumLayers: 1, NumHeads: 2, LayerNormEps: 1e-5}
	m := models.NewGPT2Decoder(c)
	_, past := m.Forward(tensor.Arange(5).Unsqueeze(0), tensor.Zeros(0, 1, 2, 1, 2, 4))
	logits, present := m.Forward(tensor.Arange(1).Unsqueeze(0), past)
	fmt.Println(c.PastType(), past.Type(), present.Type(), logits.Type())
	// Output: f32[P,1,2,N,2,4] f32[5,1,2,1,2,4] f32[1,1,2,1,2,4] f32[1,100]
}

// A text is continued token by token; the loop may end it.
func ExampleGPT2Decoder_Generate() {
	c := models.GPT2Config{VocabSize: 100, MaxPositions: 16, Width: 8, NumLayers: 1, NumHeads: 2, LayerNormEps: 1e-5}
	m := models.NewGPT2Decoder(c)
	models.Synthetic(models.Lookup("gpt2"), m, "gofx-1")
	var text []int64
	for token := range m.Generate(tensor.FromSlice([]int64{5, 17, 3}, 1, 3)) {
		if text = append(text, token); len(text) == 4 {
			break
		}
	}
	fmt.Println(len(text))
	// Output: 4
}

func ExampleNewBertForSequenceClassification() {
	c := models.BertBase
	c.VocabSize, c.HiddenSize, c.NumLayers, c.NumHeads, c.IntermediateSize = 100, 8, 1, 2, 16
	ids := tensor.Arange(5).Unsqueeze(0)
	fmt.Println(models.NewBertForSequenceClassification(c, 3).Forward(ids, ids.OnesLike()).Type())
	// Output: f32[1,3]
}

func ExampleNewBertForQuestionAnswering() {
	c := models.BertLarge
	c.VocabSize, c.HiddenSize, c.NumLayers, c.NumHeads, c.IntermediateSize = 100, 8, 1, 2, 16
	ids := tensor.Arange(5).Unsqueeze(0)
	start, end := models.NewBertForQuestionAnswering(c).Forward(ids, ids.OnesLike())
	fmt.Println(start.Type(), end.Type())
	// Output: f32[1,5] f32[1,5]
}

func ExampleNewRobertaForMaskedLM() {
	c := models.RobertaLarge
	c.VocabSize, c.HiddenSize, c.NumLayers, c.NumHeads, c.IntermediateSize = 100, 8, 1, 2, 16
	ids := tensor.Arange(5).Unsqueeze(0)
	fmt.Println(models.NewRobertaForMaskedLM(c).Forward(ids, ids.OnesLike()).Type())
	// Output: f32[1,5,100]
}

// A text is cut into words; the lexicon has some of them.
func ExampleNewWordSeg() {
	lexicon := models.Lexicon{"the", "dog", "ran"}
	c := models.WordSegEnglish
	c.Words, c.Width = len(lexicon)+1, 8
	m := models.NewWordSeg(c)
	letters, words := lexicon.Read("thedogran", c.MaxLength)
	fmt.Println(letters.Type(), words.Type(), words.At(3, 2).Item())
	logp, _ := m.Forward(letters, words)
	fmt.Println(logp.Type(), m.Loss(letters, words).Type(), m.Segment(letters, words))
	// Output:
	// i64[9] i64[9,10] 2
	// f32[] f32[] [3 3 3]
}

// A decoder is made of a file's sizes, rules and weights.
func ExampleLoadLlama() {
	f, err := gguf.Open("testdata/llama/qwen3.gguf")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := models.LoadLlama(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Config.NumHeads, m.Config.NumKVHeads, m.Config.HeadDim, m.Blk[0].AttnQ.Weight.Type())
	n := 0
	for range m.Generate(tensor.FromSlice([]int64{3, 30, 17}, 1, 3)) {
		if n++; n == 5 {
			break
		}
	}
	fmt.Println(n, "tokens")
	// Output:
	// 4 2 16 u8[64,18]
	// 5 tokens
}

// Matrices of blocks are multiplied by activations of 8 bits.
func ExampleActivations8() {
	f, err := gguf.Open("testdata/llama/qwen3.gguf")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := models.LoadLlama(f, models.Activations8())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Blk[0].AttnQ.Format, m.Blk[0].AttnQ.Dynamic)
	// Output: Q4_0 true
}

// Matrices are read where the file has them, which stays open.
func ExampleMapped() {
	f, err := gguf.Open("testdata/llama/linear.gguf")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	m, err := models.LoadLlama(f, models.Mapped())
	if err != nil {
		fmt.Println(err)
		return
	}
	up := m.Blk[0].FfnUp
	fmt.Println(up.Format, up.Weight.Type())
	// Output: Q8_0 u8[64,34]
}

func ExampleNewLlama() {
	c := models.LlamaConfig{
		VocabSize: 40, MaxPositions: 64, Width: 32, Inner: 64, NumLayers: 2, NumHeads: 4, NumKVHeads: 2, HeadDim: 8,
		RMSNormEps: 1e-5, Rotary: models.LlamaRotary{Base: 10000, Dims: 8},
	}
	logits, present := models.NewLlama(c).Forward(tensor.FromSlice([]int64{3, 30, 17}, 1, 3), tensor.Zeros(0, 2, 2, 1, 2, 8))
	fmt.Println(logits.Type(), present.Type(), c.PastType())
	// Output: f32[1,40] f32[3,2,2,1,2,8] f32[P,2,2,N,2,8]
}

// Caches of several element types: 34 bytes hold 32 elements of 8 bits.
func ExampleLlamaConfig_CheckCache() {
	c := models.LlamaConfig{NumLayers: 2, NumKVHeads: 4, HeadDim: 64}
	for _, d := range []array.DType{array.F32, array.F16, array.U8} {
		fmt.Println(c.CacheType(d), c.PastTypeOf(d), c.CacheRow(d), c.CheckCache(d))
	}
	c.HeadDim = 80
	fmt.Println(c.CheckCache(array.U8))
	// Output:
	// f32[N,4,R,64] f32[P,2,2,N,4,64] 64 <nil>
	// f16[N,4,R,64] f16[P,2,2,N,4,64] 64 <nil>
	// u8[N,4,R,68] u8[P,2,2,N,4,68] 68 <nil>
	// models: heads of 80 elements do not fit in a cache of 8 bits, expected a multiple of 32 [FX8035]
	//     hint: take a cache of f16
}
