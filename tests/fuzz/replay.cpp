// Runs a target on files without a fuzzer: `NAME_replay FOLDER|FILE...`. CTest replays the corpus
// with it in every build. Status 1 where nothing was there to run.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "target.hpp"

namespace {

namespace fs = std::filesystem;

int replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::fprintf(stderr, "%s\n", path.c_str());  // the last line names the file that crashed
  const auto begin = std::chrono::steady_clock::now();
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (took.count() > 1) std::printf("%s took %.1f s\n", path.c_str(), took.count());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  int done = 0;
  for (int i = 1; i < count; ++i) {
    if (!fs::is_directory(words[i])) {
      done += replay(words[i]);
      continue;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(words[i]))
      if (entry.is_regular_file() && entry.path().extension() != ".md")
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) done += replay(file);
  }
  std::printf("%d inputs\n", done);
  return done > 0 ? 0 : 1;
}
