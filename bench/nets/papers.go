package nets

import "github.com/gofx-dev/gofx/models"

// Papers are the networks that MagPy was measured on, by the number of the workload, with the sizes of its artifact in Dims.
func Papers() []Paper {
	images := func(name string, fresh func() any, size string) *models.Model {
		return &models.Model{Name: name, New: fresh, Inputs: []models.InputSpec{{Name: "x", Type: "f32[N,3," + size + "," + size + "]", Rule: models.Uniform{}}}, Dims: map[string]int{"N": 1}}
	}
	ids := models.InputSpec{Name: "input_ids", Type: "i64[T,S]", Rule: models.Integers{High: models.BertBase.VocabSize}}
	return []Paper{
		{"W20", &models.Model{Name: "align", New: func() any { return NewAlign(models.BertBase) }, Dims: map[string]int{"T": 2, "S": 64, "N": 1},
			Inputs: []models.InputSpec{ids, {Name: "image", Type: "f32[N,3,289,289]", Rule: models.Uniform{}}}}},
		{"W21", &models.Model{Name: "bert_256", New: func() any { return NewEncoder(models.BertBase) }, Dims: map[string]int{"N": 1, "S": 256},
			Inputs: []models.InputSpec{{Name: "x", Type: "f32[N,S,768]", Rule: models.Uniform{}}}}},
		{"W22", &models.Model{Name: "deberta_256", New: func() any { return NewDeBERTa(models.BertBase) }, Dims: map[string]int{"T": 1, "S": 256}, Inputs: []models.InputSpec{ids}}},
		{"W23", images("densenet121", func() any { return models.NewDenseNet121() }, "224")},
		{"W24", images("monodepth", func() any { return NewMonoDepth() }, "256")},
		{"W25", images("quantized", func() any { return NewQuantized() }, "224")},
		{"W26", images("resnet101", func() any { return models.NewResNet101() }, "224")},
		{"W27", images("tridentnet", func() any { return NewTridentNet() }, "224")},
		{"W28", &models.Model{Name: "lstm_10x256", New: func() any { return models.NewLSTM(256, 10) }, Dims: map[string]int{"T": 64, "N": 1},
			Inputs: []models.InputSpec{{Name: "x", Type: "f32[T,N,256]", Rule: models.Uniform{}}}}},
		{"W29", &models.Model{Name: "blockdrop", New: func() any { return NewBlockDrop(5) }, Dims: map[string]int{"N": 1},
			Inputs: []models.InputSpec{{Name: "x", Type: "f32[N,3,32,32]", Rule: models.Uniform{}}, {Name: "policy", Type: "f32[N,15]", Rule: models.Below{P: 0.5}}}}},
		{"W30", &models.Model{Name: "seq2seq_50", New: func() any { return NewSeq2Seq(256, 3797, 50) }, Dims: map[string]int{"N": 1},
			Inputs: []models.InputSpec{{Name: "encoded", Type: "f32[50,256]", Rule: models.Uniform{}}, {Name: "h", Type: "f32[N,256]", Rule: models.Uniform{}}}}},
	}
}

// Paper is a network with the number of its workload.
type Paper struct {
	ID    string
	Model *models.Model
}
