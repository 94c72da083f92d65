#include <tresse/friction/detail/sweep_schedule.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <numeric>
#include <thread>
#include <utility>

namespace tresse::friction::detail {
namespace {

constexpr SweepPolicy::Schedule schedule_policy = sweep_policy.schedule;

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
  int weight(int body) const { return weight_[body]; }                   ///< its contacts
  const std::vector<std::array<int, 2>>& ends() const { return ends_; }  ///< of each contact; twice the same if one

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
  std::vector<int> number_;  // of each of the problem's bodies, -1 outside
  std::vector<std::array<int, 2>> ends_;
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

void give_turns(std::vector<SweepCluster>& clusters) {
  std::array<int, most_stretches> next{};
  for (SweepCluster& cluster : clusters) {
    const auto [a, b] = cluster.stretch;
    cluster.turn = {next[a], next[b]};
    ++next[a];
    if (b != a) ++next[b];
  }
}

/// A group that takes more contacts.
struct OpenGroup {
  SweepGroup group;
  std::array<int, 2 * SweepGroup::most> bodies{};
  int taken = 0;  // bodies

  bool takes(const std::array<int, 2>& ends) const {
    return std::none_of(bodies.begin(), bodies.begin() + taken, [&](int b) { return b == ends[0] || b == ends[1]; });
  }
  void take(int contact, const std::array<int, 2>& ends) {
    for (const int body : ends) bodies[static_cast<std::size_t>(taken++)] = body;
    group.contact[static_cast<std::size_t>(group.count++)] = contact;
  }
};

/// Appends contacts in groups, each in the first that it fits in: those of the same two bodies mostly keep their order,
/// which saves sweeps.
void append_groups(const std::vector<int>& contacts, const std::vector<std::array<int, 2>>& bodies,
                   std::vector<SweepGroup>& out) {
  std::vector<OpenGroup> open;
  for (const int i : contacts) {
    const std::array<int, 2>& ends = bodies[static_cast<std::size_t>(i)];
    auto to = std::find_if(open.begin(), open.end(), [&](const OpenGroup& g) { return g.takes(ends); });
    if (to == open.end()) {
      if (open.size() == schedule_policy.open_groups) {
        out.push_back(open.front().group);
        open.erase(open.begin());
      }
      to = open.insert(open.end(), OpenGroup());
    }
    to->take(i, ends);
    if (to->group.count < SweepGroup::most) continue;
    out.push_back(to->group);
    open.erase(to);
  }
  for (const OpenGroup& rest : open) out.push_back(rest.group);
}

/// Into how many stretches an island is cut: short ones leave threads waiting, ones of a few bodies groups unfilled.
int stretches_of(std::size_t contacts, std::size_t bodies) {
  const std::size_t wanted =
      std::max(bodies / schedule_policy.bodies_a_stretch, std::min(bodies / 2, schedule_policy.few_stretches));
  return static_cast<int>(
      std::clamp<std::size_t>(std::min(contacts / schedule_policy.contacts_a_stretch, wanted), 1, most_stretches));
}

}  // namespace

IslandSchedule make_schedule(const FactoredProblem& problem, std::vector<int>& island) {
  const BodyGraph graph(problem, island);
  const int stretches = stretches_of(island.size(), static_cast<std::size_t>(graph.bodies()));
  const std::vector<int> stretch = cut_into_stretches(graph, stretches);
  std::vector<Cluster> all(static_cast<std::size_t>(stretches) * static_cast<std::size_t>(stretches));
  for (std::size_t k = 0; k < island.size(); ++k) {
    const auto [a, b] = std::minmax({stretch[graph.ends()[k][0]], stretch[graph.ends()[k][1]]});
    Cluster& cluster = all[static_cast<std::size_t>(a * stretches + b)];
    cluster.stretches = {a, b};
    cluster.contacts.push_back(static_cast<int>(k));
  }
  std::erase_if(all, [](const Cluster& cluster) { return cluster.contacts.empty(); });
  sort_by_colour(all);
  IslandSchedule out;
  for (const Cluster& cluster : all) {
    const int begin = static_cast<int>(out.groups.size());
    append_groups(cluster.contacts, graph.ends(), out.groups);
    out.clusters.push_back({begin, static_cast<int>(out.groups.size()), cluster.stretches, {}});
    out.cluster_end.push_back(static_cast<int>(cluster.contacts.size()));
  }
  std::partial_sum(out.cluster_end.begin(), out.cluster_end.end(), out.cluster_end.begin());
  give_turns(out.clusters);
  // Contacts stand in memory as they are visited.
  const std::vector<int> before = std::exchange(island, {});
  for (SweepGroup& group : out.groups) {
    for (int k = 0; k < group.count; ++k) {
      int& contact = group.contact[static_cast<std::size_t>(k)];
      out.bodies.push_back(graph.ends()[static_cast<std::size_t>(contact)]);
      island.push_back(before[static_cast<std::size_t>(std::exchange(contact, static_cast<int>(island.size())))]);
    }
  }
  return out;
}

SweepSchedule schedule_of(const IslandSchedule& all, const std::vector<int>& some) {
  SweepSchedule out;
  if (some.size() < schedule_policy.one_cluster) {
    append_groups(some, all.bodies, out.groups);
    if (!some.empty()) out.clusters.push_back({0, static_cast<int>(out.groups.size()), {}, {}});
    return out;
  }
  auto at = some.begin();
  for (std::size_t c = 0; c < all.clusters.size(); ++c) {
    const auto begin = at;
    at = std::lower_bound(at, some.end(), all.cluster_end[c]);
    if (at == begin) continue;
    const int first = static_cast<int>(out.groups.size());
    append_groups({begin, at}, all.bodies, out.groups);
    out.clusters.push_back({first, static_cast<int>(out.groups.size()), all.clusters[c].stretch, {}});
  }
  give_turns(out.clusters);
  return out;
}

void SweepTurns::wait(int stretch, int turn) {
  for (int looks = 0; done(stretch).load(std::memory_order_acquire) != turn; ++looks)
    if (looks >= schedule_policy.looks) std::this_thread::yield();
}

}  // namespace tresse::friction::detail
