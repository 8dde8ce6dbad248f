#include "layers/cpu/onednn.h"

#include "layers/error.h"

namespace stagger::layers::cpu {
namespace {

constexpr bool kHasOperationDescriptors = DNNL_VERSION_MAJOR < 3;
using Kind = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

[[noreturn]] void fail(const char* primitive, const dnnl::error& error) {
  throw InternalError(std::string("oneDNN has no ") + primitive + " for this: " + error.what());
}

/// A primitive that stands alone; `args` are what both versions call the operation's arguments.
template <class Primitive, class... Args>
typename Primitive::primitive_desc create(const char* name, const dnnl::engine& engine, const Args&... args) {
  try {
    if constexpr (kHasOperationDescriptors) {
      return typename Primitive::primitive_desc(typename Primitive::desc(args...), attributes(), engine);
    } else {
      return typename Primitive::primitive_desc(engine, args..., attributes());
    }
  } catch (const dnnl::error& error) {
    fail(name, error);
  }
}

/// A primitive of the backward pass that belongs to the forward primitive `hint`.
template <class Primitive, class Hint, class... Args>
typename Primitive::primitive_desc create_backward(const char* name, const dnnl::engine& engine,
                                                   const Hint& hint, const Args&... args) {
  try {
    if constexpr (kHasOperationDescriptors) {
      return
          typename Primitive::primitive_desc(typename Primitive::desc(args...), attributes(), engine, hint);
    } else {
      return typename Primitive::primitive_desc(engine, args..., hint, attributes());
    }
  } catch (const dnnl::error& error) {
    fail(name, error);
  }
}

}  // namespace

// ---- layouts
// -------------------------------------------------------------------------------------------------------

Dims batch_dims(int64_t samples, const Shape& shape) {
  Dims dims{samples};
  dims.insert(dims.end(), shape.sizes().begin(), shape.sizes().end());
  return dims;
}

Layout plain_layout(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  return {dims, Kind::f32, strides};
}

Layout any_layout(const Dims& dims) { return {dims, Kind::f32, Tag::any}; }

#if DNNL_VERSION_MAJOR < 3

Dims dims_of(const Layout& layout) { return layout.dims(); }

std::optional<ImageStrides> image_strides(const Layout& layout) {
  const dnnl_memory_desc_t& d = layout.data;
  const dnnl_blocking_desc_t& b = d.format_desc.blocking;
  if (d.ndims != 4 || d.format_kind != dnnl_blocked || b.inner_nblks > 1) return {};
  if (b.inner_nblks == 1 && b.inner_idxs[0] != 1) return {};
  return ImageStrides{.block = b.inner_nblks == 1 ? b.inner_blks[0] : 1,
                      .padded_channels = d.padded_dims[1],
                      .sample = b.strides[0],
                      .channel = b.strides[1],
                      .row = b.strides[2],
                      .pixel = b.strides[3]};
}

#else

Dims dims_of(const Layout& layout) { return layout.get_dims(); }

std::optional<ImageStrides> image_strides(const Layout& layout) {
  if (layout.get_ndims() != 4 || layout.get_format_kind() != dnnl::memory::format_kind::blocked) return {};
  const int blocks = layout.get_inner_nblks();
  if (blocks > 1 || (blocks == 1 && layout.get_inner_idxs()[0] != 1)) return {};
  const Dims strides = layout.get_strides();
  return ImageStrides{.block = blocks == 1 ? layout.get_inner_blks()[0] : 1,
                      .padded_channels = layout.get_padded_dims()[1],
                      .sample = strides[0],
                      .channel = strides[1],
                      .row = strides[2],
                      .pixel = strides[3]};
}

#endif

bool is_plain(const Layout& layout) {
  const Dims dims = dims_of(layout);
  if (layout == plain_layout(dims)) return true;
  const auto strides = image_strides(layout);
  if (!strides || strides->padded_channels != dims[1]) return false;
  const int64_t pixels = dims[2] * dims[3];
  // Blocked channels lie as if they were plain where an image has one pixel only.
  if (strides->block > 1)
    return pixels == 1 && strides->channel == strides->block && strides->sample == dims[1];
  // The stride of a direction of size 1 says nothing.
  const auto matters = [](int64_t size, int64_t stride, int64_t plain) {
    return size == 1 || stride == plain;
  };
  return matters(dims[0], strides->sample, dims[1] * pixels) && matters(dims[1], strides->channel, pixels) &&
         matters(dims[2], strides->row, dims[3]) && matters(dims[3], strides->pixel, 1);
}

int64_t floats_of(const Layout& layout) { return static_cast<int64_t>(layout.get_size() / sizeof(float)); }

Layout image_layout_like(const Layout& model, const Dims& dims) {
  const auto strides = image_strides(model);
  require(strides.has_value(), "an image layout was expected");
  const bool channels_last = strides->block == 1 && strides->channel == 1 && dims_of(model)[1] > 1;
  switch (strides->block) {
    case 16:
      return {dims, Kind::f32, Tag::nChw16c};
    case 8:
      return {dims, Kind::f32, Tag::nChw8c};
    case 4:
      return {dims, Kind::f32, Tag::nChw4c};
    default:
      return channels_last ? Layout{dims, Kind::f32, Tag::nhwc} : plain_layout(dims);
  }
}

// ---- convolution
// ---------------------------------------------------------------------------------------------------

ConvolutionForward describe_forward(const dnnl::engine& engine, const ConvolutionSizes& s) {
  const auto make = [&](const auto&... weights_and_bias) {
    return create<dnnl::convolution_forward>(s.kForward, engine, dnnl::prop_kind::forward_training,
                                             dnnl::algorithm::convolution_direct, any_layout(s.source),
                                             weights_and_bias..., any_layout(s.destination), s.strides,
                                             s.padding, s.padding);
  };
  if (s.bias.empty()) return make(any_layout(s.weights));
  return make(any_layout(s.weights), plain_layout(s.bias));
}

ConvolutionBackwardData describe_backward_data(const dnnl::engine& engine, const ConvolutionSizes& s,
                                               const ConvolutionForward& forward) {
  return create_backward<dnnl::convolution_backward_data>(
      s.kBackwardData, engine, forward, dnnl::algorithm::convolution_direct, any_layout(s.source),
      any_layout(s.weights), any_layout(s.destination), s.strides, s.padding, s.padding);
}

ConvolutionBackwardWeights describe_backward_weights(const dnnl::engine& engine, const ConvolutionSizes& s,
                                                     const ConvolutionForward& forward) {
  const auto make = [&](const auto&... weights_and_bias) {
    return create_backward<dnnl::convolution_backward_weights>(
        s.kBackwardWeights, engine, forward, dnnl::algorithm::convolution_direct, any_layout(s.source),
        weights_and_bias..., any_layout(s.destination), s.strides, s.padding, s.padding);
  };
  if (s.bias.empty()) return make(any_layout(s.weights));
  return make(any_layout(s.weights), plain_layout(s.bias));
}

// ---- inner product
// -------------------------------------------------------------------------------------------------

InnerProductForward describe_forward(const dnnl::engine& engine, const InnerProductSizes& s) {
  const auto make = [&](const auto&... weights_and_bias) {
    return create<dnnl::inner_product_forward>(s.kForward, engine, dnnl::prop_kind::forward_training,
                                               any_layout(s.source), weights_and_bias...,
                                               any_layout(s.destination));
  };
  if (s.bias.empty()) return make(any_layout(s.weights));
  return make(any_layout(s.weights), plain_layout(s.bias));
}

InnerProductBackwardData describe_backward_data(const dnnl::engine& engine, const InnerProductSizes& s,
                                                const InnerProductForward& forward) {
  return create_backward<dnnl::inner_product_backward_data>(s.kBackwardData, engine, forward,
                                                            any_layout(s.source), any_layout(s.weights),
                                                            any_layout(s.destination));
}

InnerProductBackwardWeights describe_backward_weights(const dnnl::engine& engine, const InnerProductSizes& s,
                                                      const InnerProductForward& forward) {
  const auto make = [&](const auto&... weights_and_bias) {
    return create_backward<dnnl::inner_product_backward_weights>(s.kBackwardWeights, engine, forward,
                                                                 any_layout(s.source), weights_and_bias...,
                                                                 any_layout(s.destination));
  };
  if (s.bias.empty()) return make(any_layout(s.weights));
  return make(any_layout(s.weights), plain_layout(s.bias));
}

// ---- batch norm
// ----------------------------------------------------------------------------------------------------

namespace {

dnnl::normalization_flags flags(const BatchNormOptions& options) {
  auto set = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  if (options.relu) set |= dnnl::normalization_flags::fuse_norm_relu;
  if (options.running_statistics) set |= dnnl::normalization_flags::use_global_stats;
  return set;
}

}  // namespace

BatchNormForward batch_norm_forward(const dnnl::engine& engine, const Layout& data,
                                    const BatchNormOptions& options) {
  const auto prop = options.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  using Primitive = dnnl::batch_normalization_forward;
#if DNNL_VERSION_MAJOR < 3
  return create<Primitive>("batch norm", engine, prop, data, options.eps, flags(options));
#else
  return create<Primitive>("batch norm", engine, prop, data, data, options.eps, flags(options));
#endif
}

BatchNormBackward batch_norm_backward(const dnnl::engine& engine, const Layout& data,
                                      const BatchNormOptions& options, const BatchNormForward& forward) {
  const auto prop = dnnl::prop_kind::backward;
  using Primitive = dnnl::batch_normalization_backward;
#if DNNL_VERSION_MAJOR < 3
  return create_backward<Primitive>("backward batch norm", engine, forward, prop, data, data, options.eps,
                                    flags(options));
#else
  return create_backward<Primitive>("backward batch norm", engine, forward, prop, data, data, data,
                                    options.eps, flags(options));
#endif
}

// ---- pooling
// -------------------------------------------------------------------------------------------------------

namespace {

dnnl::algorithm algorithm(const PoolingOptions& options) {
  return options.maximum ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_include_padding;
}

}  // namespace

PoolingForward pooling_forward(const dnnl::engine& engine, const Layout& source, const PoolingOptions& o) {
  const auto prop = o.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  using Primitive = dnnl::pooling_forward;
  const Layout destination = any_layout(o.destination);
#if DNNL_VERSION_MAJOR < 3
  return create<Primitive>("pooling", engine, prop, algorithm(o), source, destination, o.strides, o.kernel,
                           o.padding, o.padding);
#else
  const Dims dilation(o.kernel.size(), 0);
  return create<Primitive>("pooling", engine, prop, algorithm(o), source, destination, o.strides, o.kernel,
                           dilation, o.padding, o.padding);
#endif
}

PoolingBackward pooling_backward(const dnnl::engine& engine, const Layout& source, const PoolingOptions& o,
                                 const PoolingForward& forward) {
  using Primitive = dnnl::pooling_backward;
  const Layout destination = forward.dst_desc();
#if DNNL_VERSION_MAJOR < 3
  return create_backward<Primitive>("backward pooling", engine, forward, algorithm(o), source, destination,
                                    o.strides, o.kernel, o.padding, o.padding);
#else
  const Dims dilation(o.kernel.size(), 0);
  return create_backward<Primitive>("backward pooling", engine, forward, algorithm(o), source, destination,
                                    o.strides, o.kernel, dilation, o.padding, o.padding);
#endif
}

// ---- the rest
// ------------------------------------------------------------------------------------------------------

Reorder reorder(const dnnl::engine& engine, const Layout& from, const Layout& to) {
  try {
    return {engine, from, engine, to, attributes()};
  } catch (const dnnl::error& error) {
    fail("reorder", error);
  }
}

std::string onednn_version() {
  const auto* v = dnnl::version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
}

std::string instruction_set() {
  // The values are sets of bits; every one that came after AVX-512 contains its bits.
  const auto contains = [](dnnl::cpu_isa isa) {
    const auto bits = static_cast<unsigned>(isa);
    return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
  };
  if (contains(dnnl::cpu_isa::avx512_core)) return "AVX-512";
  if (contains(dnnl::cpu_isa::avx2)) return "AVX2";
  if (contains(dnnl::cpu_isa::sse41)) return "SSE4.1";
  return "generic";
}

}  // namespace stagger::layers::cpu
