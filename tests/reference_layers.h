// Every layer's forward pass in double precision, by the shortest loops that define it: the independent
// answer that devices are compared with. Their gradients come from central differences of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "layers/device.h"
#include "layers/random.h"

namespace stagger::tests {

using Doubles = std::vector<double>;
using layers::Shape;

/// Where a layer reads its numbers, and what else its result depends on.
struct ReferenceContext {
  const layers::ParameterLayout& layout;
  const Doubles& parameters;  ///< as the flat buffer of Parameters
  const float* running = nullptr;
  layers::Mode mode = layers::Mode::kTrain;
  int64_t samples = 1;
  uint64_t seed = 0;
  layers::BatchIdentity identity = {};
};

/// An image batch in row-major order; pixels outside read as `outside`.
struct Pixels {
  const Doubles& data;
  const Shape& shape;

  double operator()(int64_t n, int64_t c, int64_t h, int64_t w, double outside = 0) const {
    if (h < 0 || w < 0 || h >= shape[1] || w >= shape[2]) return outside;
    return data[static_cast<size_t>(((n * shape[0] + c) * shape[1] + h) * shape[2] + w)];
  }
};

class ReferenceLayer {
 public:
  ReferenceLayer(const ReferenceContext& context, const std::string& name, std::vector<const Doubles*> inputs,
                 std::vector<Shape> shapes, Shape out)
      : context_(context),
        name_(name),
        inputs_(std::move(inputs)),
        shapes_(std::move(shapes)),
        out_(std::move(out)) {}

  Doubles operator()(const layers::Conv2d& l) const {
    const Shape& in = shapes_[0];
    const double* const bias = l.bias ? parameter("bias") : nullptr;
    return image([&, w = parameter("weight")](int64_t n, int64_t o, int64_t h, int64_t x) {
      double sum = bias != nullptr ? bias[o] : 0;
      const double* weight = w + o * in[0] * l.kernel * l.kernel;
      for (int64_t c = 0; c < in[0]; ++c) {
        for (int64_t kh = 0; kh < l.kernel; ++kh) {
          for (int64_t kw = 0; kw < l.kernel; ++kw) {
            sum += *weight++ * pixels()(n, c, h * l.stride - l.padding + kh, x * l.stride - l.padding + kw);
          }
        }
      }
      return sum;
    });
  }

  Doubles operator()(const layers::Pool& l) const {
    const bool max = l.kind == layers::Pool::Kind::kMax;
    return image([&](int64_t n, int64_t c, int64_t h, int64_t x) {
      double result = max ? -std::numeric_limits<double>::infinity() : 0;
      for (int64_t i = 0; i < l.kernel * l.kernel; ++i) {
        const double p = pixels()(n, c, h * l.stride - l.padding + i / l.kernel,
                                  x * l.stride - l.padding + i % l.kernel, max ? result : 0);
        result = max ? std::max(result, p) : result + p / static_cast<double>(l.kernel * l.kernel);
      }
      return result;
    });
  }

  Doubles operator()(const layers::GlobalAveragePool&) const {
    const int64_t area = shapes_[0][1] * shapes_[0][2];
    return image([&](int64_t n, int64_t c, int64_t, int64_t) {
      double sum = 0;
      for (int64_t i = 0; i < area; ++i) sum += pixels()(n, c, i / shapes_[0][2], i % shapes_[0][2]);
      return sum / static_cast<double>(area);
    });
  }

  Doubles operator()(const layers::PadShortcut& l) const {
    return image([&](int64_t n, int64_t c, int64_t h, int64_t x) {
      return c < shapes_[0][0] ? pixels()(n, c, h * l.stride, x * l.stride) : 0.0;
    });
  }

  Doubles operator()(const layers::Linear& l) const {
    const int64_t features = shapes_[0][0];
    const double* const bias = l.bias ? parameter("bias") : nullptr;
    return each([&, w = parameter("weight")](int64_t n, int64_t o) {
      double sum = bias != nullptr ? bias[o] : 0;
      for (int64_t i = 0; i < features; ++i) sum += w[o * features + i] * in(n * features + i);
      return sum;
    });
  }

