// `--json` of each subcommand: standard output is always one JSON value alone, and the exit status
// is the documented one. Skipped where the command is not built.
#include <gtest/gtest.h>

#include <cmath>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/run/command.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

using vphi::test::Outcome;

class JsonOutput : public vphi::test::CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    if (IsSkipped()) return;
    write("good.vphi",
          "model good \"A wave\"\nlattice ring: 32, length = 1\nfield u: real\nu'' = lap(u)\n"
          "init u = sin(2*pi*x), u' = 0\nevolve leapfrog, dt = 0.5*dx, until = t > 1\n"
          "every 8 steps: mean(u^2) -> \"good.h5\"\nexpect mean(u^2) < 10\n");
    write("bad.vphi", "model bad\nfield u: real\nu'' = lap(v)\n");
    write("failing.vphi", text("good.vphi") + "expect mean(u^2) > 10\n");
  }
  Outcome vphi(const std::string& words) { return CommandTest::vphi(words + " --json"); }
};

struct Row {
  const char* words;
  int status;
  const char* key;  ///< that the object has; "": the value is an array
};

void check(const Row& row, const Outcome& o) {
  EXPECT_EQ(o.status, row.status) << row.words << "\n" << o.error;
  const Json value = Json::parse(o.out, nullptr, false);
  ASSERT_FALSE(value.is_discarded()) << row.words << ": not one JSON value\n" << o.out;
  if (row.key[0] == '\0') {
    EXPECT_TRUE(value.is_array()) << row.words;
  } else {
    EXPECT_TRUE(value.contains(row.key)) << row.words << "\n" << o.out;
  }
}

TEST_F(JsonOutput, IsOneValueWhereAllIsWell) {
  const Row rows[] = {
      {"check good.vphi", 0, ""},
      {"run good.vphi --device native --out r", 0, "scalars"},
      {"run failing.vphi --device native --out f", 2, "expect"},
      {"report r", 0, "file"},
      {"report r f -o both.html", 0, "bytes"},
      {"explain good.vphi", 0, "kernels"},
      {"explain E0301", 0, "page"},
      {"explain --reference", 0, "reference"},
      {"emit good.vphi", 0, "kernels"},
      {"emit good.vphi --to opencl --kernel sweep", 0, "kernels"},
      {"emit good.vphi --to latex", 0, "latex"},
      {"emit good.vphi --after hoist", 0, "plan"},
      {"emit good.vphi --after derive", 0, "system"},
      {"emit good.vphi --after prepare", 0, "system"},
      {"emit good.vphi --main", 0, "source"},
      {"emit good.vphi --to json", 0, "kernels"},
      {"bench good.vphi --device native", 0, "ceilings"},
      {"bench good.vphi --device native --kernels", 0, "kernels"},
      {"test good.vphi --device native --no-order", 0, "devices"},
      {"fmt --check good.vphi", 0, "files"},
      {"fmt --stdout good.vphi", 0, "files"},
      {"new scalar mine", 0, "file"},
      {"new scalar --stdout", 0, "text"},
      {"doctor", 0, "devices"},
  };
  for (const Row& row : rows) check(row, vphi(row.words));
}

TEST_F(JsonOutput, IsOneValueWhereTheModelIsWrong) {
  const Row rows[] = {
      {"check bad.vphi", 1, ""},
      {"run bad.vphi --device native", 1, "diagnostics"},
      {"explain bad.vphi", 1, "diagnostics"},
      {"emit bad.vphi", 1, "diagnostics"},
      {"bench bad.vphi --device native", 1, "diagnostics"},
      {"test bad.vphi --device native", 1, "diagnostics"},
      {"fmt failing.vphi nowhere.vphi", 1, "error"},
  };
  for (const Row& row : rows) check(row, vphi(row.words));
  write("broken.vphi", "model broken\nx = ((\n");
  const Outcome o = vphi("fmt broken.vphi good.vphi");
  check({"fmt broken.vphi good.vphi", 1, "files"}, o);
  const Json files = Json::parse(o.out)["files"];
  ASSERT_EQ(files.size(), 2U);
  EXPECT_FALSE(files[0]["diagnostics"].empty());
  EXPECT_FALSE(files[1].contains("diagnostics"));
}

TEST_F(JsonOutput, IsOneValueWhereTheCommandLineIsWrong) {
  for (const char* words :
       {"run", "run nowhere", "run good.vphi --stepz 3", "explain E9999",
        "emit good.vphi --to rust", "bench nowhere", "test nowhere", "report nowhere",
        "fmt nowhere", "new scaler", "rnu good", "doctor --fast", "check good.vphi --latice 8"}) {
    const Outcome o = vphi(words);
    check({words, 1, "error"}, o);
    const Json value = Json::parse(o.out, nullptr, false);
    if (value.is_discarded() || !value.contains("error")) continue;
    EXPECT_EQ(value["error"]["code"], "E0810") << words;
    EXPECT_EQ(value["status"], 1) << words;
  }
  check({"run good.vphi --device abacus", 3, "error"}, vphi("run good.vphi --device abacus"));
}

TEST_F(JsonOutput, IsOneValueWhereTheRunBreaks) {
  const std::string head =
      "model breaks\nlattice ring: 16, length = 16\nfield u: real\ninit u = 3, u' = 0\n"
      "every 1 steps: mean(u) -> \"b.h5\"\n";
  const struct {
    const char *lines, *code;
  } rows[] = {{"u'' = lap(u) + u^5\nevolve leapfrog, dt = 0.1, until = t >= 100\n", "E0801"}};
  for (const auto& row : rows) {
    write("breaks.vphi", head + row.lines);
    const Outcome o = vphi("run breaks.vphi --device native --out b");
    check({row.lines, 1, "error"}, o);
    EXPECT_EQ(Json::parse(o.out, nullptr, false)["error"]["code"], row.code) << o.out;
  }
}

TEST_F(JsonOutput, ManyPlacesAreSummarised) {
  write("many.vphi", R"(model many
sweep path = 1..2000
var x: real
x' = 0*x
init x ~ uniform(0, 1)
evolve rk4, dt = 0.1, until = step >= 2
at end: x, mean(x, over = path) -> "m.h5"
)");
  const Outcome o = vphi("run many.vphi --device native --out m");
  ASSERT_EQ(o.status, 0) << o.error;
  const Json r = Json::parse(o.out);
  EXPECT_EQ(r["axes"][0]["number"], 2000);
  EXPECT_FALSE(r["axes"][0].contains("values"));
  const Json x = r["series"]["x"];
  EXPECT_FALSE(x.contains("values"));
  ASSERT_EQ(x["summary"].size(), 1U);
  const Json row = x["summary"][0];
  EXPECT_EQ(row["places"], 2000);
  EXPECT_EQ(row["missing"], 0);
  // uniform numbers: mean 1/2, deviation 1/sqrt(12), within five standard errors
  EXPECT_NEAR(row["mean"].get<double>(), 0.5, 5 * 0.2887 / std::sqrt(2000.0));
  EXPECT_NEAR(row["deviation"].get<double>(), 0.2887, 0.02);
  EXPECT_LT(o.out.size(), 10000U);
}

}  // namespace
