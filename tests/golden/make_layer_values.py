#!/usr/bin/env python3
"""Writes layer_values.json: one training step of a small residual network as PyTorch computes it.

The network has 5 and 10 channels, which no vector unit likes, and every kind of shortcut. It is computed in double
precision from numbers that float holds exactly, so that what is stored is right to the last digit of a float.
"""
import json
import pathlib

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, channels, out, stride, shortcut):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.shortcut, self.stride, self.out = shortcut, stride, out
        if shortcut == "projection":
            self.downsample = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.shortcut == "projection":
            x = self.downsample(x)
        if self.shortcut == "padding":
            x = x[:, :, :: self.stride, :: self.stride]
            x = F.pad(x, (0, 0, 0, 0, 0, self.out - x.shape[1]))
        return F.relu(x + y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 5, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(5)
        self.layer1 = Block(5, 5, 1, "identity")
        self.layer2 = Block(5, 10, 2, "padding")
        self.layer3 = Block(10, 10, 2, "projection")
        self.fc = nn.Linear(10, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 1, 1)
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(x.mean((2, 3)))


def numbers(tensor):
    return [float(f"{x:.9g}") for x in tensor.detach().flatten().tolist()]


def main():
    torch.manual_seed(1)
    net = Net()
    for parameter in net.parameters():
        with torch.no_grad():
            parameter.add_(0.1 * torch.randn_like(parameter))
    x = torch.randn(4, 3, 8, 7)
    labels = torch.tensor([0, 3, 1, 3])
    values = {name: numbers(p) for name, p in net.named_parameters()}
    net.double()
    x = x.double().requires_grad_()
    logits = net(x)
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    running = {n: numbers(b) for n, b in net.named_buffers() if "running" in n}
    net.eval()
    result = {
        "made_by": "make_layer_values.py, PyTorch " + torch.__version__,
        "input": numbers(x),
        "labels": labels.tolist(),
        "parameters": values,
        "logits": numbers(logits),
        "loss": loss.item(),
        "gradients": {name: numbers(p.grad) for name, p in net.named_parameters()},
        "input_gradient": numbers(x.grad),
        "running": running,
        "evaluated_logits": numbers(net(x)),
    }
    path = pathlib.Path(__file__).with_name("layer_values.json")
    path.write_text(json.dumps(result, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
