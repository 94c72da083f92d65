#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tresse::app::view {

class RunData;

struct Asset {
  std::string bytes;
  std::string type;  ///< MIME
};

/// The page's files by their path on the server, such as "/index.html". Read once: a request names no file of the disk.
using Assets = std::map<std::string, Asset>;

/// All files below `folder`. @throws InvalidInput when it holds no index.html.
Assets load_assets(const std::filesystem::path& folder);

/// Answers GET and HEAD on 127.0.0.1 only, and only to requests that name that host, so that no page from elsewhere can
/// reach it under a name of its own. Runs are numbered from zero in the order given. Paths in
/// docs/reference/viewer_protocol.md.
class Server {
 public:
  /// `port` 0: any that is free. @throws SystemFailure when it is taken.
  Server(const std::vector<std::unique_ptr<RunData>>& runs, Assets assets, int port);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  void serve();  ///< until stop() is called from another thread
  void stop();

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace tresse::app::view
