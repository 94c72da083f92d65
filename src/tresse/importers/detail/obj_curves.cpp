#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tresse/files/lines.hpp>
#include <tresse/files/text.hpp>
#include <tresse/importers/detail/obj_statements.hpp>
#include <tresse/importers/detail/polyline_readers.hpp>

/// Line records of OBJ. A record of three vertices or more is a row; records of two are segments, and those that share
/// a vertex make up one row.
namespace tresse::importers::detail {
namespace {

/// A row under way: the vertices it goes through, from 0.
struct Run {
  std::vector<std::size_t> vertices;
  std::size_t line = 0;
};

class ObjReader {
 public:
  explicit ObjReader(std::string_view text) : statements_(text) {}

  RawPolylines read() {
    while (statements_.next()) {
      const std::vector<std::string_view>& words = statements_.words();
      if (words.empty()) continue;
      const std::string_view key = words[0];
      if (key == "v") {
        read_vertex();
      } else if (key == "l") {
        read_line();
      } else if (key == "o" || key == "g") {
        close_section();
      } else if (!harmless(key)) {
        ++passed_[std::string(key.substr(0, 20))];
      }
    }
    close_section();
    make_rows();
    return std::move(out_);
  }

 private:
  static bool harmless(std::string_view key) {
    constexpr std::array<std::string_view, 7> known{"vt", "vn", "vp", "s", "usemtl", "mtllib", "call"};
    return std::ranges::find(known, key) != known.end();
  }

  void read_vertex() {
    const std::vector<std::string_view>& words = statements_.words();
    Vector3 x = Vector3::Constant(std::numeric_limits<double>::quiet_NaN());
    if (words.size() < 4) {
      bad_vertices_[vertices_.size()] =
          fmt::format("has a vertex of fewer than three numbers in line {}; expected x, y and z", statements_.number());
    } else {
      for (std::size_t k = 0; k < 3; ++k) {
        const std::optional<double> value = files::real_in(words[k + 1]);
        if (value) {
          x[static_cast<int>(k)] = *value;
        } else {
          bad_vertices_.emplace(vertices_.size(),
                                fmt::format("has {} in line {}; expected a number", files::in_quotes(words[k + 1], 40),
                                            statements_.number()));
        }
      }
    }
    vertices_.push_back(x);
  }

  void read_line() {
    const std::vector<std::string_view>& words = statements_.words();
    Run run{{}, statements_.number()};
    for (std::size_t k = 1; k < words.size(); ++k) {
      const auto index = files::integer_in(words[k].substr(0, words[k].find('/')));
      const auto count = static_cast<long long>(vertices_.size());
      // A number from the front may name a vertex that comes later.
      if (!index || *index == 0 || *index < -count) {
        bad_lines_.emplace(run.line, no_vertex(words[k], vertices_.size()));
        run.vertices.push_back(0);
      } else {
        run.vertices.push_back(static_cast<std::size_t>(*index > 0 ? *index - 1 : count + *index));
      }
    }
    const bool segment = run.vertices.size() == 2;
    if (!segment || bad_lines_.contains(run.line)) {
      rows_.push_back(std::move(run));
      goes_on_ = false;
    } else if (goes_on_ && segments_.back().vertices.back() == run.vertices.front()) {
      segments_.back().vertices.push_back(run.vertices.back());
    } else {
      segments_.push_back(std::move(run));
      goes_on_ = true;
    }
  }

  static std::string no_vertex(std::string_view word, std::size_t count) {
    return fmt::format("names '{}', which is no vertex; expected 1 to {}, or -1 to -{}", one_line(word, 40), count,
                       count);
  }

