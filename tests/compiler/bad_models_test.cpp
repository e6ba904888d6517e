// Models that the derivation or the schedule must refuse, or warn about, each with the expected
// message. A first line `# lattice: 0^2`, `# set: m=2` or `# ranks: 2` is the option of the command
// line. VPHI_UPDATE_GOLDEN=1 writes the messages again; read the difference before you commit it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/compile.hpp"
#include "tests/support/places.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<fs::path> models() {
  std::vector<fs::path> found;
  for (const char* folder : {"bad_compile", "warnings"})
    for (const auto& entry :
         fs::directory_iterator(fs::path(VPHI_SOURCE_DIR "/tests/language") / folder))
      if (entry.path().extension() == ".vphi") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

CompileOptions options_of(const std::string& text) {
  CompileOptions options;
  const auto value = [&](const std::string& name) {
    const std::string start = "# " + name + ": ";
    return text.starts_with(start) ? text.substr(start.size(), text.find('\n') - start.size())
                                   : std::string();
  };
  options.lattice = value("lattice");
  options.until = value("until");
  const std::string ranks = value("ranks");
  if (!ranks.empty()) options.ranks = std::stoi(ranks);
  const std::string set = value("set");
  const auto equals = set.find('=');
  if (equals != std::string::npos)
    options.set.emplace_back(set.substr(0, equals), set.substr(equals + 1));
  return options;
}

class BadModel : public ::testing::TestWithParam<fs::path> {};

TEST_P(BadModel, MessageIsAsExpected) {
  const bool warns = GetParam().parent_path().filename() == "warnings";
  // Messages name the file as it was given.
  const fs::path before = fs::current_path();
  fs::current_path(GetParam().parent_path());
  const std::string name = GetParam().filename().string();
  emit::TargetInfo target;
  target.is_cpu = true;
  const Compilation c = compile_model(name, options_of(read_file(name)), target);
  fs::current_path(before);
  EXPECT_EQ(c.diagnostics.has_errors(), !warns);
  EXPECT_EQ(c.program.has_value(), warns);
  EXPECT_FALSE(c.diagnostics.all().empty());
  const std::string shown = dsl::render_text(c.diagnostics, c.resolved.sources());
  auto golden = GetParam();
  golden.replace_extension(".txt");
  const char* update = std::getenv("VPHI_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(golden, std::ios::binary) << shown;
    return;
  }
  EXPECT_EQ(shown, read_file(golden)) << golden;
}

INSTANTIATE_TEST_SUITE_P(Golden, BadModel, ::testing::ValuesIn(models()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace vphi
