"""Detectors of torchvision with small backbones. Thresholds are such that something is found. The
exporter that traces with dynamo refuses them (they ask whether boxes were found); the older one,
which PyTorch still has, writes them."""
import torch
import torchvision
from torchvision.models import detection as D
from torchvision.ops import feature_pyramid_network as fpn

from torchnet import net

CASES = {}
HEIGHT, WIDTH = 96, 128


class Levels(torch.nn.Module):
    """A backbone of three levels of features."""

    def __init__(self, channels=16, each=False):
        super().__init__()
        self.out_channels = [channels] * 3 if each else channels
        step = lambda i: torch.nn.Sequential(torch.nn.Conv2d(i, channels, 3, 2, 1), torch.nn.BatchNorm2d(channels), torch.nn.ReLU(), torch.nn.Conv2d(channels, channels, 3, 2, 1))
        self.first, self.second, self.third = step(3), step(channels), torch.nn.Conv2d(channels, channels, 3, 2, 1)
        self.fpn = fpn.FeaturePyramidNetwork([channels] * 3, channels)

    def forward(self, x):
        a = self.first(x)
        b = self.second(a)
        return self.fpn({"0": a, "1": b, "2": self.third(b)})


def found(model, feeds):
    out = model([feeds["image"]])[0]
    return [out[k] for k in sorted(out)]


def detector(name, build, opset=18):
    CASES.update(net(name, "detection", build, {"image": ("unit", [3, HEIGHT, WIDTH])}, {}, {}, opset, found, after=spread, dynamo=False))


def spread(m):
    """Weights that keep differences."""
    for layer in m.modules():
        if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear, torch.nn.ConvTranspose2d)):
            torch.nn.init.normal_(layer.weight, std=layer.weight[0].numel() ** -0.5)


SIZE = dict(min_size=HEIGHT, max_size=WIDTH)
RCNN = dict(SIZE, rpn_pre_nms_top_n_test=60, rpn_post_nms_top_n_test=20, box_detections_per_img=8, box_score_thresh=0.0)
anchors = lambda: D.anchor_utils.AnchorGenerator(((16,), (32,), (64,)), ((0.5, 1.0, 2.0),) * 3)
pool = lambda n: torchvision.ops.MultiScaleRoIAlign(["0", "1", "2"], n, 2)
head = lambda: D.faster_rcnn.TwoMLPHead(16 * 49, 32)
predictor = lambda n: D.faster_rcnn.FastRCNNPredictor(32, n)
parts = lambda n: dict(RCNN, rpn_anchor_generator=anchors(), box_roi_pool=pool(7), box_head=head(), box_predictor=predictor(n))
detector("faster_rcnn", lambda: D.FasterRCNN(Levels(), **parts(5)))
detector("mask_rcnn", lambda: D.MaskRCNN(Levels(), **parts(5), mask_roi_pool=pool(14), mask_head=D.mask_rcnn.MaskRCNNHeads(16, [16, 16], 1),
         mask_predictor=D.mask_rcnn.MaskRCNNPredictor(16, 16, 5)), opset=20)
detector("keypoint_rcnn", lambda: D.KeypointRCNN(Levels(), **parts(2), keypoint_roi_pool=pool(14), keypoint_head=D.keypoint_rcnn.KeypointRCNNHeads(16, [16, 16]),
         keypoint_predictor=D.keypoint_rcnn.KeypointRCNNPredictor(16, 5)))
ONCE = dict(SIZE, topk_candidates=40, detections_per_img=12, score_thresh=0.0)
detector("retinanet", lambda: D.RetinaNet(Levels(), 5, anchor_generator=anchors(), **ONCE), opset=19)
detector("fcos", lambda: D.FCOS(Levels(64), 5, anchor_generator=D.anchor_utils.AnchorGenerator(((8,), (16,), (32,)), ((1.0,),) * 3), **ONCE))
detector("ssd", lambda: D.ssd.SSD(Levels(each=True), D.anchor_utils.DefaultBoxGenerator([[2], [2, 3], [2]]), (HEIGHT, WIDTH), 5, topk_candidates=20, detections_per_img=12, score_thresh=0.0), opset=20)
