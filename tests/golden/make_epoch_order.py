#!/usr/bin/python3
"""Prints an order of samples and the draws of an augmentation, from an own Philox: the known answers of loader_test.cpp."""

MASK = 0xFFFFFFFF


def philox(counter, key):
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & MASK, (a >> 32) ^ c3 ^ k1, a & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


# Known answers published with Random123 (kat_vectors, philox4x32 10).
assert philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
assert philox((MASK,) * 4, (MASK,) * 2) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)


def halves(value):
    return value & MASK, value >> 32


def stream_key(seed, purpose, layer, epoch, batch):
    k = philox((*halves(layer), purpose, 0), halves(seed))
    k = philox((*halves(epoch), k[2], k[3]), k[:2])
    k = philox((*halves(batch), k[2], k[3]), k[:2])
    return k[:2]


def below(key, sample, i, bound):
    bits = philox((*halves(i // 4), *halves(sample)), key)[i % 4]
    return bits * bound >> 32


def epoch_order(samples, seed, epoch):
    key = stream_key(seed, 2, 0, epoch, 0)
    order = list(range(samples))
    for i in range(samples - 1, 0, -1):
        j = below(key, 0, i, i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def augmentation(seed, epoch, batch, position, pad):
    key = stream_key(seed, 3, 0, epoch, batch)
    return [below(key, position, 0, 2 * pad + 1), below(key, position, 1, 2 * pad + 1), below(key, position, 2, 2)]


if __name__ == "__main__":
    print("epoch_order(12, 7, 3):", epoch_order(12, 7, 3))
    print("augmentation(seed 5, epoch 1, batch 2, pad 2), positions 0-5: row, column, flip")
    for p in range(6):
        print(augmentation(5, 1, 2, p, 2))
