#!/usr/bin/python3
"""Writes optimizer_values.json: what torch.optim.SGD and torch.optim.lr_scheduler compute.

Run with Debian 12's python3-torch (1.13) and no arguments; the file is written beside this script.
"""
import json
import pathlib
import warnings

import torch

warnings.filterwarnings("ignore")

SIZE = 43
DECAYED = range(0, 19)      # the buffer: 19 decayed weights, a gap of 5, 19 weights spared from decay
SPARED = range(24, SIZE)
RATES = [0.1, 0.05, 0.2]

SGD_CASES = {
    "plain": dict(momentum=0.0, weight_decay=0.0, nesterov=False),
    "plain with weight decay": dict(momentum=0.0, weight_decay=0.03, nesterov=False),
    "momentum": dict(momentum=0.9, weight_decay=0.0, nesterov=False),
    "momentum with weight decay": dict(momentum=0.9, weight_decay=0.03, nesterov=False),
    "nesterov": dict(momentum=0.8, weight_decay=0.0, nesterov=True),
    "nesterov with weight decay": dict(momentum=0.8, weight_decay=0.03, nesterov=True),
}


def sgd_case(name, options):
    generator = torch.Generator().manual_seed(len(name))
    values = torch.randn(SIZE, generator=generator)
    gradients = torch.randn(len(RATES), SIZE, generator=generator)
    decayed = torch.nn.Parameter(values[DECAYED.start:DECAYED.stop].clone())
    spared = torch.nn.Parameter(values[SPARED.start:SPARED.stop].clone())
    groups = [{"params": [decayed]}, {"params": [spared], "weight_decay": 0.0}]
    optimizer = torch.optim.SGD(groups, lr=1.0, **options)
    steps = []
    for rate, gradient in zip(RATES, gradients):
        for group in optimizer.param_groups:
            group["lr"] = rate
        decayed.grad = gradient[DECAYED.start:DECAYED.stop].clone()
        spared.grad = gradient[SPARED.start:SPARED.stop].clone()
        optimizer.step()
        steps.append({"decayed": decayed.tolist(), "spared": spared.tolist()})
    return {"name": name, **options, "values": values.tolist(), "gradients": gradients.tolist(), "steps": steps}


def rates(make_scheduler, batches, base):
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=base)
    scheduler = make_scheduler(optimizer)
    result = []
    for _ in range(batches):
        result.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return result


def main():
    schedulers = torch.optim.lr_scheduler
    result = {
        "torch": torch.__version__,
        "segments": {"decayed": [DECAYED.start, len(DECAYED)], "spared": [SPARED.start, len(SPARED)]},
        "rates": RATES,
        "sgd": [sgd_case(name, options) for name, options in SGD_CASES.items()],
        # Milestones in batches; 10 batches an epoch.
        "step": rates(lambda o: schedulers.MultiStepLR(o, milestones=[15, 30, 35], gamma=0.2), 40, 0.3),
        "cosine": rates(lambda o: schedulers.CosineAnnealingLR(o, T_max=40, eta_min=0.02), 40, 0.3),
        "warm-up of 8": rates(lambda o: schedulers.LinearLR(o, start_factor=1 / 8, total_iters=7), 8, 0.3),
        # The whole-run cosine of the 32 batches that follow the warm-up of a run of 40.
        "cosine after warm-up": rates(lambda o: schedulers.CosineAnnealingLR(o, T_max=32, eta_min=0.02), 32, 0.3),
    }
    path = pathlib.Path(__file__).with_name("optimizer_values.json")
    path.write_text(json.dumps(result, indent=None).replace('{"name"', '\n{"name"') + "\n")


if __name__ == "__main__":
    main()
