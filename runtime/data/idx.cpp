#include <algorithm>
#include <utility>

#include "layers/error.h"
#include "runtime/data/dataset.h"
#include "runtime/data/idx_file.h"

namespace stagger::runtime::data {
namespace {

void check_labels(const std::vector<uint8_t>& labels, int64_t classes, const std::string& path) {
  const auto bad =
      std::find_if(labels.begin(), labels.end(), [&](uint8_t label) { return label >= classes; });
  if (bad == labels.end()) return;
  throw layers::DataError(path + ": label " + std::to_string(*bad) + " at index " +
                          std::to_string(bad - labels.begin()) + "; allowed are 0 .. " +
                          std::to_string(classes - 1));
}

class IdxDataset final : public Dataset {
 public:
  IdxDataset(int64_t size, int64_t classes, layers::Shape shape, std::vector<uint8_t> images,
             std::vector<uint8_t> labels)
      : size_(size),
        classes_(classes),
        shape_(std::move(shape)),
        images_(std::move(images)),
        labels_(std::move(labels)) {}

  int64_t size() const override { return size_; }
  int64_t classes() const override { return classes_; }
  const layers::Shape& shape() const override { return shape_; }

  void image(int64_t index, float* out) const override {
    layers::require(!images_.empty() && index >= 0 && index < size_,
                    "image of a data set that does not hold it");
    const int64_t elements = shape_.elements();
    const uint8_t* bytes = images_.data() + index * elements;
    for (int64_t i = 0; i < elements; ++i) out[i] = static_cast<float>(bytes[i]) / 255.0F;
  }

  int32_t label(int64_t index) const override {
    layers::require(!labels_.empty() && index >= 0 && index < size_,
                    "label of a data set that does not hold it");
    return labels_[static_cast<size_t>(index)];
  }

 private:
  int64_t size_;
  int64_t classes_;
  layers::Shape shape_;
  std::vector<uint8_t> images_;
  std::vector<uint8_t> labels_;
};

}  // namespace

std::unique_ptr<Dataset> open_idx(const IdxOptions& options, Parts parts) {
  if (options.classes < 1)
    throw layers::ConfigError("data: classes is " + std::to_string(options.classes) +
                              "; allowed is 1 or more");
  IdxFile images(options.images, IdxFile::kImages);
  IdxFile labels(options.labels, IdxFile::kLabels);
  const int64_t size = images.sizes()[0];
  if (size != labels.sizes()[0])
    throw layers::DataError(options.images + " holds " + std::to_string(size) + " images, " + options.labels +
                            " " + std::to_string(labels.sizes()[0]) + " labels; the counts must be equal");

  std::vector<uint8_t> image_bytes = parts.images ? images.read_body() : std::vector<uint8_t>();
  std::vector<uint8_t> label_bytes = parts.labels ? labels.read_body() : std::vector<uint8_t>();
  check_labels(label_bytes, options.classes, options.labels);
  return std::make_unique<IdxDataset>(size, options.classes,
                                      layers::Shape{1, images.sizes()[1], images.sizes()[2]},
                                      std::move(image_bytes), std::move(label_bytes));
}

}  // namespace stagger::runtime::data
