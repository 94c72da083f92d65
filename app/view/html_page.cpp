#include "view/html_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/record/outputs.hpp>

#include "view/page_bytes.hpp"
#include "view/run_data.hpp"

namespace tresse::app::view {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double rounding = 32.0;  // parts of the least radius
constexpr const char* quantities[] = {"curvature", "speed", "tension", "shear", "bending", "twist"};
/// Nothing is asked for elsewhere, whatever the run's texts hold.
constexpr std::string_view policy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; img-src blob: data:; media-src blob:\" />\n    ";

fs::path page_place(const fs::path& run, const fs::path& output) {
  std::error_code error;
  fs::path wanted = output.empty() ? run : output;
  if (fs::is_directory(wanted, error)) return wanted / "export.html";
  require(wanted.extension() == ".html",
          [&] { return fmt::format("{}: expected a folder, or a name that ends in .html", wanted.string()); });
  return wanted;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

/// The content of the asset that `page` names where `pattern` matches; nothing of it may end the element around it.
void put_inside(std::string& page, const Assets& assets, const char* pattern, const char* begin, const char* end) {
  std::smatch found;
  if (!std::regex_search(page, found, std::regex(pattern))) throw SystemFailure("the viewer's page is not as expected");
  const auto asset = assets.find(found[1].str());
  if (asset == assets.end()) throw SystemFailure(fmt::format("the viewer's page has no {}", found[1].str()));
  std::string content = asset->second.bytes;
  replace_all(content, "</script", "<\\/script");
  replace_all(content, "<!--", "<\\!--");
  page = found.prefix().str() + begin + content + end + found.suffix().str();
}

/// index.html with its script and style inside and a place for the data before the end of the body.
std::pair<std::string, std::string> page_around(const Assets& assets) {
  std::string page = assets.at("/index.html").bytes;
  page = std::regex_replace(page, std::regex("<link rel=\"icon\"[^>]*>"), "");
  put_inside(page, assets, "<link rel=\"stylesheet\"[^>]*href=\"([^\"]*)\"[^>]*>", "<style>", "</style>");
  put_inside(page, assets, "<script type=\"module\"[^>]*src=\"([^\"]*)\"[^>]*></script>", "<script type=\"module\">",
             "</script>");
  page.insert(page.find("<meta"), policy);
  const std::size_t end = page.rfind("</body>");
  if (end == std::string::npos) throw SystemFailure("the viewer's page has no end");
  return {page.substr(0, end), page.substr(end)};
}

class Parts {
 public:
  void add(const std::string& name, std::string_view bytes) {
    out_ += fmt::format("<script type=\"text/plain\" data-part=\"{}\">{}</script>\n", name, base64(zipped(bytes)));
  }
  void add_numbers(const std::string& name, std::string_view numbers) { add(name, shuffled(numbers)); }
  void add_json(const std::string& name, const Json& json) {
    add(name, json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  const std::string& text() const { return out_; }

 private:
  std::string out_;
};

constexpr std::uint64_t only_generation = 1;

/// A run and its parts of the page, whose names begin as the paths of the server do.
class PagedRun {
 public:
  PagedRun(const fs::path& folder, std::size_t number, const exporters::FrameSelection& frames)
      : run_(folder), begin_(number == 0 ? "" : fmt::format("runs/{}/", number)), state_(run_.state()) {
    chosen_ = exporters::chosen_frames(frames, state_["frames"].get<std::size_t>());
    state_["live"] = false;
    state_["frames"] = chosen_.size();
    holds_ = run_.holds();
    spacing_ = run_.least_radius() / rounding;
  }

  const fs::path& folder() const { return run_.folder(); }
  std::size_t frames() const { return chosen_.size(); }

  /// All but the frames.
  void add_fixed(Parts& parts) {
    parts.add_json(begin_ + "state", state_);
    parts.add_json(begin_ + "run", run_.description());
    parts.add_json(begin_ + "steps", run_.steps());
    parts.add_json(begin_ + "forces", run_.forces());
    parts.add_json(begin_ + "holds", holds_);
    parts.add_numbers(begin_ + "layout", run_.layout(only_generation));
    parts.add_numbers(begin_ + "meshes", run_.meshes(only_generation));
    const std::string times = run_.times(only_generation, 0);
    std::string chosen_times;
    for (const std::size_t index : chosen_) chosen_times += times.substr(index * sizeof(double), sizeof(double));
    parts.add_numbers(begin_ + "times", chosen_times);
    run_.for_each_mesh_key([&](std::size_t mesh, std::size_t key) {
      parts.add_numbers(fmt::format("{}vertices/{}/{}", begin_, mesh, key), run_.vertices(only_generation, mesh, key));
    });
  }

  /// `number`: among those chosen.
  void add_frame(Parts& parts, std::size_t number) {
    const std::size_t index = chosen_[number];
    parts.add_numbers(fmt::format("{}frame/{}", begin_, number),
                      with_packed_points(run_.frame(only_generation, index), spacing_));
    for (const char* quantity : quantities) {
      parts.add_numbers(fmt::format("{}quantity/{}/{}", begin_, number, quantity),
                        rounded_floats(run_.quantity(only_generation, index, quantity)));
    }
    if (!holds_["holds"].empty()) {
      parts.add_numbers(fmt::format("{}hold_loads/{}", begin_, number), run_.hold_loads(only_generation, index));
    }
  }

 private:
  RunData run_;
  std::string begin_;
  Json state_, holds_;
  std::vector<std::size_t> chosen_;
  double spacing_ = 0.0;
};

struct PageRoom {
  std::uint64_t most = 0;  ///< of the page [bytes]
  std::uint64_t room = 0;  ///< of it, for frames [bytes]
  std::size_t frames = 0;  ///< that were to be there
};

[[noreturn]] void refuse_size(const fs::path& file, const PageRoom& page, double frame_size,
                              const exporters::FrameSelection& frames) {
  const double fitting = std::max(1.0, std::floor(0.9 * static_cast<double>(page.room) / frame_size));
  const auto every = static_cast<long long>(std::ceil(static_cast<double>(page.frames) / fitting)) * frames.stride;
  const bool all = frames.first == 0 && frames.last == -1;
  throw InvalidInput(fmt::format(
      "{}: the page would be larger than {} MB: a frame takes up to {:.2g} MB, and {} are chosen; expected fewer, such "
      "as --frames {}:{}",
      file.string(), page.most / 1'000'000, frame_size / 1e6, page.frames,
      all ? ":" : fmt::format("{}:{}", frames.first, frames.last), every));
}

}  // namespace

PageReport write_html_page(const std::vector<fs::path>& folders, const fs::path& output,
                           const exporters::FrameSelection& frames, const Assets& assets, std::uint64_t most) {
  std::vector<std::unique_ptr<PagedRun>> runs;
  std::vector<fs::path> places;
  record::FileList inputs;
  PageRoom page{.most = most};
  for (const fs::path& folder : folders) {
    runs.push_back(std::make_unique<PagedRun>(folder, runs.size(), frames));
    places.push_back(runs.back()->folder());
    page.frames += runs.back()->frames();
    const record::FileList own = record::files_of_run(folder);
    inputs.insert(inputs.end(), own.begin(), own.end());
  }
  const fs::path file = page_place(folders.front(), output);
  record::require_outputs({file}, inputs);
  const auto [head, tail] = page_around(assets);
  Parts parts;
  parts.add_json("runs", {{"runs", run_names(places)}});
  for (const auto& run : runs) run->add_fixed(parts);
  const std::uint64_t fixed = head.size() + parts.text().size() + tail.size();
  require(fixed < most, [&] {
    return fmt::format("{}: the page would be larger than {} MB without any frame: its meshes are", file.string(),
                       most / 1'000'000);
  });
  page.room = most - fixed;
  std::size_t done = 0;
  for (const auto& run : runs) {
    for (std::size_t number = 0; number < run->frames(); ++number) {
      run->add_frame(parts, number);
      ++done;
      const std::uint64_t size = head.size() + parts.text().size() + tail.size();
      if (size <= most) continue;
      Parts last;  // of a run in disorder, later frames take more
      run->add_frame(last, run->frames() - 1);
      const double mean = static_cast<double>(size - fixed) / static_cast<double>(done);
      refuse_size(file, page, std::max(mean, static_cast<double>(last.text().size())), frames);
    }
  }
  files::write_atomically(file, head + parts.text() + tail);
  return {page.frames, file};
}

}  // namespace tresse::app::view