  Doubles operator()(const layers::BatchNorm& l) const {
    const int64_t area = out_.elements() / out_[0];
    Doubles means(static_cast<size_t>(out_[0])), variances(means);
    for (int64_t c = 0; c < out_[0]; ++c) {
      const auto [mean, variance] = statistics(c, area);
      means[static_cast<size_t>(c)] = mean;
      variances[static_cast<size_t>(c)] = variance;
    }
    return each([&, weight = parameter("weight"), bias = parameter("bias")](int64_t n, int64_t i) {
      const auto c = i / area;
      const auto at = static_cast<size_t>(c);
      const double normal = (in(n * out_.elements() + i) - means[at]) / std::sqrt(variances[at] + l.eps);
      const double y = normal * weight[c] + bias[c];
      return l.relu ? std::max(0.0, y) : y;
    });
  }

  Doubles operator()(const layers::Relu&) const {
    return each([&](int64_t n, int64_t i) { return std::max(0.0, in(n * out_.elements() + i)); });
  }

  Doubles operator()(const layers::Add& l) const {
    return each([&](int64_t n, int64_t i) {
      const double sum = in(n * out_.elements() + i, 0) + in(n * out_.elements() + i, 1);
      return l.relu ? std::max(0.0, sum) : sum;
    });
  }

  Doubles operator()(const layers::Flatten&) const { return *inputs_[0]; }

  Doubles operator()(const layers::Dropout& l) const {
    if (context_.mode == layers::Mode::kEvaluate) return *inputs_[0];
    const layers::Stream stream(context_.seed, layers::Purpose::kDropout, layers::layer_key(name_),
                                context_.identity.epoch, context_.identity.batch);
    return each([&](int64_t n, int64_t i) {
      const bool dropped = stream.uniform(n, i) < l.probability;
      return dropped ? 0.0 : in(n * out_.elements() + i) / (1 - l.probability);
    });
  }

 private:
  double in(int64_t i, size_t which = 0) const { return (*inputs_[which])[static_cast<size_t>(i)]; }
  Pixels pixels() const { return {*inputs_[0], shapes_[0]}; }
  const double* parameter(const char* name) const {
    return context_.parameters.data() + context_.layout.parameter(name_ + "." + name).offset;
  }

  /// Mean and biased variance of channel `c`; the running ones in evaluation.
  std::pair<double, double> statistics(int64_t c, int64_t area) const {
    if (context_.mode == layers::Mode::kEvaluate) {
      return {context_.running[context_.layout.statistic(name_ + ".running_mean").offset + c],
              context_.running[context_.layout.statistic(name_ + ".running_var").offset + c]};
    }
    double sum = 0, squares = 0;
    const auto count = static_cast<double>(context_.samples * area);
    const auto for_all = [&](auto visit) {
      for (int64_t n = 0; n < context_.samples; ++n) {
        for (int64_t i = 0; i < area; ++i) visit(in(n * out_.elements() + c * area + i));
      }
    };
    for_all([&](double x) { sum += x; });
    for_all([&, mean = sum / count](double x) { squares += (x - mean) * (x - mean); });
    return {sum / count, squares / count};
  }

  /// The result, element i of sample n being f(n, i).
  template <class F>
  Doubles each(F f) const {
    Doubles result;
    for (int64_t n = 0; n < context_.samples; ++n) {
      for (int64_t i = 0; i < out_.elements(); ++i) result.push_back(f(n, i));
    }
    return result;
  }
  template <class F>
  Doubles image(F f) const {
    const int64_t height = out_[1], width = out_[2];
    return each(
        [&](int64_t n, int64_t i) { return f(n, i / (height * width), i / width % height, i % width); });
  }

  const ReferenceContext& context_;
  const std::string& name_;
  std::vector<const Doubles*> inputs_;
  std::vector<Shape> shapes_;
  Shape out_;
};

/// The graph's result for `input` (samples x shape).
inline Doubles reference_forward(const layers::Graph& graph, const ReferenceContext& context,
                                 const Doubles& input) {
  std::vector<Doubles> values{input};
  values.reserve(graph.nodes().size() + 1);
  for (const layers::Node& node : graph.nodes()) {
    std::vector<const Doubles*> inputs;
    for (const auto id : node.inputs) inputs.push_back(&values[static_cast<size_t>(id)]);
    const Shape out = graph.shape(static_cast<layers::ValueId>(values.size()));
    values.push_back(
        std::visit(ReferenceLayer(context, node.name, inputs, graph.input_shapes(node), out), node.layer));
  }
  return values.back();
}

}  // namespace stagger::tests
