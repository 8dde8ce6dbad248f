#!/usr/bin/env python3
"""Writes resnet_parameters.txt: parameter counts and names of PyTorch's ResNets for small images.

The modules below follow torchvision's BasicBlock and Bottleneck, in its naming and order. Run with PyTorch:
    python3 tests/golden/resnet_parameters.py > tests/golden/resnet_parameters.txt
A line is either "count MODEL BLOCK SHORTCUT CHANNELS N" or "tensor MODEL BLOCK SHORTCUT CHANNELS NAME SIZES"
(trained parameters only, in PyTorch's order).
"""
from torch import nn


def conv(a, b, kernel, stride=1):
    return nn.Conv2d(a, b, kernel, stride, padding=kernel // 2, bias=False)


class Block(nn.Module):
    def __init__(self, kind, shortcut, a, width, stride):
        super().__init__()
        if kind == "basic":
            out = width
            self.conv1, self.bn1 = conv(a, width, 3, stride), nn.BatchNorm2d(width)
            self.conv2, self.bn2 = conv(width, width, 3), nn.BatchNorm2d(width)
        else:
            out = 4 * width
            self.conv1, self.bn1 = conv(a, width, 1), nn.BatchNorm2d(width)
            self.conv2, self.bn2 = conv(width, width, 3, stride), nn.BatchNorm2d(width)
            self.conv3, self.bn3 = conv(width, out, 1), nn.BatchNorm2d(out)
        if (stride != 1 or a != out) and shortcut == "projection":
            self.downsample = nn.Sequential(conv(a, out, 1, stride), nn.BatchNorm2d(out))


class ResNet(nn.Module):
    def __init__(self, depth, kind, shortcut, channels):
        super().__init__()
        n = (depth - 2) // (6 if kind == "basic" else 9)
        self.conv1, self.bn1 = conv(channels, 16, 3), nn.BatchNorm2d(16)
        a = 16
        for group in range(3):
            width, blocks = 16 * 2**group, []
            for i in range(n):
                blocks.append(Block(kind, shortcut, a, width, 2 if group > 0 and i == 0 else 1))
                a = width if kind == "basic" else 4 * width
            setattr(self, f"layer{group + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(a, 10)


def main():
    for depth, kind in [(20, "basic"), (32, "basic"), (44, "basic"), (56, "basic"), (98, "basic"), (110, "basic"),
                        (29, "bottleneck"), (56, "bottleneck"), (110, "bottleneck"), (164, "bottleneck")]:
        for shortcut in ("padding", "projection"):
            count = sum(p.numel() for p in ResNet(depth, kind, shortcut, 3).parameters())
            print("count", depth, kind, shortcut, 3, count)
    for depth, kind in [(20, "basic"), (29, "bottleneck")]:
        for name, p in ResNet(depth, kind, "projection", 1).named_parameters():
            print("tensor", depth, kind, "projection", 1, name, "x".join(map(str, p.shape)))


main()
