#include "tools/running/live.hpp"

#include <algorithm>
#include <cctype>

#include "tools/options.hpp"

namespace vphi::tools {

Words with_live_port(Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string attached = words[i].starts_with("--live=") ? words[i].substr(7) : "";
    const bool follows = words[i] == "--live" && i + 1 < words.size() && !words[i + 1].empty() &&
                         std::all_of(words[i + 1].begin(), words[i + 1].end(),
                                     [](unsigned char c) { return std::isdigit(c) != 0; });
    if (attached.empty() && !follows) continue;
    const std::string port = follows ? words[i + 1] : attached;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i) + (follows ? 2 : 1));
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), {"--live", "--live-port", port});
    break;
  }
  return words;
}

LivePage::LivePage(vphi::report::Report start, const program::Program& program, std::int64_t port)
    : run_(std::move(start), program) {
  if (!vphi::report::have_live_server())
    throw UsageError("this build has no live page",
                     "apt-get install libcpp-httplib-dev, then build again");
  if (port > 65535) throw UsageError("--live takes a port from 1 to 65535, or none");
  try {
    server_ = std::make_unique<vphi::report::LiveServer>(run_, static_cast<int>(port));
  } catch (const vphi::report::LiveError& error) {
    throw UsageError(error.what(), "another port, or `--live` alone, which takes one that is free");
  }
}

void LivePage::finish(bool stopped) {
  run_.finish(stopped);
  run_.wait_for_last_look(std::chrono::milliseconds(2500));
}

}  // namespace vphi::tools
