#include <tresse/friction/detail/sweep_schedule.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <thread>
#include <utility>

namespace tresse::friction::detail {
namespace {

/// Bodies that contacts of an island couple.
class BodyGraph {
 public:
  BodyGraph(const FactoredProblem& problem, const std::vector<int>& island) {
    number_.assign(problem.body_begin.size(), -1);
    ends_.reserve(island.size());
    for (const int i : island) {
      std::array<int, 2> ends{-1, -1};
      int count = 0;
      for (const ContactRows& side : problem.contacts[static_cast<std::size_t>(i)]) {
        if (side.body < 0 || side.columns == 0) continue;
        int& body = number_[static_cast<std::size_t>(side.body)];
        if (body < 0) body = bodies_++;
        ends[static_cast<std::size_t>(count++)] = body;
      }
      if (ends[1] < 0) ends[1] = ends[0];
      ends_.push_back(ends);
    }
    begin_.assign(static_cast<std::size_t>(bodies_) + 1, 0);
    weight_.assign(static_cast<std::size_t>(bodies_), 0);
    for (const auto& [a, b] : ends_) {
      ++weight_[a];
      if (a == b) continue;
      ++weight_[b];
      ++begin_[a + 1];
      ++begin_[b + 1];
    }
    for (int i = 0; i < bodies_; ++i) begin_[i + 1] += begin_[i];
    neighbour_.resize(static_cast<std::size_t>(begin_.back()));
    std::vector<int> next(begin_.begin(), begin_.end() - 1);
    for (const auto& [a, b] : ends_) {
      if (a == b) continue;
      neighbour_[next[a]++] = b;
      neighbour_[next[b]++] = a;
    }
  }

  int bodies() const { return bodies_; }
  int weight(int body) const { return weight_[body]; }  ///< its contacts
  const std::array<int, 2>& ends(std::size_t contact) const { return ends_[contact]; }

  /// The bodies breadth first from one of the two that are farthest from each other, more or less.
  std::vector<int> along() const { return breadth_first(breadth_first(0).back()); }

 private:
  std::vector<int> breadth_first(int start) const {
    std::vector<int> order{start};
    std::vector<char> seen(static_cast<std::size_t>(bodies_), 0);
    seen[start] = 1;
    for (std::size_t k = 0; k < order.size(); ++k) {
      for (int e = begin_[order[k]]; e < begin_[order[k] + 1]; ++e) {
        if (seen[neighbour_[e]]) continue;
        seen[neighbour_[e]] = 1;
        order.push_back(neighbour_[e]);
      }
    }
    return order;
  }

  int bodies_ = 0;
  std::vector<int> number_;               // of each of the problem's bodies, -1 outside
  std::vector<std::array<int, 2>> ends_;  // of each contact; twice the same with an obstacle or with itself
  std::vector<int> begin_, neighbour_, weight_;
};

/// The stretch of each body.
std::vector<int> cut_into_stretches(const BodyGraph& graph, int stretches) {
  long total = 0;
  for (int b = 0; b < graph.bodies(); ++b) total += graph.weight(b);
  std::vector<int> out(static_cast<std::size_t>(graph.bodies()));
  long passed = 0;
  for (const int body : graph.along()) {
    out[body] = static_cast<int>(std::min<long>(stretches - 1, passed * stretches / total));
    passed += graph.weight(body);
  }
  return out;
}

struct Cluster {
  std::array<int, 2> stretches;
  std::vector<int> contacts;
};

/// Clusters colour by colour, none of a colour sharing a stretch, the large ones first.
void sort_by_colour(std::vector<Cluster>& clusters) {
  std::stable_sort(clusters.begin(), clusters.end(),
                   [](const Cluster& x, const Cluster& y) { return x.contacts.size() > y.contacts.size(); });
  std::vector<std::bitset<most_stretches>> used;
  std::vector<std::vector<Cluster>> colours;
  for (Cluster& cluster : clusters) {
    const auto [a, b] = cluster.stretches;
    std::size_t c = 0;
    while (c < used.size() && (used[c][a] || used[c][b])) ++c;
    if (c == used.size()) {
      used.emplace_back();
      colours.emplace_back();
    }
    used[c].set(a).set(b);
    colours[c].push_back(std::move(cluster));
  }
  clusters.clear();
  for (std::vector<Cluster>& members : colours)
    for (Cluster& cluster : members) clusters.push_back(std::move(cluster));
}

void give_turns(SweepSchedule& schedule) {
  std::array<int, most_stretches> next{};
  for (SweepCluster& cluster : schedule) {
    const auto [a, b] = cluster.stretch;
    cluster.turn = {next[a], next[b]};
    ++next[a];
    if (b != a) ++next[b];
  }
}

}  // namespace

SweepSchedule make_schedule(const FactoredProblem& problem, std::vector<int>& island) {
  constexpr std::size_t contacts_per_stretch = 150;
  const BodyGraph graph(problem, island);
  const int stretches = static_cast<int>(
      std::clamp<std::size_t>(island.size() / contacts_per_stretch, 1, static_cast<std::size_t>(most_stretches)));
  const std::vector<int> stretch = cut_into_stretches(graph, stretches);
  std::vector<Cluster> all(static_cast<std::size_t>(stretches) * static_cast<std::size_t>(stretches));
  for (std::size_t k = 0; k < island.size(); ++k) {
    const auto [a, b] = std::minmax({stretch[graph.ends(k)[0]], stretch[graph.ends(k)[1]]});
    Cluster& cluster = all[static_cast<std::size_t>(a * stretches + b)];
    cluster.stretches = {a, b};
    cluster.contacts.push_back(island[k]);
  }
  std::erase_if(all, [](const Cluster& cluster) { return cluster.contacts.empty(); });
  sort_by_colour(all);
  SweepSchedule out;
  island.clear();
  for (const Cluster& cluster : all) {
    const int begin = static_cast<int>(island.size());
    island.insert(island.end(), cluster.contacts.begin(), cluster.contacts.end());
    out.push_back({begin, static_cast<int>(island.size()), cluster.stretches, {}});
  }
  give_turns(out);
  return out;
}

SweepSchedule schedule_of(const SweepSchedule& all, const std::vector<int>& some) {
  SweepSchedule out;
  auto at = some.begin();
  for (const SweepCluster& cluster : all) {
    const auto begin = at;
    at = std::lower_bound(at, some.end(), cluster.end);
    if (at == begin) continue;
    out.push_back({static_cast<int>(begin - some.begin()), static_cast<int>(at - some.begin()), cluster.stretch, {}});
  }
  give_turns(out);
  return out;
}

void SweepTurns::wait(int stretch, int turn) {
  constexpr int patience = 4096;  // looks: longer than any cluster takes that a running thread is at
  for (int looks = 0; done(stretch).load(std::memory_order_acquire) != turn; ++looks)
    if (looks >= patience) std::this_thread::yield();
}

}  // namespace tresse::friction::detail
