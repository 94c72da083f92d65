#include "view/server.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>

#include "view/run_data.hpp"

// Last: it brings resolv.h, whose macro _res breaks Eigen's headers.
#include <httplib.h>

namespace tresse::app::view {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using httplib::Request;
using httplib::Response;

constexpr const char* loopback = "127.0.0.1";
constexpr int most_connections = 128;  // a browser opens six to a host; the slow ones must not keep others waiting
constexpr std::size_t largest_request_body = 1024;

const std::map<std::string, std::string> types = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".txt", "text/plain; charset=utf-8"},
};

constexpr const char* content_security_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

void set_headers(Response& response) {
  response.set_header("Content-Security-Policy", content_security_policy);
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  response.set_header("Cross-Origin-Opener-Policy", "same-origin");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cache-Control", "no-store");
}

void answer(Response& response, const Json& json) {
  // A name in a file may be anything but UTF-8.
  response.set_content(json.dump(-1, ' ', false, Json::error_handler_t::replace), "application/json");
}

void answer(Response& response, const std::string& bytes) { response.set_content(bytes, "application/octet-stream"); }

void refuse(Response& response, int status, const std::string& reason) {
  response.status = status;
  answer(response, Json{{"error", reason}});
}

std::uint64_t number(const Request& request, const char* name) {
  const std::string text = request.get_param_value(name);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(!text.empty() && error == std::errc() && end == text.data() + text.size(),
          [&] { return fmt::format("{}: expected a number", name); });
  return value;
}

/// A thread for every connection. Its stack is large: httplib takes the header "Range" apart by a regular expression,
/// which goes as deep as the header is long.
class Connections : public httplib::TaskQueue {
 public:
  /// Waits where there are too many.
  void enqueue(std::function<void()> serve) override {
    std::unique_lock lock(shared_->mutex);
    shared_->ended.wait(lock, [this] { return shared_->open < most_connections; });
    auto task = std::make_unique<Task>(std::move(serve), shared_);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_t thread{};
    if (pthread_create(&thread, &attributes, run, task.get()) == 0) {
      ++shared_->open;
      static_cast<void>(task.release());
      pthread_attr_destroy(&attributes);
      return;
    }
    pthread_attr_destroy(&attributes);
    lock.unlock();
    task->serve();  // no thread is to be had: all others wait
  }
  void shutdown() override {
    std::unique_lock lock(shared_->mutex);
    shared_->ended.wait(lock, [this] { return shared_->open == 0; });
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{64} << 20U;  // reserved, not used
  struct Shared {
    std::mutex mutex;
    std::condition_variable ended;
    int open = 0;
  };
  struct Task {
    Task(std::function<void()> what, std::shared_ptr<Shared> with) : serve(std::move(what)), shared(std::move(with)) {}
    std::function<void()> serve;
    std::shared_ptr<Shared> shared;
  };
  static void* run(void* argument) {
    const std::unique_ptr<Task> task(static_cast<Task*>(argument));
    task->serve();
    {
      const std::lock_guard lock(task->shared->mutex);
      --task->shared->open;
    }
    task->shared->ended.notify_all();
    return nullptr;
  }

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

using Handler = std::function<void(const Request&, Response&)>;

/// `prefix`: of the paths, such as "/api/".
void add_handlers(std::map<std::string, Handler>& out, const std::string& prefix, RunData& run) {
  out[prefix + "state"] = [&run](const Request&, Response& r) { answer(r, run.state()); };
  out[prefix + "run"] = [&run](const Request&, Response& r) { answer(r, run.description()); };
  out[prefix + "steps"] = [&run](const Request&, Response& r) { answer(r, run.steps()); };
  out[prefix + "forces"] = [&run](const Request&, Response& r) { answer(r, run.forces()); };
  out[prefix + "holds"] = [&run](const Request&, Response& r) { answer(r, run.holds()); };
  out[prefix + "layout"] = [&run](const Request& q, Response& r) { answer(r, run.layout(number(q, "generation"))); };
  out[prefix + "meshes"] = [&run](const Request& q, Response& r) { answer(r, run.meshes(number(q, "generation"))); };
  out[prefix + "vertices"] = [&run](const Request& q, Response& r) {
    answer(r, run.vertices(number(q, "generation"), number(q, "mesh"), number(q, "key")));
  };
  out[prefix + "times"] = [&run](const Request& q, Response& r) {
    answer(r, run.times(number(q, "generation"), number(q, "from")));
  };
  out[prefix + "frame"] = [&run](const Request& q, Response& r) {
    answer(r, run.frame(number(q, "generation"), number(q, "index")));
  };
  out[prefix + "hold_loads"] = [&run](const Request& q, Response& r) {
    answer(r, run.hold_loads(number(q, "generation"), number(q, "index")));
  };
  out[prefix + "quantity"] = [&run](const Request& q, Response& r) {
    answer(r, run.quantity(number(q, "generation"), number(q, "index"), q.get_param_value("name")));
  };
}

/// Paths that name no run mean the first.
std::map<std::string, Handler> handlers(const std::vector<std::unique_ptr<RunData>>& runs) {
  std::map<std::string, Handler> out;
  std::vector<fs::path> folders;
  for (const auto& run : runs) {
    if (folders.empty()) add_handlers(out, "/api/", *run);
    add_handlers(out, fmt::format("/api/runs/{}/", folders.size()), *run);
    folders.push_back(run->folder());
  }
  const Json names = {{"runs", run_names(folders)}};
  out["/api/runs"] = [names](const Request&, Response& r) { answer(r, names); };
  return out;
}

}  // namespace

Assets load_assets(const fs::path& folder) {
  std::error_code error;
  Assets out;
  require(fs::is_regular_file(folder / "index.html", error),
          [&] { return fmt::format("{}: expected index.html", folder.string()); });
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto type = types.find(entry.path().extension().string());
    out["/" + entry.path().lexically_relative(folder).generic_string()] = {
        files::read_file(entry.path()), type == types.end() ? "application/octet-stream" : type->second};
  }
  out["/"] = out["/index.html"];
  return out;
}

