#!/usr/bin/env python3
"""Executable specification of the update rules, in float64, one process, no concurrency.

Every asynchronous method of the family is the same dataflow network; only four knobs differ:

  a[k]       bubbles that stand in the activation queue k -> k+1 before the first step
  e[k]       bubbles that stand in the error queue k+1 -> k before the first step
  weights    'current': backward uses the weights of the step it runs in
             'stashed': backward uses the weights that the same batch's forward used
  replay     'recompute': backward recomputes the block from its saved input (with `weights`)
             'stored'   : backward uses the activations kept from the forward

  step n of stage k:
    F  take one token from the activation queue (stage 0: the next batch); forward it with w_k(n);
       keep what backward needs; put the result on the next activation queue. A bubble passes as a bubble.
    B  take one token from the error queue (last stage: the loss gradient of the batch just forwarded);
       backward it; put the input gradient on the previous error queue. A bubble passes as a bubble.
    U  w_k(n+1) = optimizer(w_k(n), g).   A bubble is no update: weights, momentum and step count stand still.

  Batch b is forwarded by stage k in step  b + sum(a[:k])  and backpropagated in step
  b + sum(a) + sum(e[k:]).  Their difference, sum(a[k:]) + sum(e[k:]), is the layer-wise staleness of stage k.

  bp        a=0 e=0 current            ddg       a=0 e=1 stashed stored
  fr        a=0 e=1 current recompute  pipedream a=1 e=0 stashed stored
  dsp       a>=1 e>=1 current recompute; the paper writes DSP(a_0,..,a_{K-2},0; staleness_0,..,staleness_{K-1})
  gpipe     a=0 e=0, M micro-batches per step, one update with the mean gradient

usage: make_methods.py OUT.json [SEED]     writes inputs, initial weights and the expected results of every case
"""
import collections
import json
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


class Linear(torch.nn.Module):
    def __init__(self, i, o, relu):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(o, i) / i ** 0.5)
        self.bias = torch.nn.Parameter(torch.randn(o) * 0.1)
        self.relu = relu

    def forward(self, x, bn_update):
        y = F.linear(x, self.weight, self.bias)
        return F.relu(y) if self.relu else y


class ConvBnRelu(torch.nn.Module):
    """3x3 convolution, padding 1, no bias; batch norm (eps 1e-5, momentum 0.1); ReLU."""

    def __init__(self, i, o):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(o, i, 3, 3) / (9 * i) ** 0.5)
        self.gamma = torch.nn.Parameter(1 + 0.1 * torch.randn(o))
        self.beta = torch.nn.Parameter(0.1 * torch.randn(o))
        self.register_buffer("running_mean", torch.zeros(o))
        self.register_buffer("running_var", torch.ones(o))

    def forward(self, x, bn_update):
        y = F.conv2d(x, self.weight, padding=1)
        mean, var = (self.running_mean, self.running_var) if bn_update else (None, None)
        return F.relu(F.batch_norm(y, mean, var, self.gamma, self.beta, True, 0.1, 1e-5))


class PoolLinear(Linear):
    """Global average pool, then linear."""

    def forward(self, x, bn_update):
        return super().forward(x.mean((2, 3)), bn_update)


def blocks(net):
    return {
        "mlp3": lambda: [Linear(6, 8, True), Linear(8, 8, True), Linear(8, 4, False)],
        "mlp4": lambda: [Linear(6, 8, True), Linear(8, 7, True), Linear(7, 5, True), Linear(5, 4, False)],
        "conv3": lambda: [ConvBnRelu(2, 4), ConvBnRelu(4, 4), PoolLinear(4, 3, False)],
    }[net]()


