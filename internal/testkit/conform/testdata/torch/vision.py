"""Exports a network of torchvision with random weights: NAME OPSET FOLDER.

The batch is left open. Inputs and weights follow from a seed.
"""
import sys
import warnings

import torch
import torchvision

import samples

warnings.filterwarnings("ignore")


def build(name):
    if hasattr(torchvision.models.segmentation, name):
        return getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None), 65
    kw = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    return getattr(torchvision.models, name)(weights=None, **kw), 299 if name == "inception_v3" else 224


def spread(net):
    """Statistics of normalisations that are not 0 and 1, as in trained networks, small enough
    for activations to stay finite through many layers; and no layer that is zero."""
    for m in net.modules():
        if isinstance(m, torch.nn.Linear) and not m.weight.any():
            torch.nn.init.normal_(m.weight, std=0.02)
        if isinstance(m, torch.nn.BatchNorm2d):
            m.running_mean.uniform_(-0.1, 0.1)
            m.running_var.uniform_(0.8, 1.2)


def main(name, opset, folder):
    torch.manual_seed(0)
    net, size = build(name)
    net.eval()
    spread(net)
    batches = [(torch.rand(n, 3, size, size),) for n in (2, 1, 3)]
    samples.export(net, batches, folder, opset, ["x"], {"x": {0: "N"}})


main(*sys.argv[1:])