struct Server::Connection {
  httplib::Server http;
  Assets assets;
  std::map<std::string, Handler> api;
  int port = 0;

  bool names_this_host(const Request& request) const {
    const std::string host = request.get_header_value("Host");
    return host == fmt::format("{}:{}", loopback, port) || host == fmt::format("localhost:{}", port);
  }

  void handle(const Request& request, Response& response) {
    set_headers(response);
    if (!names_this_host(request)) return refuse(response, 403, "another host is meant");
    if (request.method != "GET" && request.method != "HEAD") {
      response.set_header("Allow", "GET, HEAD");
      response.set_header("Connection", "close");  // a body that nobody reads may follow
      return refuse(response, 405, "only GET and HEAD");
    }
    if (request.get_header_value("Sec-Fetch-Site") == "cross-site" && request.path.starts_with("/api/")) {
      return refuse(response, 403, "a page from elsewhere asks");
    }
    if (const auto asset = assets.find(request.path); asset != assets.end()) {
      response.set_content(asset->second.bytes, asset->second.type);
      return;
    }
    const auto handler = api.find(request.path);
    if (handler == api.end()) return refuse(response, 404, "no such page");
    try {
      handler->second(request, response);
    } catch (const InvalidInput& error) {
      refuse(response, 404, error.what());
    } catch (const std::exception& error) {
      refuse(response, 500, error.what());
    }
  }
};

Server::Server(const std::vector<std::unique_ptr<RunData>>& runs, Assets assets, int port)
    : connection_(std::make_unique<Connection>()) {
  connection_->assets = std::move(assets);
  connection_->api = handlers(runs);
  httplib::Server& http = connection_->http;
  http.new_task_queue = [] { return new Connections; };
  http.set_keep_alive_max_count(std::numeric_limits<std::size_t>::max());
  http.set_tcp_nodelay(true);
  http.set_payload_max_length(largest_request_body);
  // Not httplib's SO_REUSEPORT, with which two viewers could share a port.
  http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  http.set_pre_routing_handler([this](const Request& request, Response& response) {
    // An answer is given whole: in a thousand ranges it would be a thousand times as large.
    const_cast<Request&>(request).ranges.clear();
    connection_->handle(request, response);
    return httplib::Server::HandlerResponse::Handled;
  });
  if (port == 0) {
    connection_->port = http.bind_to_any_port(loopback);
  } else if (http.bind_to_port(loopback, port)) {
    connection_->port = port;
  }
  if (connection_->port <= 0) throw SystemFailure(fmt::format("port {} is taken; try another --port", port));
}

Server::~Server() = default;

int Server::port() const { return connection_->port; }

void Server::serve() { connection_->http.listen_after_bind(); }

void Server::stop() {
  // httplib forgets a stop that comes before it listens.
  for (int i = 0; i < 100 && !connection_->http.is_running(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  connection_->http.stop();
}

}  // namespace tresse::app::view
