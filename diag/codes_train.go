package diag

// trainCodes explains the codes FX31xx: optimisers and training.
var trainCodes = []Info{
	{
		//gofx:code optim.BadSetting
		Code: "FX3101", Title: "optimiser is set wrongly",
		Cause:   "a learning rate, decay or bound is out of its range, a group names no parameter, or an optimiser uses a slot that it has not named",
		Cure:    "the message says what is expected",
		Example: `optim.SGD{LR: -1}.Check()`,
	},
	{
		//gofx:code train.Unused
		Code: "FX3102", Title: "parameter that the loss does not use",
		Cause:   "the model has a parameter that the captured function never reads, so that it would stay as it is",
		Cure:    "use it, remove it, or freeze it: optim.Group{Params: []string{path}}",
		Example: `train.NewStep of a model with two layers, of which the loss uses one`,
	},
	{
		//gofx:code train.NotMetric
		Code: "FX3103", Title: "result of a loss function that is no single number",
		Cause:   "a step gives the loss first and metrics after it, each a tensor with one element",
		Cure:    "reduce the result by Mean or Sum, or leave it out",
		Example: `train.NewStep of a function that returns the loss and logits f32[N,10]`,
	},
	{
		//gofx:code train.BadData
		Code: "FX3104", Title: "data that cannot be trained on",
		Cause:   "arrays have different numbers of rows, there are none, a value is NaN or infinite, or a label is no class",
		Cure:    "correct the data at the row that the message names",
		Example: `train.NewBatches of labels 0, 1, 7 with 3 classes`,
	},
	{
		//gofx:code train.BadCSV
		Code: "FX3105", Title: "malformed table of numbers",
		Cause:   "a row of a CSV file has another number of columns, a field is no number, or the column of labels is missing",
		Cure:    "correct the file at the line that the message names",
		Example: `train.ReadCSV of the lines 1,2 and 3`,
	},
	{
		//gofx:code train.OtherModel
		Code: "FX3106", Title: "checkpoint of another model",
		Cause:   "tensors differ in name or type, or the step computes something else: another model, loss, optimiser, setting or loader",
		Cure:    "train with what the checkpoint was made with, or begin in another folder",
		Example: `Trainer.Fit with the checkpoint of a model with another layer`,
	},
	{
		//gofx:code train.BadCheckpoint
		Code: "FX3107", Title: "checkpoint cannot be read or written",
		Cause:   "the file was cut off or changed, is no checkpoint, or was written by another version",
		Cure:    "remove it, so that the one before it is taken",
		Example: `Trainer.Fit with a checkpoint of 100 zeros`,
	},
	{
		//gofx:code train.NotFinite
		Code: "FX3108", Title: "loss is not finite",
		Cause:   "a calculation overflowed or has no result: a learning rate that is too great, a logarithm of 0, a division by 0",
		Cure:    "look at the node that the message names, the first one that gave no number; clip gradients, or lower the learning rate",
		Example: `Trainer.Fit with a learning rate of 1e30`,
	},
	{
		//gofx:code train.BadTrainer
		Code: "FX3109", Title: "training is set up wrongly",
		Cause:   "a setting is missing or out of its range, or names a metric that there is not",
		Cure:    "the message says what is expected",
		Example: `Trainer.Fit without a Step`,
	},
	{
		//gofx:code train.FolderInUse
		Code: "FX3110", Title: "another training has the folder of checkpoints",
		Cause:   "two trainings would remove each other's checkpoints, and go on from those of the other",
		Cure:    "wait until the other one has ended, or give this one another folder",
		Example: `two calls of Trainer.Fit at once with the same Checkpoints.Dir`,
	},
}
