#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include <oneapi/tbb/global_control.h>

#include <tresse/base/errors.hpp>
#include <tresse/contact/contact_search.hpp>
#include <tresse/contact/crossings.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::contact {
namespace TRESSE_TEST_FILE {

using geometry::HelixArc;

constexpr double radius = 5e-5;
constexpr double step = 1e-3;
constexpr int elements = 4;
constexpr double element_length = 0.02;

/// A loose wisp of helices, each turning and drifting at its own speed, and a bar that moves through.
class Wisp {
 public:
  Wisp(int fibres, double speed) : speed_(speed) {
    for (int f = 0; f < fibres; ++f) {
      roots_.push_back({vector(1.5e-3), math::rotation_exp(vector(0.1)), vector(60.0), element_length});
      velocities_.push_back(vector(1.0));
      spins_.push_back(vector(10.0));
      bends_.push_back(vector(300.0));
    }
  }

  /// All but one fibre stand nearly still.
  void calm_all_but(std::size_t fibre) {
    for (std::size_t f = 0; f < roots_.size(); ++f) {
      if (f == fibre) continue;
      velocities_[f] *= 1e-4;
      spins_[f] *= 1e-4;
      bends_[f] *= 1e-4;
    }
  }

  /// Every other fibre stands this far away, and moves.
  void send_half(const Vector3& away, const Vector3& velocity) {
    for (std::size_t f = 0; f < roots_.size(); f += 2) {
      roots_[f].position += away;
      velocities_[f] = velocity;
    }
  }

  Geometry at(int instant) const {
    const double t = speed_ * step * instant;
    Geometry out;
    for (std::size_t f = 0; f < roots_.size(); ++f) {
      out.body_begin.push_back(static_cast<int>(out.pieces.size()));
      HelixArc arc = roots_[f];
      arc.position += t * velocities_[f];
      arc.frame = math::rotation_exp(t * spins_[f]) * arc.frame;
      arc.curvature += t * bends_[f];
      for (int e = 0; e < elements; ++e) {
        Piece piece;
        piece.curve = geometry::prepare(arc);
        piece.interval = geometry::domain(piece.curve);
        piece.radius = radius;
        piece.curvature = geometry::second_derivative_bound(piece.curve, piece.interval);
        piece.travel.drift = speed_ * step * velocities_[f];
        piece.travel.reach = 2e-6 + speed_ * step * 0.5;
        piece.material_begin = piece.curve_begin = e * element_length;
        piece.body = static_cast<int>(f);
        piece.element = e;
        piece.first = e == 0;
        piece.last = e + 1 == elements;
        out.pieces.push_back(piece);
        arc.position = geometry::position(piece.curve, element_length);
        arc.frame = arc.frame * math::rotation_exp(element_length * arc.curvature);
      }
    }
    out.body_begin.push_back(static_cast<int>(out.pieces.size()));
    Piece bar;
    const Vector3 middle(-2e-3 + speed_ * step * instant, 0.0, 0.03);
    bar.curve = geometry::SegmentEvaluator({middle - Vector3(0.0, 0.01, 0.0), middle + Vector3(0.0, 0.01, 0.0)});
    bar.interval = geometry::domain(bar.curve);
    bar.radius = 5e-4;
    bar.id = {BodyKind::obstacle, 0};
    bar.travel.drift = Vector3(speed_ * step, 0.0, 0.0);
    bar.body = static_cast<int>(roots_.size());
    out.pieces.push_back(bar);
    out.body_begin.push_back(static_cast<int>(out.pieces.size()));
    return out;
  }

 private:
  Vector3 vector(double size) {
    std::uniform_real_distribution<> in(-size, size);
    return {in(engine_), in(engine_), in(engine_)};
  }

  double speed_;
  std::mt19937 engine_{7};
  std::vector<HelixArc> roots_;
  std::vector<Vector3> velocities_, spins_, bends_;
};

std::vector<Contact> searched_afresh(const Geometry& scene, const std::vector<Place>& followed) {
  return detect(scene, candidate_pairs(scene, {}), {}, followed);
}

std::vector<Place> places_of(const Geometry& scene, const std::vector<Contact>& contacts) {
  std::vector<Place> out;
  for (const Contact& contact : contacts) out.push_back(place_of(scene, contact));
  return out;
}

void expect_identical(const std::vector<Contact>& found, const std::vector<Contact>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].a, expected[i].a);
    EXPECT_EQ(found[i].b, expected[i].b);
    EXPECT_EQ(found[i].s_a, expected[i].s_a);
    EXPECT_EQ(found[i].s_b, expected[i].s_b);
    EXPECT_EQ(found[i].gap, expected[i].gap);
    EXPECT_EQ(found[i].frame, expected[i].frame);
  }
}