class Stage:
    def __init__(self, block, weights, replay, lr, momentum, weight_decay):
        self.block, self.weights, self.replay = block, weights, replay
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.saved = collections.deque()
        self.velocity = None

    def forward(self, x):
        """Returns the output; remembers for backward what the method needs."""
        stash = [p.detach().clone() for p in self.block.parameters()]
        leaf = x.detach().clone().requires_grad_(True)
        if self.replay == "stored":
            out = self.block(leaf, bn_update=True)          # running statistics move once a batch: here ...
            self.saved.append((leaf, out, list(self.block.parameters()), stash))
            # keep the graph on its own copy of the weights, so later updates cannot touch it
            out = self._detached_graph(leaf, stash)
            return out.detach()
        with torch.no_grad():
            out = self.block(leaf, bn_update=False)
        self.saved.append((leaf, None, None, stash))
        return out

    def _detached_graph(self, leaf, stash):
        params = [p.clone().requires_grad_(True) for p in stash]
        out = self._functional(leaf, params)
        self.saved[-1] = (leaf, out, params, stash)
        return out

    def _functional(self, x, params):
        block = self.block
        originals = [(n, p) for n, p in block.named_parameters()]
        for (name, _), q in zip(originals, params):
            delattr(block, name)
            setattr(block, name, q)
        try:
            return block(x, bn_update=False)
        finally:
            for name, p in originals:
                delattr(block, name)
                block.register_parameter(name, p)

    def backward(self, error):
        leaf, out, params, stash = self.saved.popleft()
        if self.replay == "recompute":
            leaf = leaf.detach().clone().requires_grad_(True)
            params = list(self.block.parameters())
            out = self.block(leaf, bn_update=True)          # ... or here, with the newest weights
        grads = torch.autograd.grad(out, [leaf] + params, error)
        return grads[0], grads[1:]

    def loss(self, x, target):
        """Last stage: forward, mean cross-entropy and backward in one step, always with the current weights."""
        leaf = x.detach().clone().requires_grad_(True)
        params = list(self.block.parameters())
        value = F.cross_entropy(self.block(leaf, bn_update=True), target)
        grads = torch.autograd.grad(value, [leaf] + params)
        return value.item(), grads[0], grads[1:]

    def update(self, grads):
        with torch.no_grad():
            params = list(self.block.parameters())
            d = [g + self.weight_decay * p for g, p in zip(grads, params)]
            if self.velocity is None:
                self.velocity = [x.clone() for x in d]
            else:
                self.velocity = [self.momentum * v + x for v, x in zip(self.velocity, d)]
            for p, v in zip(params, self.velocity):
                p -= self.lr * v


def run_async(stages, a, e, batches, accumulate=1):
    K = len(stages)
    act = [collections.deque([None] * a[k]) for k in range(K - 1)]
    err = [collections.deque([None] * e[k]) for k in range(K - 1)]
    pending = [[] for _ in range(K)]
    losses, norms = [], []
    total = len(batches) + sum(a) + sum(e)
    for n in range(total):                       # n counts local steps; bubbles flush the pipeline at the end
        new_err = [None] * K
        for k, stage in enumerate(stages):
            token = (n if n < len(batches) else None) if k == 0 else act[k - 1].popleft()
            x = batches[token][0] if k == 0 and token is not None else (token[1] if k and token is not None else None)
            b = token if k == 0 else (token[0] if token is not None else None)
            if k < K - 1:
                act[k].append((b, stage.forward(x)) if b is not None else None)
            elif b is not None:
                value, dx, g = stage.loss(x, batches[b][1])
                losses.append(value)
                new_err[k] = (dx, g)
        for k in reversed(range(K)):
            if k == K - 1:
                result = new_err[k]
            else:
                token = err[k].popleft()
                result = stages[k].backward(token) if token is not None else None
            if k > 0:
                err[k - 1].append(result[0] if result is not None else None)
            if result is not None:
                pending[k].append(result[1])
                if len(pending[k]) == accumulate:
                    stages[k].update([sum(g) / accumulate for g in zip(*pending[k])])
                    pending[k] = []
        norms.append([sum(float((p ** 2).sum()) for p in s.block.parameters()) ** 0.5 for s in stages])
    return losses, norms


