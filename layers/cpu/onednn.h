// What differs between oneDNN 2.x and 3.x, and nothing else: descriptions of primitives, and layouts of
// tensors.
//
// Every primitive takes its scratch memory from the caller (DNNL_ARG_SCRATCHPAD), so that an execution
// allocates nothing. All data is f32. A failure is an InternalError that names the primitive.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>

#include "layers/shape.h"

namespace stagger::layers::cpu {

/// Where each element of a tensor lies, batch dimension included.
using Layout = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

/// samples x shape, as oneDNN wants its sizes.
Dims batch_dims(int64_t samples, const Shape& shape);
/// Dense and row-major.
Layout plain_layout(const Dims& dims);
/// "Choose for me."
Layout any_layout(const Dims& dims);
Dims dims_of(const Layout& layout);
bool is_plain(const Layout& layout);
/// Floats that a tensor of this layout takes, padding included.
int64_t floats_of(const Layout& layout);

/// An image layout in which at most the channels are blocked: element (n, c, h, w) lies at
/// n * sample + (c / block) * channel + h * row + w * pixel + c % block.
struct ImageStrides {
  int64_t block = 1;
  int64_t padded_channels = 0;  ///< a multiple of block; those beyond the real ones hold zeros
  int64_t sample = 0, channel = 0, row = 0, pixel = 0;
};
/// Nothing where the layout is not of that kind.
std::optional<ImageStrides> image_strides(const Layout& layout);
/// The layout of the same kind (channels first, last or blocked) for other sizes. REQUIRES:
/// image_strides(model).
Layout image_layout_like(const Layout& model, const Dims& dims);

/// Sizes of a convolution; layouts are left to oneDNN.
struct ConvolutionSizes {
  static constexpr const char* kForward = "convolution";
  static constexpr const char* kBackwardData = "backward-data convolution";
  static constexpr const char* kBackwardWeights = "backward-weights convolution";

  Dims source, weights, bias, destination;  ///< bias: empty where there is none
  Dims strides, padding;
};
using ConvolutionForward = dnnl::convolution_forward::primitive_desc;
using ConvolutionBackwardData = dnnl::convolution_backward_data::primitive_desc;
using ConvolutionBackwardWeights = dnnl::convolution_backward_weights::primitive_desc;
ConvolutionForward describe_forward(const dnnl::engine& engine, const ConvolutionSizes& sizes);
ConvolutionBackwardData describe_backward_data(const dnnl::engine& engine, const ConvolutionSizes& sizes,
                                               const ConvolutionForward& forward);
ConvolutionBackwardWeights describe_backward_weights(const dnnl::engine& engine,
                                                     const ConvolutionSizes& sizes,
                                                     const ConvolutionForward& forward);

/// Sizes of a fully connected layer; layouts are left to oneDNN.
struct InnerProductSizes {
  static constexpr const char* kForward = "inner product";
  static constexpr const char* kBackwardData = "backward-data inner product";
  static constexpr const char* kBackwardWeights = "backward-weights inner product";

  Dims source, weights, bias, destination;  ///< bias: empty where there is none
};
using InnerProductForward = dnnl::inner_product_forward::primitive_desc;
using InnerProductBackwardData = dnnl::inner_product_backward_data::primitive_desc;
using InnerProductBackwardWeights = dnnl::inner_product_backward_weights::primitive_desc;
InnerProductForward describe_forward(const dnnl::engine& engine, const InnerProductSizes& sizes);
InnerProductBackwardData describe_backward_data(const dnnl::engine& engine, const InnerProductSizes& sizes,
                                                const InnerProductForward& forward);
InnerProductBackwardWeights describe_backward_weights(const dnnl::engine& engine,
                                                      const InnerProductSizes& sizes,
                                                      const InnerProductForward& forward);

/// Batch norm with scale and shift.
struct BatchNormOptions {
  float eps = 0;
  bool relu = false;
  bool training = false;            ///< gives mean and variance and, with relu, a workspace for backward
  bool running_statistics = false;  ///< takes mean and variance instead of computing them
};
using BatchNormForward = dnnl::batch_normalization_forward::primitive_desc;
using BatchNormBackward = dnnl::batch_normalization_backward::primitive_desc;
BatchNormForward batch_norm_forward(const dnnl::engine& engine, const Layout& data,
                                    const BatchNormOptions& options);
BatchNormBackward batch_norm_backward(const dnnl::engine& engine, const Layout& data,
                                      const BatchNormOptions& options, const BatchNormForward& forward);

/// Whether backward counts DNNL_ARG_SHIFT among its arguments, though the gradient does not depend on it.
inline constexpr bool kBatchNormBackwardTakesShift = DNNL_VERSION_MAJOR < 3;

/// Maximum, or average with padding counted as zeros.
struct PoolingOptions {
  bool maximum = false;
  bool training = false;  ///< a maximum gives a workspace for backward
  Dims destination, kernel, strides, padding;
};
using PoolingForward = dnnl::pooling_forward::primitive_desc;
using PoolingBackward = dnnl::pooling_backward::primitive_desc;
PoolingForward pooling_forward(const dnnl::engine& engine, const Layout& source,
                               const PoolingOptions& options);
PoolingBackward pooling_backward(const dnnl::engine& engine, const Layout& source,
                                 const PoolingOptions& options, const PoolingForward& forward);

using Reorder = dnnl::reorder::primitive_desc;
Reorder reorder(const dnnl::engine& engine, const Layout& from, const Layout& to);

/// For people: "2.6.3", "AVX-512".
std::string onednn_version();
std::string instruction_set();

}  // namespace stagger::layers::cpu
