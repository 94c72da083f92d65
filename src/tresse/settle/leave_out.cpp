#include <tresse/settle/leave_out.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <tresse/settle/push_out.hpp>

namespace tresse::settle {
namespace {

/// Fibres whose going leaves none of the overlaps; each with one of those that it takes away.
std::vector<std::pair<int, assembly::ContactReport>> chosen(const scene::Overlaps& overlaps, std::size_t fibres) {
  std::vector<std::vector<std::size_t>> of(fibres);  // overlaps, the deepest first
  const auto partner = [&](std::size_t k) {
    const int other = overlaps[k].b.body.fibre();
    return other == overlaps[k].a.body.fibre() ? -1 : other;
  };
  for (std::size_t k = 0; k < overlaps.size(); ++k) {
    if (overlaps[k].a.body.fibre() < 0) continue;
    of[static_cast<std::size_t>(overlaps[k].a.body.fibre())].push_back(k);
    if (partner(k) >= 0) of[static_cast<std::size_t>(partner(k))].push_back(k);
  }
  std::vector<char> done(overlaps.size(), 0);
  std::vector<std::size_t> left(fibres);
  std::set<std::pair<std::size_t, std::size_t>> most;  // overlaps that are left, and the fibre
  for (std::size_t f = 0; f < fibres; ++f) {
    left[f] = of[f].size();
    if (left[f] > 0) most.emplace(left[f], f);
  }
  std::vector<std::pair<int, assembly::ContactReport>> out;
  const auto take = [&](std::size_t f) {
    most.erase({left[f], f});
    bool first = true;
    for (const std::size_t k : of[f]) {
      if (done[k] != 0) continue;
      done[k] = 1;
      if (std::exchange(first, false)) out.emplace_back(static_cast<int>(f), overlaps[k]);
      for (const int at : {overlaps[k].a.body.fibre(), partner(k)}) {
        if (at < 0 || static_cast<std::size_t>(at) == f) continue;
        const auto other = static_cast<std::size_t>(at);
        most.erase({left[other], other});
        if (--left[other] > 0) most.emplace(left[other], other);
      }
    }
  };
  // What overlaps an obstacle or itself has to go whatever the others do.
  for (std::size_t k = 0; k < overlaps.size(); ++k) {
    if (overlaps[k].a.body.fibre() >= 0 && partner(k) < 0 && done[k] == 0)
      take(static_cast<std::size_t>(overlaps[k].a.body.fibre()));
  }
  while (!most.empty()) take(most.rbegin()->second);
  return out;
}

std::string name_of(int fibre, const scene::Scene& scene, const assembly::World& world) {
  const assembly::Fibre& of = world.fibres[static_cast<std::size_t>(fibre)];
  return fmt::format("fibre {} of '{}'", of.member, scene.fibres[static_cast<std::size_t>(of.group)].name);
}

LeftOut left_out(int fibre, const assembly::ContactReport& overlap, const scene::Scene& scene,
                 const assembly::World& world) {
  const BodyId other = overlap.a.body.fibre() == fibre ? overlap.b.body : overlap.a.body;
  const std::string what =
      !other.is_fibre() ? fmt::format("obstacle '{}'", scene.obstacles[static_cast<std::size_t>(other.index)].body.name)
      : other.index == fibre ? std::string("itself")
                             : name_of(other.index, scene, world);
  const assembly::Fibre& of = world.fibres[static_cast<std::size_t>(fibre)];
  return {of.group, of.member,
          fmt::format("{} is left out: at the start it overlaps {} by {:.3g} m", name_of(fibre, scene, world), what,
                      -overlap.gap)};
}

/// Whether something that `fibre` grows on is among those that go.
bool goes_with_parent(const assembly::World& world, int fibre, const std::set<int>& going) {
  for (int at = world.fibres[static_cast<std::size_t>(fibre)].attachment.parent; at >= 0;
       at = world.fibres[static_cast<std::size_t>(at)].attachment.parent) {
    if (going.count(at) > 0) return true;
  }
  return false;
}

/// Whether an overlap lies at clamped roots, which no push moves.
bool at_roots(const assembly::ContactReport& overlap, const assembly::World& world) {
  constexpr double near = 4.0;  // of the radius
  const auto held = [&](const BodyPoint& point) {
    const assembly::Fibre& of = world.fibres[static_cast<std::size_t>(point.body.index)];
    return assembly::clamped(of) && point.s < near * of.model->contact_radius();
  };
  return held(overlap.a) && (!overlap.b.body.is_fibre() || held(overlap.b));
}

/// Of what a push-out left that gave up: what it cannot move, or else the deepest. It may have left others besides.
void keep_cause(scene::Overlaps& overlaps, const assembly::World& world) {
  const auto held = [&](const assembly::ContactReport& overlap) { return at_roots(overlap, world); };
  const bool any = std::any_of(overlaps.begin(), overlaps.end(), held);
  const double least = 0.5 * overlaps.front().gap;
  std::erase_if(overlaps,
                [&](const assembly::ContactReport& overlap) { return any ? !held(overlap) : overlap.gap > least; });
}

}  // namespace

std::vector<LeftOut> leave_out(scene::Scene& scene, scene::Case& built, bool pushing) {
  std::vector<LeftOut> out;
  for (;;) {
    if (pushing) static_cast<void>(push_out(built));
    scene::Overlaps overlaps = scene::initial_overlaps(built);
    std::erase_if(overlaps, [](const assembly::ContactReport& overlap) { return !overlap.a.body.is_fibre(); });
    if (overlaps.empty()) return out;
    if (pushing) keep_cause(overlaps, built.world);
    const auto going = chosen(overlaps, built.world.fibres.size());
    std::set<int> fibres;
    for (const auto& [fibre, overlap] : going) fibres.insert(fibre);
    for (const auto& [fibre, overlap] : going) {
      if (goes_with_parent(built.world, fibre, fibres)) continue;
      out.push_back(left_out(fibre, overlap, scene, built.world));
      std::vector<int>& list = scene.fibres[static_cast<std::size_t>(out.back().group)].leave_out;
      list.insert(std::lower_bound(list.begin(), list.end(), out.back().member), out.back().member);
    }
    built = build(scene);
  }
}

}  // namespace tresse::settle
