#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include <tresse/contact/detection.hpp>

#include "support/tubes.hpp"

// Contacts for a potential: docs/theory/penalty.md, "Which contacts".
namespace tresse::contact {
namespace TRESSE_TEST_FILE {

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
    const double lacks = std::max(0.0, contact.reach - contact.gap / softness);
    sum += lacks * lacks;
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

// Two fibres that cross at one distance have one energy, wherever they cross: stations that the crossing passes are no
// part of it, since nothing lies along them.
TEST(PotentialContacts, CrossingHasOneEnergyAlongItsWay) {
  const double near = 2.0 * radius + 0.3 * softness;
  for (const double angle : {0.3, 1.0, 1.5}) {
    for (int k = 0; k <= 200; ++k) {
      const double x = (k / 200.0 - 0.5) * length / elements;
      Tubes tubes;
      add_fibre(tubes, {0.5 * length / elements, 0.0, 0.0}, 0.0, 0.0, false);
      add_fibre(tubes, {x, 0.0, near}, angle, 0.0, false);
      tubes.set_reach(1e-4);
      EXPECT_NEAR(energy(tubes), 0.49, 1e-9) << "angle " << angle << ", at " << x;
    }
  }
}

using Points = std::vector<Vector3>;

/// Least distance of two polylines: that to a segment is convex along a line, so that thirds find where it is least.
double least_distance(const Points& a, const Points& b) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i + 1 < a.size(); ++i) {
    for (std::size_t j = 0; j + 1 < b.size(); ++j) {
      const auto at = [&](double x) {
        const Vector3 p = a[i] + x * (a[i + 1] - a[i]), edge = b[j + 1] - b[j];
        const double y = std::clamp((p - b[j]).dot(edge) / edge.squaredNorm(), 0.0, 1.0);
        return (p - b[j] - y * edge).norm();
      };
      double low = 0.0, high = 1.0;
      for (int k = 0; k < 60; ++k) {
        const double x = low + (high - low) / 3.0, y = high - (high - low) / 3.0;
        (at(x) < at(y) ? high : low) = at(x) < at(y) ? y : x;
      }
      least = std::min(least, at(0.5 * (low + high)));
    }
  }
  return least;
}

/// An arch of edges that points upwards (`up` 1) or down (-1), its middle turned and moved.
Points arch(double up, double turn, const Vector3& middle, double sharpness) {
  Points out;
  constexpr int edges = 7;
  for (int k = 0; k <= edges; ++k) {
    const double x = 2.0 * k / edges - 1.0;
    const Vector3 at(0.03 * x, 0.0, -up * sharpness * x * x);
    out.emplace_back(middle + Vector3(std::cos(turn) * at.x(), std::sin(turn) * at.x(), at.z()));
  }
  return out;
}

// Two arches of edges that cross at random places are nearest at two edges, at a node and an edge, or at two nodes.
// Each time the energy is that of the least distance.
TEST(PotentialContacts, PolygonsHaveTheEnergyOfTheirLeastDistance) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-8e-3, 8e-3), turn(0.7, 1.5), sharp(2e-3, 2e-2);
  int judged = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Points a = arch(1.0, 0.0, Vector3::Zero(), sharp(random));
    const double angle = turn(random), sharpness = sharp(random);
    const Vector3 over(place(random), place(random), 0.0);
    const auto distance = [&](double height) {
      return least_distance(a, arch(-1.0, angle, over + height * Vector3::UnitZ(), sharpness));
    };
    const double wanted = 2.0 * radius + 0.3 * softness;
    double low = 0.0, high = 0.1;
    if (distance(low) > wanted) continue;
    for (int k = 0; k < 40; ++k) {
      const double height = 0.5 * (low + high);
      (distance(height) < wanted ? low : high) = height;
    }
    ++judged;
    Tubes tubes;
    tubes.polyline(a, radius);
    tubes.polyline(arch(-1.0, angle, over + low * Vector3::UnitZ(), sharpness), radius);
    for (Piece& piece : tubes.scene.pieces) {
      piece.stations = 1;
      piece.stations_at_nodes = true;
    }
    tubes.set_reach(1e-4);
    EXPECT_NEAR(energy(tubes), 0.49, 1e-5) << "trial " << trial;
  }
  EXPECT_GT(judged, 100);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
