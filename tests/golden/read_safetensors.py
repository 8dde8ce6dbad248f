#!/usr/bin/env python3
"""Prints a safetensors file, read by its specification and nothing else: metadata, then tensors in file order.

A line is "meta KEY=VALUE" or "tensor NAME SHAPE NUMBER NUMBER ...". Fails where the file breaks a rule of the format.
"""
import json
import struct
import sys

data = open(sys.argv[1], "rb").read()
(length,) = struct.unpack("<Q", data[:8])
assert length % 8 == 0 and data[8:9] == b"{"
header = json.loads(data[8 : 8 + length].decode("utf-8"))
body = data[8 + length :]
for key, value in sorted(header.pop("__metadata__", {}).items()):
    print(f"meta {key}={value}")
end = 0
for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
    begin, next_end = tensor["data_offsets"]
    assert begin == end and tensor["dtype"] == "F32"
    end = next_end
    print("tensor", name, tensor["shape"], *struct.unpack(f"<{(end - begin) // 4}f", body[begin:end]))
assert end == len(body)