def run_gpipe(stages, batches, micro):
    losses, norms = [], []
    for x, y in batches:
        sums, value = [None] * len(stages), 0.0
        for xs, ys in zip(x.chunk(micro), y.chunk(micro)):
            for s in stages[:-1]:
                xs = s.forward(xs)
            v, dx, g = stages[-1].loss(xs, ys)
            value += v / micro
            for k in reversed(range(len(stages))):
                if k < len(stages) - 1:
                    dx, g = stages[k].backward(dx)
                sums[k] = [t / micro for t in g] if sums[k] is None else [s + t / micro for s, t in zip(sums[k], g)]
        for s, g in zip(stages, sums):
            s.update(g)
        losses.append(value)
        norms.append([sum(float((p ** 2).sum()) for p in s.block.parameters()) ** 0.5 for s in stages])
    return losses, norms


def cases():
    sgd = dict(lr=0.1, momentum=0.0, weight_decay=0.0)
    mom = dict(lr=0.05, momentum=0.9, weight_decay=5e-4)
    zero, one = lambda k: [0] * (k - 1), lambda k: [1] * (k - 1)
    for net, K in (("mlp3", 3), ("mlp4", 4), ("conv3", 3)):
        for tag, opt in (("sgd", sgd), ("momentum", mom)):
            yield net, "bp", tag, opt, dict(a=zero(K), e=zero(K), weights="current", replay="recompute")
            yield net, "fr", tag, opt, dict(a=zero(K), e=one(K), weights="current", replay="recompute")
            yield net, "ddg", tag, opt, dict(a=zero(K), e=one(K), weights="stashed", replay="stored")
            yield net, "pipedream", tag, opt, dict(a=one(K), e=zero(K), weights="stashed", replay="stored")
            yield net, "dsp", tag, opt, dict(a=one(K), e=one(K), weights="current", replay="recompute")
            yield net, "dsp-deep", tag, opt, dict(a=[2] * (K - 1), e=one(K), weights="current", replay="recompute")
            yield net, "dsp-uneven", tag, opt, dict(a=list(range(1, K)), e=one(K), weights="current", replay="recompute")
        yield net, "dsp-accumulate2", "momentum", mom, dict(a=one(K), e=one(K), weights="current", replay="recompute", accumulate=2)
        if net != "conv3":
            yield net, "gpipe-m2", "momentum", mom, dict(micro=2)


def rounded(numbers):
    return [rounded(n) for n in numbers] if isinstance(numbers, list) else float(f"{numbers:.9g}")


def tensor(t):
    return {"shape": list(t.shape), "data": [float(f"{v:.9g}") for v in t.reshape(-1).tolist()]}


def state(block):
    return {n: tensor(t.detach()) for n, t in block.state_dict().items()}


def main(path, seed):
    out = {"inputs": {}, "cases": []}
    for net, shape, classes in (("mlp3", (6,), 4), ("mlp4", (6,), 4), ("conv3", (2, 6, 6), 3)):
        torch.manual_seed(seed)
        batches = [(torch.randn(4, *shape), torch.randint(0, classes, (4,))) for _ in range(16)]
        init = blocks(net)
        out["inputs"][net] = {
            "batches": [{"x": tensor(x), "y": y.tolist()} for x, y in batches],
            "init": [state(b) for b in init],
        }
        for name, method, tag, opt, knobs in cases():
            if name != net:
                continue
            fresh = blocks(net)
            for b, source in zip(fresh, init):
                b.load_state_dict(source.state_dict())
            if method.startswith("gpipe"):
                stages = [Stage(b, "current", "recompute", **opt) for b in fresh]
                losses, norms = run_gpipe(stages, batches, knobs["micro"])
            else:
                stages = [Stage(b, knobs["weights"], knobs["replay"], **opt) for b in fresh]
                losses, norms = run_async(stages, knobs["a"], knobs["e"], batches, knobs.get("accumulate", 1))
            out["cases"].append({"net": net, "method": method, "optimizer": tag, **opt, **knobs,
                                 "loss": rounded(losses), "weight_norm": rounded(norms),
                                 "final": [state(s.block) for s in stages]})
    with open(path, "w") as f:
        json.dump(out, f, separators=(",", ":"))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7)
