#include "view/html_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/io/atomic_file.hpp>
#include <tresse/io/outputs.hpp>

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

void add_frame(Parts& parts, RunData& run, std::size_t number, std::size_t index, double spacing, bool holds) {
  constexpr std::uint64_t generation = 1;
  parts.add_numbers(fmt::format("frame/{}", number), with_packed_points(run.frame(generation, index), spacing));
  for (const char* quantity : quantities) {
    parts.add_numbers(fmt::format("quantity/{}/{}", number, quantity),
                      rounded_floats(run.quantity(generation, index, quantity)));
  }
  if (holds) parts.add_numbers(fmt::format("hold_loads/{}", number), run.hold_loads(generation, index));
}

struct PageRoom {
  std::uint64_t most = 0;  ///< of the page [bytes]
  std::uint64_t room = 0;  ///< of it, for frames [bytes]
  std::size_t frames = 0;  ///< that were to be there
};

[[noreturn]] void refuse_size(const fs::path& file, const PageRoom& page, double frame_size,
                              const io::FrameSelection& frames) {
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

PageReport write_html_page(const fs::path& folder, const fs::path& output, const io::FrameSelection& frames,
                           const Assets& assets, std::uint64_t most) {
  RunData run(folder);
  const fs::path file = page_place(folder, output);
  io::require_outputs({file}, io::files_of_run(folder));
  Json state = run.state();
  const std::vector<std::size_t> chosen = io::chosen_frames(frames, state["frames"].get<std::size_t>());
  const auto [head, tail] = page_around(assets);
  constexpr std::uint64_t generation = 1;
  state["live"] = false;
  state["frames"] = chosen.size();
  const Json holds = run.holds();
  Parts parts;
  parts.add_json("runs", {{"runs", {run.folder().filename().string()}}});
  parts.add_json("state", state);
  parts.add_json("run", run.description());
  parts.add_json("steps", run.steps());
  parts.add_json("forces", run.forces());
  parts.add_json("holds", holds);
  parts.add_numbers("layout", run.layout(generation));
  parts.add_numbers("meshes", run.meshes(generation));
  const std::string times = run.times(generation, 0);
  std::string chosen_times;
  for (const std::size_t index : chosen) chosen_times += times.substr(index * sizeof(double), sizeof(double));
  parts.add_numbers("times", chosen_times);
  run.for_each_mesh_key([&](std::size_t mesh, std::size_t key) {
    parts.add_numbers(fmt::format("vertices/{}/{}", mesh, key), run.vertices(generation, mesh, key));
  });
  const std::uint64_t fixed = head.size() + parts.text().size() + tail.size();
  require(fixed < most, [&] {
    return fmt::format("{}: the page would be larger than {} MB without any frame: its meshes are", file.string(),
                       most / 1'000'000);
  });
  const double spacing = run.least_radius() / rounding;
  const bool has_holds = !holds["holds"].empty();
  for (std::size_t number = 0; number < chosen.size(); ++number) {
    add_frame(parts, run, number, chosen[number], spacing, has_holds);
    const std::uint64_t size = head.size() + parts.text().size() + tail.size();
    if (size <= most) continue;
    Parts last;  // of a run in disorder, later frames take more
    add_frame(last, run, 0, chosen.back(), spacing, has_holds);
    const double mean = static_cast<double>(size - fixed) / static_cast<double>(number + 1);
    refuse_size(file, {.most = most, .room = most - fixed, .frames = chosen.size()},
                std::max(mean, static_cast<double>(last.text().size())), frames);
  }
  io::write_atomically(file, head + parts.text() + tail);
  return {chosen.size(), file};
}

}  // namespace tresse::app::view
