#include <tresse/bodies/shapes.hpp>

#include <algorithm>
#include <memory>

namespace tresse::bodies {

std::string_view word(const Shape& shape) { return Kinds::words[shape.index()]; }

Vector3 own_point(const Shape& shape) {
  return std::visit([](const auto& x) { return x.own_point(); }, shape);
}

Parts parts(const Shape& shape) {
  return std::visit([](const auto& x) { return x.parts(); }, shape);
}

std::vector<Bar> bars(const Shape& shape) {
  std::vector<Bar> out;
  for (const Tube& tube : parts(shape).tubes) {
    const std::vector<Bar> more = bars(tube);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::string part_name(const Shape& shape, int tube) {
  return std::visit(
      [tube](const auto& x) -> std::string {
        if constexpr (requires { x.part_name(tube); }) return x.part_name(tube);
        return "";
      },
      shape);
}

const Surface* surface_of(const Shape& shape) {
  return std::visit(
      [](const auto& x) -> const Surface* {
        if constexpr (requires { x.surface; }) return x.surface.get();
        return nullptr;
      },
      shape);
}

void stop_at_start(Shape& shape) {
  std::visit(
      [](auto& x) {
        if constexpr (requires { x.surface; })
          x.surface = std::make_shared<const Surface>(
              x.surface->topology, std::vector<std::vector<Vector3>>{x.surface->frames.front()}, x.surface->rate);
      },
      shape);
}

bool is_from_file(const Shape& shape) {
  return std::visit([]<class K>(const K&) { return FromFile<K>; }, shape);
}

double signed_distance(const Shape& shape, const Vector3& point) { return signed_distance(parts(shape), point); }

double extent(const Shape& shape, const Vector3& point) {
  double out = 0.0;
  for (const Bar& bar : bars(shape))
    out = std::max({out, (bar.from - point).norm() + bar.radius, (bar.to - point).norm() + bar.radius});
  return out;
}

}  // namespace tresse::bodies