class SearchAtSpeed : public testing::TestWithParam<double> {};

TEST_P(SearchAtSpeed, finds_step_by_step_what_a_fresh_search_finds_bit_for_bit) {
  const Wisp wisp(40, GetParam());
  ContactSearch search({}, {});
  std::vector<Place> followed;
  std::size_t contacts = 0;
  for (int instant = 0; instant < 60; ++instant) {
    const Geometry scene = wisp.at(instant);
    ASSERT_FALSE(few_pieces(scene));
    const std::vector<Contact> found = search.find(scene, followed);
    expect_identical(found, searched_afresh(scene, followed));
    ASSERT_FALSE(HasFailure()) << "instant " << instant;
    followed = places_of(scene, found);
    contacts += found.size();
  }
  EXPECT_GT(contacts, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Speeds, SearchAtSpeed, testing::Values(1e-3, 1e-2, 0.1, 0.5));

TEST(ContactSearch, leaves_alone_what_was_proved_apart) {
  const Wisp wisp(40, 1e-3);
  ContactSearch search({}, {});
  std::size_t pairs = 0;
  std::size_t examined = 0;
  std::size_t touching = 0;
  for (int instant = 0; instant < 100; ++instant) {
    const std::size_t contacts = search.find(wisp.at(instant), {}).size();
    if (instant == 0) {
      EXPECT_EQ(search.effort().examined, search.effort().pairs);
      continue;
    }
    touching += contacts;
    pairs += search.effort().pairs;
    examined += search.effort().examined;
  }
  EXPECT_LT(examined, touching + (pairs - touching) / 10);
}

/// The same geometry swung as a whole about the x axis, across the bar.
Geometry swung(Geometry scene, double angle) {
  const Matrix3 turn = math::rotation_exp(Vector3(angle, 0.0, 0.0));
  for (Piece& piece : scene.pieces) {
    if (const auto* axis = std::get_if<geometry::SegmentEvaluator>(&piece.curve)) {
      const Vector3 end = axis->origin + axis->offset(piece.interval.end);
      piece.curve = geometry::SegmentEvaluator({turn * axis->origin, turn * end});
    } else {
      const auto& helix = std::get<geometry::HelixEvaluator>(piece.curve);
      const geometry::CurveJet jet = helix.jet(0.0);
      // A frame from the tangent and the curvature vector gives the helix back: its curvature is constant in it.
      Matrix3 frame;
      frame.col(0) = jet.first.normalized();
      frame.col(1) = jet.second.normalized();
      frame.col(2) = frame.col(0).cross(frame.col(1));
      const double bend = jet.second.norm();
      const double torsion = frame.col(2).dot(helix.third_derivative_at_begin()) / bend;
      piece.curve = geometry::HelixEvaluator(
          {turn * helix.origin, turn * frame, Vector3(torsion, 0.0, bend), piece.interval.end});
    }
    piece.travel.middle = turn * piece.travel.middle;
    piece.travel.drift = turn * piece.travel.drift;
  }
  return scene;
}

TEST(ContactSearch, leaves_few_pairs_while_all_swing_together) {
  const Wisp wisp(60, 1e-3);
  ContactSearch search({}, {});
  std::size_t pairs = 0;
  std::size_t contacts = 0;
  for (int instant = 0; instant < 40; ++instant) {
    const Geometry scene = swung(wisp.at(instant), 0.05 * instant);  // millimetres a step
    const std::vector<Contact> found = search.find(scene, {});
    expect_identical(found, searched_afresh(scene, {}));
    ASSERT_FALSE(HasFailure()) << "instant " << instant;
    pairs += search.effort().pairs;
    contacts += found.size();
  }
  EXPECT_GT(contacts, 1000U);
  EXPECT_LT(pairs, 4 * contacts);
}

/// Two bundles that stand side by side, the second comes nearer as a whole and goes through the first.
TEST(ContactSearch, finds_the_pairs_of_bundles_that_part) {
  Wisp wisp(120, 0.02);
  wisp.calm_all_but(120);
  wisp.send_half(Vector3(3.2e-3, 0.0, 0.0), Vector3(-0.7, 0.0, 0.0));
  ContactSearch search({}, {});
  std::size_t contacts = 0;
  for (int instant = 0; instant < 80; ++instant) {
    const Geometry scene = wisp.at(instant);
    const std::vector<Contact> found = search.find(scene, {});
    expect_identical(found, searched_afresh(scene, {}));
    ASSERT_FALSE(HasFailure()) << "instant " << instant;
    contacts += found.size();
  }
  EXPECT_GT(contacts, 1000U);
}

TEST(ContactSearch, starts_afresh_with_other_pieces) {
  const Wisp wisp(40, 0.1);
  const Wisp smaller(30, 0.1);
  ContactSearch search({}, {});
  (void)search.find(wisp.at(0), {});
  const Geometry other = smaller.at(3);
  expect_identical(search.find(other, {}), searched_afresh(other, {}));
  const Geometry again = wisp.at(5);
  expect_identical(search.find(again, {}), searched_afresh(again, {}));
}

TEST(ContactSearch, does_not_depend_on_the_number_of_threads) {
  const Wisp wisp(40, 0.1);
  std::vector<std::vector<Contact>> alone;
  {
    const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
    ContactSearch search({}, {});
    for (int instant = 0; instant < 5; ++instant) alone.push_back(search.find(wisp.at(instant), {}));
  }
  const oneapi::tbb::global_control four(oneapi::tbb::global_control::max_allowed_parallelism, 4);
  ContactSearch search({}, {});
  for (int instant = 0; instant < 5; ++instant)
    expect_identical(search.find(wisp.at(instant), {}), alone[static_cast<std::size_t>(instant)]);
}

/// As a checkpoint may hold them that somebody has changed.
TEST(Places, of_bodies_that_are_not_there_are_refused) {
  const Wisp wisp(40, 0.0);
  const Geometry scene = wisp.at(0);
  const auto bodies = static_cast<int>(scene.body_begin.size()) - 1;
  const Place good{.body_a = 0, .element_a = 0, .body_b = 1, .element_b = 0, .s_a = 1e-3, .s_b = 1e-3};
  ASSERT_TRUE(is_place(scene, good));
  ContactSearch search({}, {});
  EXPECT_NO_THROW(search.find(scene, {good}));
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& change : std::vector<std::function<void(Place&)>>{
           [](Place& x) { x.body_a = 1000000; }, [](Place& x) { x.body_a = -1; }, [&](Place& x) { x.body_a = bodies; },
           [&](Place& x) { x.body_b = bodies; }, [](Place& x) { x.body_b = -1000000; }, [](Place& x) { x.s_a = nan; },
           [](Place& x) { x.s_b = infinity; }}) {
    Place bad = good;
    change(bad);
    EXPECT_FALSE(is_place(scene, bad));
    EXPECT_THROW(search.find(scene, {bad}), InvalidInput);
  }
}

