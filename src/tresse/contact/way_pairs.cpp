#include <algorithm>

#include <tresse/contact/detail/way_pairs.hpp>

namespace tresse::contact::detail {
namespace {

void set_way_back(const Mesh& before, Mesh& now) {
  now.next = before.pose;
  now.reach = 0.0;
  if (before.surface != now.surface) {
    for (std::size_t i = 0; i < now.surface->vertices.size(); ++i)
      now.reach = std::max(now.reach, (now.surface->vertices[i] - before.surface->vertices[i]).norm());
  }
}

}  // namespace

std::vector<KnownPair> pairs_on_way(const Geometry& begin, const Geometry& end, const Ways& ways,
                                    const BroadPhaseOptions& options, const SearchedWay* searched) {
  constexpr std::size_t one_of = 50;
  const bool few_astray = searched && ways.astray.size() <= ways.pieces.size() / one_of;
  std::vector<KnownPair> pairs;
  if (few_astray) pairs = searched->pairs;
  if (few_astray && ways.astray.empty() && end.meshes.empty()) return pairs;
  Geometry swept = end;
  for (std::size_t i = 0; i < ways.pieces.size(); ++i) swept.pieces[i].travel = ways.back[i];
  swept.common = {};
  if (!few_pieces(swept)) take_off_common_travel(swept);
  if (!few_astray) {
    for (const CandidatePair& pair : piece_pairs(swept, options)) pairs.push_back({pair});
  } else if (!ways.astray.empty()) {
    const auto known = static_cast<std::ptrdiff_t>(pairs.size());
    for (const CandidatePair& pair : pairs_with(swept, ways.astray, options)) pairs.push_back({pair});
    const auto more = pairs.begin() + known;
    std::sort(more, pairs.end());
    std::inplace_merge(pairs.begin(), more, pairs.end());
    const auto same = [](const KnownPair& x, const KnownPair& y) { return !(x < y); };
    pairs.erase(std::unique(pairs.begin(), pairs.end(), same), pairs.end());  // keeps the known one
  }
  if (!swept.meshes.empty()) {
    for (std::size_t k = 0; k < swept.meshes.size(); ++k) set_way_back(begin.meshes[k], swept.meshes[k]);
    swept.planes.clear();
    for (const CandidatePair& pair : surface_pairs(swept))
      pairs.push_back({{pair.a, pair.b - static_cast<int>(end.planes.size())}});
  }
  return pairs;
}

}  // namespace tresse::contact::detail
