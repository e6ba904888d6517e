// Surfaces of a batch: the elements of each event are those that it has alone, with its own steps
// and its own end, on each device, in parts, in files, and where the run is cut in two.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "runtime/run/onlooker.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// Fireballs that cool the later the hotter they are. {}: outputs.
std::string fireballs(const std::string& outputs) {
  return R"(model fireballs "Fireballs that cool"
units fm
sweep event = [0, 2, 5]
lattice plane: 20^2, spacing = 0.4 [fm], boundary = outflow
metric scale(1, 1, t), energy = E
primitive eps: real, v: vec(2)
p(eps) = eps/3
W = 1/sqrt(1 - norm2(v))
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
recover {
  u   = norm(M)/(E + p)
  eps = E - norm(M)*u
  v   = M/(E + p)
  solve u by fixed_point, tol = 1e-12, max = 40, start = 0
}
scheme kt_primitive, speed = 1, theta = 1.8
evolve heun, dt = 0.1*dx, until = max(eps) < 1
init t = 0.6 [fm], eps = (3 + event)*exp(-(x^2 + 1.5*y^2)/(4 [fm^2])) + 1e-3, v = 0
precision real = f64
)" + outputs;
}

const char* const kInTime =
    "every 5 steps: surface(eps, level = 1 [fm^-4], carry = v, time = on) -> \"f.h5\"\n";

std::string music(const std::string& word = "music",
                  const std::string& more = ", eps = eps, p = p") {
  return fmt::format(
      "every 5 steps: gold = surface(eps, level = 1 [fm^-4], time = on) -> {}(\"gold\", T = "
      "eps^(1/4), v "
      "= "
      "v{})\n",
      word, more);
}

/// The tables of a run, by name and step; may end it early.
class Elements : public runtime::Onlooker {
 public:
  explicit Elements(std::int64_t stop_at = -1) : stop_at_(stop_at) {}
  bool attending() const override { return true; }
  void scalars(std::span<const std::string>, const io::Moment&, std::span<const double>) override {}
  void table(const io::Table& table, const io::Moment& at) override {
    if (table.group() != "surfaces") return;
    EXPECT_TRUE(all[table.name].emplace(at.step, table.values).second) << table.name << at.step;
  }
  void checks(const std::vector<runtime::ExpectationResult>&) override {}
  runtime::Wish between(const runtime::Progress& now) override {
    return stop_at_ >= 0 && now.step >= stop_at_ ? runtime::Wish::Stop : runtime::Wish::GoOn;
  }
  /// Those of one name.
  const std::map<std::int64_t, std::vector<double>>& of(const std::string& name) {
    return all[name];
  }

  std::map<std::string, std::map<std::int64_t, std::vector<double>>> all;

 private:
  std::int64_t stop_at_;
};

