#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include <tresse/contact/detection.hpp>

#include "support/tubes.hpp"

// Contacts for a potential: docs/theory/penalty.md, "Which contacts".
namespace tresse::contact {
namespace {

using test::Tubes;

constexpr double radius = 1e-3, length = 0.1, softness = 1e-5;
constexpr int elements = 8;

/// A fibre along `direction` through `middle`, bent towards z.
void add_fibre(Tubes& tubes, const Vector3& middle, double angle, double bend, bool polygon) {
  Matrix3 frame = Matrix3::Identity();
  frame.col(0) = Vector3(std::cos(angle), std::sin(angle), 0.0);
  frame.col(1) = Vector3(-std::sin(angle), std::cos(angle), 0.0);
  std::vector<test::Arc> arcs(elements, {Vector3(0.0, bend, 0.0), length / elements});
  const Pose root{middle - 0.5 * length * frame.col(0), frame};
  const int body = tubes.fibre(test::chain(root, arcs), radius);
  for (Piece& piece : tubes.scene.pieces) {
    if (piece.body != body) continue;
    piece.stations = 1;
    piece.stations_at_nodes = polygon;
  }
}

/// Of a potential that is felt below `softness`, in its units.
double energy(const Tubes& tubes, std::size_t* count = nullptr) {
  double sum = 0.0;
  DetectionOptions options;
  options.softness = softness;
  const std::vector<Contact> found = detect(tubes.scene, candidate_pairs(tubes.scene, {}), options);
  for (const Contact& contact : found) {
    const double lacks = std::max(0.0, 1.0 - contact.gap / softness);
    sum += contact.weight * lacks * lacks;
    if (count && contact.gap < softness) ++*count;
  }
  return sum;
}

struct Way {
  const char* name;
  std::function<void(Tubes&, double x)> place;  ///< at a place along a way [m]
  double from, to;                              ///< [m]
};

// Steps so small that a smooth energy hardly changes in one: what it is more is a jump.
TEST(PotentialContacts, EnergyHasNoJumps) {
  const double near = 2.0 * radius + 0.3 * softness;
  const std::vector<Way> ways{
      {"crossing a straight fibre, over an end of an element",
       [&](Tubes& tubes, double x) {
         add_fibre(tubes, Vector3::Zero(), 0.0, 0.0, false);
         add_fibre(tubes, {x, 0.0, near}, 1.0, 0.0, false);
       },
       -2e-3, 2e-3},
      {"turning until the two are parallel",
       [&](Tubes& tubes, double x) {
         add_fibre(tubes, Vector3::Zero(), 0.0, 0.0, false);
         add_fibre(tubes, {0.3e-2, 0.0, near}, x, 0.0, false);
       },
       -0.05, 0.05},
      {"over a node of a polygon",
       [&](Tubes& tubes, double x) {
         add_fibre(tubes, Vector3::Zero(), 0.0, 0.0, true);
         add_fibre(tubes, {x, 0.0, near}, 0.7, 0.0, true);
       },
       -2e-3, 2e-3},
      {"a bend straightens on a plane",
       [&](Tubes& tubes, double x) {
         add_fibre(tubes, {0.0, 0.0, radius + 0.3 * softness}, 0.0, x, false);
         tubes.plane({0.0, 0.0, 0.0}, Vector3::UnitZ());
       },
       -0.02, 0.02},
      {"a fibre tilts on a plane",
       [&](Tubes& tubes, double x) {
         add_fibre(tubes, {0.0, 0.0, radius + 0.3 * softness}, 0.0, 0.0, true);
         tubes.plane({0.0, 0.0, 0.0}, Vector3(x, 0.0, 1.0).normalized());
       },
       -1e-3, 1e-3},
  };
  for (const Way& way : ways) {
    double before = 0.0, largest = 0.0, most = 0.0;
    std::size_t touched = 0;
    constexpr int steps = 4000;
    for (int k = 0; k <= steps; ++k) {
      Tubes tubes;
      way.place(tubes, way.from + (way.to - way.from) * k / steps);
      tubes.set_reach(1e-4);
      const double here = energy(tubes, &touched);
      if (k > 0) largest = std::max(largest, std::abs(here - before));
      most = std::max(most, here);
      before = here;
    }
    EXPECT_GT(touched, static_cast<std::size_t>(steps) / 4) << way.name;
    EXPECT_LT(largest, 0.01 * most) << way.name << ", of " << most;
  }
}

}  // namespace
}  // namespace tresse::contact
