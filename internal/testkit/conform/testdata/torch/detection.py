"""Exports a detector of torchvision with random weights: NAME OPSET FOLDER.

Detectors take lists of images; this one has one image, whose size is fixed. Thresholds are
such that something is found, and the weights such that scores are apart. The images are
such that roundings do not decide which boxes are kept, and in which order, where some are.
"""
import sys
import warnings

import torch
import torchvision

import samples

warnings.filterwarnings("ignore")
HEIGHT, WIDTH = 96, 128


def build(name):
    size = dict(min_size=HEIGHT, max_size=WIDTH)
    if "rcnn" in name:
        kw = dict(size, rpn_pre_nms_top_n_test=60, rpn_post_nms_top_n_test=20, box_detections_per_img=8, box_score_thresh=0.0)
    elif "ssd" in name:
        kw = dict(topk_candidates=20, detections_per_img=12, score_thresh=0.0)
    else:
        kw = dict(size, topk_candidates=40, detections_per_img=12, score_thresh=0.0)
    kw["num_classes"] = 2 if name.startswith("keypoint") else 5
    return getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None, **kw)


def image():
    coarse = torch.nn.functional.interpolate(torch.rand(1, 3, 12, 16), (HEIGHT, WIDTH), mode="bicubic")[0]
    return coarse.clamp(0, 1) * 0.7 + 0.3 * torch.rand(3, HEIGHT, WIDTH)


def spread(net):
    """Layers of the heads that keep differences, and statistics of the normalisations of
    the rest as they are for images."""
    for name, m in net.named_modules():
        if name.split(".")[0] in ("head", "rpn", "roi_heads") and isinstance(m, (torch.nn.Conv2d, torch.nn.Linear, torch.nn.ConvTranspose2d)):
            torch.nn.init.normal_(m.weight, std=m.weight[0].numel() ** -0.5)
            if m.bias is not None:
                m.bias.data.uniform_(-0.2, 0.2)
        if isinstance(m, torch.nn.BatchNorm2d):
            m.momentum = None
            m.reset_running_stats()
    net.backbone.train()
    with torch.no_grad():
        net.backbone(net.transform([image() for _ in range(3)])[0].tensors)
    net.eval()


class Sorted(torch.nn.Module):
    """The detector with its results in one order of names, which eager and exported ones
    do not share."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        found = self.net([x])
        found = found[1][0] if isinstance(found, tuple) else found[0]  # as in scripts, or eager
        return [found[k] for k in sorted(found)]


def stable(net):
    """An image whose boxes, labels and scores stay when it changes a little, if there is one
    in a few. What is read off maps inside of the boxes may move by a pixel."""
    for _ in range(4):
        x = image()
        with torch.no_grad():
            want = net(x)
            moved = [net(x + torch.randn_like(x) * 2e-6) for _ in range(3)]
        near = lambda a, b: a.shape == b.shape and (a.dim() > 2 or bool((a - b).abs().max() <= 2e-3 * b.abs().max()))
        if want[0].numel() and all(near(a, b) for got in moved for a, b in zip(got, want)):
            break
    return x


def main(name, opset, folder):
    torch.manual_seed(3)
    net = build(name)
    net.eval()
    spread(net)
    sorted_net = Sorted(net).eval()
    samples.export(sorted_net, [(stable(sorted_net),) for _ in range(2)], folder, opset, ["x"])


main(*sys.argv[1:])