void expect_same(const Passage& passage, const Passage& other) {
  EXPECT_EQ(passage.least_gap, other.least_gap);
  ASSERT_EQ(passage.crossings.size(), other.crossings.size());
  for (std::size_t i = 0; i < passage.crossings.size(); ++i) {
    const Crossing &x = passage.crossings[i], &y = other.crossings[i];
    EXPECT_EQ(std::tie(x.a, x.b, x.s_a, x.s_b, x.time), std::tie(y.a, y.b, y.s_a, y.s_b, y.time));
  }
}

/// What the search for contacts knows of its pairs spares the search of the way its own, and changes nothing that this
/// finds: of fibres that move as they were said to, and of one that moves otherwise.
TEST(ContactSearch, itsPairsAreThoseOfTheWayToThere) {
  const auto nowhere = [](const Crossing&) { return false; };
  std::size_t crossings = 0;
  for (const double speed : {0.01, 0.1, 1.0, 5.0}) {
    for (const bool alone : {false, true}) {
      Wisp wisp(80, speed);
      if (alone) wisp.calm_all_but(3);
      const auto scene = [&](int instant) {
        Geometry out = wisp.at(instant);
        for (Piece& piece : out.pieces) {
          const double length = piece.interval.end - piece.interval.begin;
          piece.travel.middle = geometry::position(piece.curve, piece.interval.begin + 0.5 * length);
          if (alone && piece.body == 3) piece.travel = {};
        }
        return out;
      };
      ContactSearch search({}, {});
      for (const double known_gap : {0.0, -0.2 * radius, -0.5 * radius}) {
        for (int instant = 1; instant < 4; ++instant) {
          const Geometry begin = scene(instant - 1), end = scene(instant);
          SearchedWay searched{ways_between(begin, end), {}};
          expect_identical(search.find(end, {}, searched.ways.beyond), searched_afresh(end, {}));
          const auto known = search.known_pairs();
          ASSERT_TRUE(known.has_value());
          searched.pairs = *known;
          PassageOptions options{.known_gap = known_gap};
          const Passage all = find_passage(begin, end, options, nowhere);
          options.searched = &searched;
          expect_same(find_passage(begin, end, options, nowhere), all);
          crossings += all.crossings.size();
        }
      }
    }
  }
  EXPECT_GT(crossings, 100U);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