Elements elements(const std::string& text, testing::Simulation setup = {},
                  runtime::RunOptions options = {}) {
  Elements found;
  options.onlooker = &found;
  options.batch = setup.batch;
  const Compilation compiled = testing::compile_text(text, setup);
  const auto result = runtime::run(*compiled.program, *testing::device(setup.device), options);
  EXPECT_TRUE(result.failures.empty());
  return found;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string of_event(int event) { return fmt::format("surface(eps), event = {}", event); }

TEST(SweptSurfaces, EachEventHasTheElementsThatItHasAlone) {
  for (const char* device : {"native", "opencl"}) {
    if (!testing::device(device)) continue;
    SCOPED_TRACE(device);
    testing::Simulation setup;
    setup.device = device;
    Elements batch = elements(fireballs(kInTime), setup);
    std::vector<std::int64_t> ends;
    for (const int event : {0, 2, 5}) {
      setup.set = {{"event", std::to_string(event)}};
      Elements alone = elements(fireballs(kInTime), setup);
      EXPECT_EQ(batch.of(of_event(event)), alone.of("surface(eps)")) << event;
      ends.push_back(batch.of(of_event(event)).rbegin()->first);
      EXPECT_FALSE(batch.of(of_event(event)).begin()->second.empty());
    }
    // each ends by itself, one of them between two outputs
    EXPECT_LT(ends[0], ends[1]);
    EXPECT_LT(ends[1], ends[2]);
    EXPECT_TRUE(ends[0] % 5 != 0 || ends[1] % 5 != 0 || ends[2] % 5 != 0);
    EXPECT_EQ(batch.all.size(), 3u);
    setup.set = {};
    setup.batch = 2;
    EXPECT_EQ(elements(fireballs(kInTime), setup).all, batch.all);
  }
}

TEST(SweptSurfaces, AtItsStepsAnEventThatHasEndedHasNone) {
  const std::string outputs =
      "every 5 steps: t, surface(eps, level = 0.9*max(eps)) -> \"f.h5\"\n"
      "at end: left = surface(eps, level = 0.5 [fm^-4]) -> \"g.h5\"\n";
  testing::Simulation setup;
  Elements batch = elements(fireballs(outputs), setup);
  for (const int event : {0, 5}) {
    setup.set = {{"event", std::to_string(event)}};
    Elements alone = elements(fireballs(outputs), setup);
    EXPECT_EQ(batch.of(of_event(event)), alone.of("surface(eps)")) << event;
    EXPECT_EQ(batch.of(fmt::format("left, event = {}", event)), alone.of("left")) << event;
  }
}

TEST(SweptSurfaces, EachEventHasAFileOfEachFormat) {
  for (const auto& [word, more] :
       {std::pair{"music", ", eps = eps, p = p"}, std::pair{"vhlle", ""}}) {
    const testing::ScratchFolder batch, alone, parts;
    runtime::RunOptions options;
    options.out = batch.path().string();
    elements(fireballs(music(word, more)), {}, options);
    testing::Simulation setup;
    setup.batch = 1;
    options.out = parts.path().string();
    elements(fireballs(music(word, more)), setup, options);
    setup.set = {{"event", "2"}};
    options.out = alone.path().string();
    elements(fireballs(music(word, more)), setup, options);
    const std::string one = bytes_of(alone / fmt::format("gold.{}", word));
    EXPECT_GT(one.size(), 10000u);
    EXPECT_EQ(bytes_of(batch / fmt::format("gold_event=2.{}", word)), one);
    for (const int event : {0, 2, 5}) {
      const std::string name = fmt::format("gold_event={}.{}", event, word);
      EXPECT_EQ(bytes_of(batch / name), bytes_of(parts / name)) << name;
    }
    EXPECT_FALSE(std::filesystem::exists(batch / fmt::format("gold.{}", word)));
  }
}

/// Cut in the middle of an interval, after the first event has ended; the second part runs in one
/// batch or goes on with the part that was cut.
TEST(SweptSurfaces, ARunCutInTwoHasTheSameElementsAndFiles) {
  const std::string text = fireballs(std::string(kInTime) + music());
  const Compilation compiled = testing::compile_text(text, {});
  for (const std::int64_t batch : {0, 2}) {
    SCOPED_TRACE(batch);
    const testing::ScratchFolder whole_folder, cut_folder;
    const auto run = [&](Elements& found, runtime::RunOptions options) {
      options.onlooker = &found;
      options.batch = batch;
      return runtime::run(*compiled.program, *testing::device("native"), options);
    };
    runtime::RunOptions options;
    options.out = whole_folder.path().string();
    Elements whole, first(18), second;
    run(whole, options);
    options.out = cut_folder.path().string();
    options.keep.on = true;
    options.keep.every_steps = 3;
    ASSERT_TRUE(run(first, options).interrupted);
    options.resume =
        runtime::find_checkpoint(std::filesystem::path(options.out), compiled.program->model)
            .reader;
    run(second, options);
    for (const auto& [name, tables] : second.all)
      for (const auto& [step, rows] : tables)
        EXPECT_EQ(rows, whole.all[name][step]) << name << step;
    EXPECT_EQ(second.of(of_event(2)).rbegin()->first, whole.of(of_event(2)).rbegin()->first);
    for (const int event : {0, 2, 5}) {
      const std::string name = fmt::format("gold_event={}.music", event);
      EXPECT_EQ(bytes_of(cut_folder / name), bytes_of(whole_folder / name)) << name;
    }
  }
}

}  // namespace
}  // namespace vphi
