"""Writes reference.json: what Hugging Face's transformers make of scores by each rule of sampling, and by all of them.

    python models/sampling/testdata/make.py
"""

import json
import pathlib

import torch
from transformers.generation import logits_process as lp


def rules(c):
    if c.get("Repetition"):
        yield lp.RepetitionPenaltyLogitsProcessor(c["Repetition"])
    if c.get("Temperature"):
        yield lp.TemperatureLogitsWarper(c["Temperature"])
    if c.get("TopK"):
        yield lp.TopKLogitsWarper(c["TopK"])
    if c.get("TopP"):
        yield lp.TopPLogitsWarper(c["TopP"])
    if c.get("MinP"):
        yield lp.MinPLogitsWarper(c["MinP"])


CASES = [
    {"Temperature": 1.0}, {"Temperature": 0.3}, {"Temperature": 2.5}, {"Temperature": 1.0, "TopK": 1}, {"Temperature": 0.8, "TopK": 5},
    {"Temperature": 1.0, "TopK": 100}, {"Temperature": 1.0, "TopP": 0.5}, {"Temperature": 0.7, "TopP": 0.95}, {"Temperature": 1.0, "TopP": 0.01},
    {"Temperature": 1.0, "MinP": 0.2}, {"Temperature": 1.5, "MinP": 0.05}, {"Temperature": 1.0, "Repetition": 1.3}, {"Temperature": 1.0, "Repetition": 0.8},
    {"Temperature": 0.9, "Repetition": 1.2, "TopK": 12, "TopP": 0.8, "MinP": 0.08}, {"Temperature": 0.9, "TopK": 8, "TopP": 0.6},
    {"Temperature": 1.1, "TopP": 0.9, "MinP": 0.1},
]


def main():
    torch.manual_seed(7)
    out = []
    for c in CASES:
        scores = torch.randn(1, 40) * 2
        seen = torch.randint(0, 40, (1, 9))
        got = scores.double()
        for rule in rules(c):
            got = rule(seen, got)
        out.append({"config": c, "scores": scores[0].tolist(), "seen": seen[0].tolist(), "probabilities": got.softmax(-1)[0].tolist()})
    path = pathlib.Path(__file__).parent / "reference.json"
    path.write_text("[\n" + ",\n".join(json.dumps(c) for c in out) + "\n]\n")


main()
