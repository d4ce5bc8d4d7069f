package optim

import "github.com/gofx-dev/gofx/internal/named"

// optimisers are the optimisers by name, with PyTorch's settings where they are not given; sgd, which
// has none there, and momentum take steps of 0.01.
var optimisers = []named.Entry[Optimiser]{
	{Name: "sgd", Value: SGD{LR: 0.01}},
	{Name: "momentum", Value: SGD{LR: 0.01, Momentum: 0.9}},
	{Name: "adam", Value: Adam{LR: 1e-3}},
	{Name: "adamw", Value: AdamW{LR: 1e-3, WeightDecay: 0.01}},
	{Name: "radam", Value: RAdam{LR: 1e-3}},
	{Name: "rmsprop", Value: RMSprop{LR: 0.01}},
	{Name: "lamb", Value: LAMB{LR: 1e-3}},
}

// Names lists the optimisers that Parse knows.
func Names() []string { return named.Names(optimisers) }

// Parse returns an optimiser by its name, with the settings in parentheses after it and those of
// more: "adamw(lr=1e-3,weight_decay=0.01)". Settings have the names of the fields in lower case; those
// that are not given have PyTorch's defaults. Its error (FX3101) names all that is wrong, Check's
// findings included.
func Parse(text string, more ...string) (Optimiser, error) {
	o, err := named.Make(BadSetting, "optimiser", text, optimisers, more...)
	if err == nil {
		err = o.Check()
	}
	return o, err
}
