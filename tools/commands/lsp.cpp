// vphi lsp: the language server on standard input and output, for editors.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "embedded/vphi_pages.hpp"
#include "embedded/vphi_std.hpp"
#include "lsp/message.hpp"
#include "lsp/server.hpp"
#include "tools/options.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

namespace fs = std::filesystem;
using Files = std::span<const std::pair<std::string_view, std::string_view>>;

fs::path cache_folder() {
  if (const char* named = std::getenv("VPHI_CACHE"); named != nullptr && *named != '\0')
    return named;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0')
    return fs::path(xdg) / "vphi";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "vphi";
  return fs::temp_directory_path() / "vphi";
}

/// An editor opens files, so the library texts in this program are written beside the cache of
/// kernels. Returns the address of the folder; empty where it cannot be written.
std::string written(Files files, const std::string& name) {
  const fs::path folder = cache_folder() / "texts" / VPHI_VERSION / name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return {};
  for (const auto& [file, text] : files) {
    const fs::path path = folder / file;
    {
      std::ifstream there(path, std::ios::binary);
      const std::string old{std::istreambuf_iterator<char>(there), {}};
      if (there && old == text) continue;
    }
    const fs::path fresh = path.string() + fmt::format(".{}", getpid());
    std::ofstream(fresh, std::ios::binary) << text;
    fs::rename(fresh, path, error);
    if (error) return {};
  }
  return lsp::address_of(fs::absolute(folder).string());
}

bool write_all(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

int language_server(const Words& words) {
  bool stdio = true;
  CommandLine line("lsp", "The language server for editors, on standard input and output.");
  line.flag("--stdio", stdio, "the only way to talk to it; editors pass this");
  if (!line.parse(words)) return kOk;

  lsp::Addresses where;
  try {
    where.std_folder = written(vphi_std::files(), "std");
    where.pages_folder = written(vphi_pages::files(), "pages");
  } catch (const fs::filesystem_error&) {
    // Without these files only the jump into the library is missing.
  }
  bool broken = false;
  lsp::Server server(
      [&](const std::string& body) { broken = broken || !write_all(lsp::framed(body)); }, where);
  lsp::MessageReader reader;
  std::string piece(1 << 16, '\0');
  while (!server.finished()) {
    const ssize_t n = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // the editor is gone
    reader.feed(std::string_view(piece).substr(0, static_cast<std::size_t>(n)));
    for (auto message = reader.next(); message && !server.finished(); message = reader.next()) {
      if (message->malformed) {
        server.malformed();
      } else {
        server.handle(message->body);
      }
    }
  }
  // A derivation that is still running is not waited for.
  std::_Exit(server.finished() && server.status() == 0 ? kOk : kUserError);
}

}  // namespace vphi::tools