  /// One end of a chain of segments.
  struct End {
    std::size_t vertex, run;
    bool last;                                                  ///< of its vertices
    friend auto operator<=>(const End&, const End&) = default;  // NOLINT(modernize-use-nullptr)
  };
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  /// Joins the segments of an object, in whatever order and direction they stand, where two of their ends meet. Two
  /// chains that are written in order from one vertex are strands of one root.
  void close_section() {
    std::vector<End> ends;
    for (std::size_t r = 0; r < segments_.size(); ++r) {
      ends.push_back({segments_[r].vertices.front(), r, false});
      ends.push_back({segments_[r].vertices.back(), r, true});
    }
    std::ranges::sort(ends);
    std::set<std::size_t> crossed;  // ends that another chain goes through
    for (const Run& run : segments_) {
      for (std::size_t k = 1; k + 1 < run.vertices.size(); ++k) {
        const auto at = std::ranges::lower_bound(ends, run.vertices[k], {}, &End::vertex);
        if (at != ends.end() && at->vertex == run.vertices[k]) crossed.insert(at->vertex);
      }
    }
    std::vector<std::array<std::size_t, 2>> beyond(segments_.size(), {none, none});  // index in `ends`
    for (std::size_t i = 0; i < ends.size();) {
      std::size_t next = i + 1;
      while (next < ends.size() && ends[next].vertex == ends[i].vertex) ++next;
      const bool branches = next - i > 2 || crossed.contains(ends[i].vertex);
      if (branches) ++branchings_;
      if (!branches && next - i == 2 && ends[i].run != ends[i + 1].run && !both_begin(ends[i], ends[i + 1])) {
        beyond[ends[i].run][ends[i].last ? 1 : 0] = i + 1;
        beyond[ends[i + 1].run][ends[i + 1].last ? 1 : 0] = i;
      }
      i = next;
    }
    std::vector<bool> taken(segments_.size(), false);
    // From the free ends first, so that what is left then are rings.
    for (const bool rings : {false, true}) {
      for (std::size_t r = 0; r < segments_.size(); ++r) {
        if (taken[r] || (!rings && beyond[r][0] != none && beyond[r][1] != none)) continue;
        rows_.push_back(chain_from(r, beyond[r][0] == none || rings ? 0 : 1, ends, beyond, taken));
      }
    }
    segments_.clear();
    goes_on_ = false;
  }

  bool both_begin(const End& a, const End& b) const {
    return !a.last && !b.last && segments_[a.run].vertices.size() > 2 && segments_[b.run].vertices.size() > 2;
  }

  /// The chain that begins at one end of a run, 0 its first vertex or 1 its last.
  Run chain_from(std::size_t first, std::size_t side, const std::vector<End>& ends,
                 const std::vector<std::array<std::size_t, 2>>& beyond, std::vector<bool>& taken) const {
    Run out{{}, segments_[first].line};
    std::size_t parts = 0;
    for (std::size_t r = first;;) {
      taken[r] = true;
      ++parts;
      std::vector<std::size_t> vertices = segments_[r].vertices;
      if (side == 1) std::ranges::reverse(vertices);
      out.vertices.insert(out.vertices.end(), vertices.begin() + (parts > 1 ? 1 : 0), vertices.end());
      out.line = std::min(out.line, segments_[r].line);
      const std::size_t next = beyond[r][1 - side];
      if (next == none || taken[ends[next].run]) break;
      r = ends[next].run;
      side = ends[next].last ? 1 : 0;
    }
    // Their order and direction say nothing then; files list the vertices from the root on.
    if (parts > 1 && out.vertices.back() < out.vertices.front()) std::ranges::reverse(out.vertices);
    return out;
  }

  void make_rows() {
    std::ranges::stable_sort(rows_, {}, &Run::line);
    for (const Run& run : rows_) {
      const std::size_t index = out_.lines.rows.size();
      std::vector<Vector3>& row = out_.lines.rows.emplace_back();
      out_.places.push_back(run.line);
      if (const auto bad = bad_lines_.find(run.line); bad != bad_lines_.end()) out_.flaw(index, bad->second);
      for (const std::size_t vertex : run.vertices) {
        if (vertex >= vertices_.size()) {
          out_.flaw(index, no_vertex(std::to_string(vertex + 1), vertices_.size()));
          break;
        }
        if (const auto bad = bad_vertices_.find(vertex); bad != bad_vertices_.end()) out_.flaw(index, bad->second);
        row.push_back(vertices_[vertex]);
      }
    }
    if (branchings_ > 0) {
      out_.lines.remarks.push_back(
          fmt::format("more than two segments meet at {} of the vertices; strands end there", branchings_));
    }
    if (passed_.empty()) return;
    std::vector<std::string> told;
    for (const auto& [key, count] : passed_) told.push_back(fmt::format("{} of '{}'", count, one_line(key)));
    out_.lines.remarks.push_back(fmt::format("records other than lines are not read: {}", few_of(told)));
  }

  ObjStatements statements_;
  std::vector<Vector3> vertices_;
  std::map<std::size_t, std::string> bad_vertices_, bad_lines_;  ///< by number and by line: the flaw
  std::vector<Run> rows_, segments_;                             ///< the latter of the object under way
  bool goes_on_ = false;                                         ///< the last segment may
  std::size_t branchings_ = 0;
  std::map<std::string, std::size_t, std::less<>> passed_;  ///< how many records of each kind are not read
  RawPolylines out_;
};

}  // namespace

RawPolylines read_obj_lines(std::string_view text) { return ObjReader(text).read(); }

}  // namespace tresse::importers::detail
