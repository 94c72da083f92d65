#include <tresse/importers/detail/usda_transforms.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string_view>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/base/types.hpp>
#include <tresse/files/lines.hpp>
#include <tresse/files/text.hpp>

namespace tresse::importers::detail {
namespace {

/// One step of a prim's transform, as its order names it.
class TransformOp {
 public:
  TransformOp(const UsdPrim& prim, std::string_view full) : prim_(prim), name_(full) {
    constexpr std::string_view invert = "!invert!", begin = "xformOp:";
    inverse_ = name_.starts_with(invert);
    if (inverse_) name_.remove_prefix(invert.size());
    if (!name_.starts_with(begin)) refuse("is no step of a transform");
    kind_ = name_.substr(begin.size());
    kind_ = kind_.substr(0, kind_.find(':'));
  }

  Eigen::Affine3d matrix() const {
    Eigen::Affine3d out = forward();
    if (!inverse_) return out;
    if (std::abs(out.linear().determinant()) == 0.0) refuse("has no inverse");
    return out.inverse();
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw InvalidInput(fmt::format("{} {}: {} {}", prim_.type.empty() ? "prim" : one_line(prim_.type, 40),
                                   files::in_quotes(prim_.name, 40), one_line(name_, 40), what));
  }

  std::vector<double> numbers_in(std::string_view value) const {
    std::vector<double> out;
    for (const std::string_view item : usd_items(value)) {
      const std::optional<double> number = files::real_in(item);
      if (!number || !std::isfinite(*number))
        refuse(fmt::format("has {}; expected a number", files::in_quotes(item, 40)));
      out.push_back(*number);
    }
    return out;
  }

  /// Its numbers, which are the same at all times.
  std::vector<double> numbers(std::size_t count) const {
    const auto found = prim_.attributes.find(name_);
    if (found == prim_.attributes.end()) refuse("is in the order of the transform and has no value");
    std::vector<double> out;
    if (!found->second.samples.empty()) {
      bool first = true;
      for (const UsdSample& sample : usd_samples(found->second.samples, prim_.name)) {
        std::vector<double> here = numbers_in(sample.value);
        if (!first && here != out) refuse("moves; expected a transform that is constant in time");
        out = std::move(here);
        first = false;
      }
    } else {
      out = numbers_in(found->second.value);
    }
    if (out.size() != count) refuse(fmt::format("has {} numbers; expected {}", out.size(), count));
    return out;
  }

  Vector3 vector() const {
    const std::vector<double> out = numbers(3);
    return {out[0], out[1], out[2]};
  }

  static Matrix3 about(std::size_t axis, double degrees) {
    const Vector3 direction = Vector3::Unit(static_cast<Eigen::Index>(axis));
    return Eigen::AngleAxisd(degrees * std::numbers::pi / 180.0, direction).toRotationMatrix();
  }
  static std::optional<std::size_t> axis_of(std::string_view letter) {
    const std::size_t axis = std::string_view("XYZ").find(letter);
    return letter.size() == 1 && axis != std::string_view::npos ? std::optional(axis) : std::nullopt;
  }

  Eigen::Affine3d forward() const {
    Eigen::Affine3d out = Eigen::Affine3d::Identity();
    if (kind_ == "translate") return out.translate(vector());
    if (kind_ == "scale") return out.scale(vector());
    if (kind_ == "orient") {
      const std::vector<double> q = numbers(4);
      const Eigen::Quaterniond turn(q[0], q[1], q[2], q[3]);
      if (!(turn.norm() > 0.0)) refuse("is no rotation");
      return out.rotate(turn.normalized());
    }
    if (kind_ == "transform") {
      const std::vector<double> rows = numbers(16);  // of vectors that stand before the matrix
      if (rows[3] != 0.0 || rows[7] != 0.0 || rows[11] != 0.0 || rows[15] != 1.0)
        refuse("is no affine matrix; expected a last column of 0, 0, 0, 1");
      return Eigen::Affine3d(Eigen::Map<const Eigen::Matrix4d>(rows.data()));
    }
    if (kind_.starts_with("rotate") && kind_.size() == 9) {
      const Vector3 degrees = vector();
      Matrix3 turn = Matrix3::Identity();
      for (const char letter : kind_.substr(6)) {  // the first named is the first applied
        const auto axis = axis_of(std::string_view(&letter, 1));
        if (!axis) refuse("is of an unknown kind");
        turn = about(*axis, degrees[static_cast<Eigen::Index>(*axis)]) * turn;
      }
      return out.rotate(turn);
    }
    const auto axis = kind_.empty() ? std::nullopt : axis_of(kind_.substr(kind_.size() - 1));
    const std::string_view plain = kind_.substr(0, kind_.empty() ? 0 : kind_.size() - 1);
    if (axis && plain == "rotate") return out.rotate(about(*axis, numbers(1)[0]));
    if (axis && plain == "translate")
      return out.translate(numbers(1)[0] * Vector3::Unit(static_cast<Eigen::Index>(*axis)));
    if (axis && plain == "scale") {
      Vector3 factors = Vector3::Ones();
      factors[static_cast<Eigen::Index>(*axis)] = numbers(1)[0];
      return out.scale(factors);
    }
    refuse("is of an unknown kind; expected a translation, a rotation, a scale or a matrix");
  }

  const UsdPrim& prim_;
  std::string_view name_, kind_;
  bool inverse_ = false;
};

}  // namespace

Eigen::Affine3d world_transform(const UsdLayer& layer, std::size_t prim) {
  Eigen::Affine3d out = Eigen::Affine3d::Identity();
  for (std::size_t at = prim; at != UsdPrim::none; at = layer.prims[at].parent) {
    const UsdPrim& here = layer.prims[at];
    const auto order = here.attributes.find("xformOpOrder");
    if (order == here.attributes.end()) continue;
    Eigen::Affine3d local = Eigen::Affine3d::Identity();
    bool reset = false;
    for (const std::string_view item : usd_items(order->second.value)) {
      const std::string_view name = unquoted(item);
      if (name == "!resetXformStack!") {
        reset = true;
        local = Eigen::Affine3d::Identity();
      } else {
        local = local * TransformOp(here, name).matrix();
      }
    }
    out = local * out;
    if (reset) break;
  }
  return out;
}

}  // namespace tresse::importers::detail
