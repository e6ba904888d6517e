// The vphi command: exit statuses, messages, JSON. Skipped where the command is not built.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/run/command.hpp"
#include "tests/support/places.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

using vphi::test::Outcome;

class Command : public vphi::test::CommandTest {};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Command, HelpAndVersion) {
  EXPECT_EQ(vphi("--help").status, 0);
  EXPECT_TRUE(holds(vphi("--version").out, "vphi "));
  for (const char* verb :
       {"run", "check", "explain", "emit", "bench", "doctor", "fmt", "new", "test"}) {
    const Outcome help = vphi(std::string(verb) + " --help");
    EXPECT_EQ(help.status, 0) << verb;
    EXPECT_TRUE(holds(help.out, "usage: vphi ")) << verb;
  }
}

TEST_F(Command, AStartSaysWhetherItsFileIsMissingOrDamaged) {
  write("start.vphi",
        "model start\nlattice line: 8, spacing = 1, boundary = periodic\nfield u: real\n"
        "u' = lap(u)\ninit u = file(\"u.h5:u\")\nevolve euler, dt = 0.1, until = t > 1\n"
        "at end: max(u) -> \"o.csv\"\n");
  const auto said = [&] { return vphi("run start.vphi --device native").error; };
  EXPECT_TRUE(holds(said(), "u.h5 is not there")) << said();
  write("u.h5", "no HDF5");
  EXPECT_TRUE(holds(said(), "u.h5 is no HDF5 file, or a damaged one")) << said();
}

TEST_F(Command, AFullDiskBehindStandardErrorEndsNoRun) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string words =
      "run wave --lattice 64 --steps 20 --device native --no-report --out full";
  const std::string here = "cd '" + folder_.string() +
                           "' && VPHI_MODELS='" VPHI_SOURCE_DIR "/models' '" VPHI_BINARY_DIR
                           "/vphi' ";
  const auto status = [&](const std::string& command) {
    const int raw = std::system((here + command).c_str());
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  };
  EXPECT_EQ(status(words + " 2>/dev/full >/dev/null"), 0);
  EXPECT_TRUE(fs::exists(folder_ / "full/run.json"));
  EXPECT_EQ(status("check nowhere 2>/dev/full"), 1);
  for (const char* lost : {"help", "emit wave", "explain --reference", "completion bash"}) {
    EXPECT_EQ(status(lost + std::string(" >/dev/full 2>said")), 1) << lost;
    EXPECT_TRUE(holds(text("said"), "standard output cannot be written")) << lost;
  }
}

TEST_F(Command, ASummarySaysThatTheStepWasTooLarge) {
  const auto diffusion = [&](double dt) {
    std::ofstream(folder_ / "heat.vphi")
        << "model heat\nlattice line: 16, spacing = 1, boundary = periodic\nfield u: real\n"
           "u' = lap(u)\ninit u = sin(2*pi*x/16)\nevolve euler, dt = "
        << dt << ", until = t >= 10\nevery 1 steps: max(u) -> \"heat.h5\"\n";
    return vphi("run heat.vphi --device native --no-report").out;
  };
  EXPECT_TRUE(holds(diffusion(0.7), "note: dt is too large for these equations (W0316)"));
  EXPECT_FALSE(holds(diffusion(0.4), "W0316"));
}

TEST_F(Command, MistakesAreStatusOneWithASuggestion) {
  const struct {
    const char *words, *message, *hint;
  } rows[] = {
      {"", "usage", ""},
      {"rnu wave", "no verb `rnu`", "did you mean `vphi run`?"},
      {"wave.vphi", "a verb is missing", "vphi run wave.vphi"},
      {"--device native run wave", "stands before the verb", "vphi run ... --device ..."},
      {"fmt -", "no model file `-`", "/dev/stdin"},
      {"emit wave -o nowhere/x", "nowhere/x cannot be written: No such file", "make its folder"},
      {"new scalar nowhere/x.vphi", "cannot be written: No such file", "make its folder"},
      {"bench wave --device native --steps 0", "--steps 0 leaves nothing", "--steps 100"},
      {"run wave --lattce 64", "no option `--lattce`", "did you mean `--lattice`?"},
      {"run", "needs one argument more", "usage: vphi run"},
      {"run wave wave", "one argument too many", ""},
      {"run wave --steps", "needs a value", ""},
      {"run wave --steps many", "whole number", ""},
      {"run wave --steps -3", "whole number", ""},
      {"run wave --seed 18446744073709551616", "--seed takes", ""},
      {"run wave --precision f16", "`f32` or `f64`", ""},
      {"run wave --set L", "NAME=EXPR", ""},
      {"run wave --steps 3 --steps 4", "--steps is given twice", "leave one of the two out"},
      {"run wave --resume --restart", "--resume and --restart exclude each other",
       "--restart begins again"},
      {"run wave --out=", "--out needs a value: --out DIR", ""},
      {"run wave --set L=2 --set L=3", "`--set L` is given twice", "delete one of the two"},
      {"run wvae", "no model file", "did you mean the shipped model `wave`?"},
      {"run ./nowhere.vphi", "no model file", ""},
      {"emit wave --to fortran", "not `fortran`", ""},
      {"emit wave --after hoits", "no pass `hoits`", "did you mean `hoist`?"},
      {"explain E9999", "no diagnostic E9999", ""},
      {"check /", "is a folder", ""},
      {"run wave --live-port 8080", "`--live-port` changes nothing here", "--live"},
      {"run wave --device native --batch 4", "`--batch` changes nothing here", "no sweep"},
      {"emit wave --target cuda", "`--target` changes nothing here", "--to json"},
      {"emit wave --to latex --after hoist", "`--after` changes nothing here", "kernels"},
      {"emit wave --to json --kernel sweep", "`--kernel` changes nothing here", "not a kernel"},
      {"emit wave --after hoist --main", "`--main` changes nothing here", "not a kernel"},
      {"fmt wave --check --stdout", "`--check` changes nothing here", "no file"},
  };
  for (const auto& row : rows) {
    const Outcome o = vphi(row.words);
    EXPECT_EQ(o.status, 1) << row.words << "\n" << o.error;
    EXPECT_TRUE(holds(o.error + o.out, row.message)) << row.words << "\n" << o.error;
    EXPECT_TRUE(holds(o.error + o.out, row.hint)) << row.words << "\n" << o.error;
  }
}

// A compiler that takes its time.
TEST_F(Command, LongCompilationsSayWhatTheyDo) {
  write("slow", "#!/bin/sh\n[ \"$1\" = --version ] || sleep 1.5\nexec c++ \"$@\"\n");
  fs::permissions(folder_ / "slow", fs::perms::owner_all);
  const std::string run =
      "run wave --device native --steps 2 --no-report --out '" + (folder_ / "out").string() + "'";
  setenv("VPHI_NATIVE_COMPILER", "system", 1);
  setenv("VPHI_CXX", (folder_ / "slow").c_str(), 1);
  const Outcome told = vphi(run), again = vphi(run);
  setenv("VPHI_CACHE", (folder_ / "empty").c_str(), 1);
  const Outcome quiet = vphi(run + " --quiet");
  setenv("VPHI_CACHE", (folder_ / "timed").c_str(), 1);
  const Outcome timed = vphi("bench wave --device native --steps 2 --milliseconds 1");
  setenv("VPHI_CACHE", (folder_ / "tried").c_str(), 1);
  const Outcome tried = vphi("test wave --device native --no-order --steps 2");
  unsetenv("VPHI_CACHE");
  unsetenv("VPHI_NATIVE_COMPILER"), unsetenv("VPHI_CXX");
  EXPECT_EQ(told.status, 0) << told.error;
  EXPECT_TRUE(holds(told.error, "compiling kernels, 0 of ")) << told.error;
  EXPECT_TRUE(holds(told.error, " done: ")) << told.error;
  EXPECT_FALSE(holds(again.error, "compiling")) << again.error;
  EXPECT_FALSE(holds(quiet.error, "compiling")) << quiet.error;
  EXPECT_TRUE(holds(timed.error, "compiling kernels, 0 of ")) << timed.error;
  EXPECT_TRUE(holds(tried.error, "compiling kernels, 0 of ")) << tried.error;
}

// Where steps compute nothing, the work of outputs is timed, with the rounds of their solves.
TEST_F(Command, BenchTimesOutputsWhereStepsComputeNothing) {
  const Outcome idle = vphi("bench yukawa --device native --milliseconds 1");
  EXPECT_EQ(idle.status, 0) << idle.error;
  EXPECT_TRUE(holds(idle.out, "ms for all outputs once")) << idle.out;
  EXPECT_FALSE(holds(idle.out, "ms a step")) << idle.out;
  const Json row = Json::parse(vphi("bench yukawa --device native --milliseconds 1 --json").out);
  EXPECT_EQ(row["timed"], "outputs");
  EXPECT_EQ(row["solves"][0]["rounds_per_step"], 74);  // as docs/solves.md says
  EXPECT_GT(row["limit"]["rounds"], 0.5);
  std::set<std::string> kernels;
  for (const Json& kernel : row["kernels"])
    EXPECT_TRUE(kernels.insert(kernel["name"]).second) << kernel["name"];
  EXPECT_TRUE(kernels.contains("solve_1")) << "kernels of a round";
  const Json steps =
      Json::parse(vphi("bench wave --device native --steps 2 --milliseconds 1 --json").out);
  EXPECT_FALSE(steps.contains("timed"));
}

// Transforms are counted for the limit by one function: what is measured and what is said before
// any run agree.
TEST_F(Command, BenchAndExplainCountTheSameTransforms) {
  const Json timed = Json::parse(
      vphi("bench rolls --lattice 48*40 --device native --steps 2 --milliseconds 1 --json").out);
  const Json told = Json::parse(vphi("explain rolls --lattice 48*40 --device native --json").out);
  const Json& transforms = told["least_time_of_a_step"]["transforms"];
  EXPECT_EQ(timed["transforms"]["arrays"], 6);
  for (const char* name : {"arrays", "passes", "bytes_per_site", "flops_per_site"})
    EXPECT_EQ(timed["transforms"][name], transforms[name]) << name;
  EXPECT_GT(timed["limit"]["transforms"], 0.5);
  EXPECT_LT(timed["limit"]["transforms"], 1);
  const Outcome text = vphi("explain rolls --lattice 48*40 --device native");
  EXPECT_TRUE(holds(text.out, "6 Fourier transforms a step in 12 passes over memory")) << text.out;
  EXPECT_FALSE(holds(vphi("explain wave --device native").out, "passes over memory"));
}

TEST_F(Command, ANumberThatIsNoneHasNoSignInTheSummary) {
  write("roots.vphi",
        "model roots\nvar x: real\nx' = -x\ninit x = 1\nevolve rk4, dt = 0.1, until = t > 1\n"
        "every 1 step: sqrt(x - 0.9), -sqrt(x - 0.9) -> \"roots.csv\"\n"
        "expect sqrt(x - 0.9) < 1\n");
  const Outcome o = vphi("run roots.vphi --device native --no-report");
  EXPECT_TRUE(holds(o.out, "sqrt(x - 0.9) = nan")) << o.out;
  EXPECT_FALSE(holds(o.out, "-nan")) << o.out;
}

TEST_F(Command, AMissingModelIsLookedForBesideWhereItWasWanted) {
  write("ring_a.vphi", "model a\n");
  EXPECT_TRUE(holds(vphi("run ring_a").error, "did you mean `ring_a.vphi`?"));
  EXPECT_TRUE(holds(vphi("run rign_a.vphi").error, "did you mean `ring_a.vphi`?"));
  EXPECT_TRUE(holds(vphi("run ./ring_a").error, "did you mean `./ring_a.vphi`?"));
  const Outcome none = vphi("run zzzzzz");
  EXPECT_TRUE(holds(none.error, "docs/models.md")) << none.error;
}

TEST_F(Command, AStartThatIsNoNumberIsNamedByItsLine) {
  write("root.vphi",
        "model root\nlattice line: 8, length = 8\nfield u: real\npotential V = u^2/2\n"
        "init u = sqrt(x)\nevolve leapfrog, dt = 0.1, until = t > 10\n"
        "every 10 steps: mean(u) -> \"root.h5\"\n");
  const Outcome o = vphi("run root.vphi --device native");
  EXPECT_EQ(o.status, 1) << o.error;
  EXPECT_TRUE(holds(o.error, "is nan in the initial state")) << o.error;
  EXPECT_TRUE(holds(o.error, "(line 5: init u = sqrt(x))")) << o.error;
  EXPECT_FALSE(holds(o.error, "a smaller dt")) << o.error;
}

TEST_F(Command, WordsOfTheLanguageAreExplained) {
  const struct {
    const char *word, *kind, *text;
  } rows[] = {
      {"potential", "potential: clause", "potential V = "},
      {"leapfrog", "leapfrog: integrator", "v = v + dt/2*F(x)"},
      {"iso27", "iso27: stencil", "corners(u)"},
      {"norm2", "norm2: function", "For instance, in "},
      {"shasta", "shasta: scheme", "scheme shasta"},
      {"deltaH", "name that `sample` gives", ""},
      {"until", "option of `evolve`", "until"},
  };
  for (const auto& row : rows) {
    const Outcome o = vphi(std::string("explain ") + row.word);
    EXPECT_EQ(o.status, 0) << row.word << "\n" << o.error;
    EXPECT_TRUE(holds(o.out, row.kind)) << o.out;
    EXPECT_TRUE(holds(o.out, row.text)) << o.out;
    const Json json = Json::parse(vphi(std::string("explain --json ") + row.word).out);
    EXPECT_EQ(json["word"], row.word);
    EXPECT_FALSE(json["entries"].empty());
  }
  EXPECT_TRUE(holds(vphi("explain leapfrgo").error, "did you mean the word `leapfrog`"));
}

TEST_F(Command, VerbsExplainThemselves) {
  const Outcome kinds = vphi("new");
  EXPECT_EQ(kinds.status, 1);
  EXPECT_TRUE(holds(kinds.error, "`gauge`")) << kinds.error;
  EXPECT_EQ(vphi("help run").out, vphi("run --help").out);
  EXPECT_EQ(vphi("version").out, vphi("--version").out);
}

TEST_F(Command, APageIsMadeOfResultsAlone) {
  write("mine.vphi", "model mine\n");
  const Outcome o = vphi("report mine.vphi");
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(holds(o.error, "is not a result file")) << o.error;
  EXPECT_TRUE(text("report.html").empty());
}

TEST_F(Command, ShapesOnTheCommandLineAreNamesOfTheModel) {
  const Outcome name = vphi("check wave --lattice abc");
  EXPECT_TRUE(holds(name.error, "error[E0104]")) << name.error;
  const Outcome other = vphi("check drum --lattice 16x16");
  EXPECT_TRUE(holds(other.error, "write `16*16`")) << other.error;
}

TEST_F(Command, UnknownDeviceIsStatusThree) {
  EXPECT_EQ(vphi("run wave --device abacus").status, 3);
  EXPECT_EQ(vphi("run wave --device native:3").status, 3);
}

TEST_F(Command, BrokenModelIsStatusOne) {
  write("bad.vphi", "model bad\nfield phi: real\nV = ((((\n");
  EXPECT_EQ(vphi("check bad.vphi").status, 1);
  EXPECT_EQ(vphi("run bad.vphi --device native").status, 1);
  const Outcome json = vphi("check bad.vphi --json");
  EXPECT_EQ(json.status, 1);
  const Json list = Json::parse(json.out);
  ASSERT_TRUE(list.is_array() && !list.empty());
  for (const char* key : {"code", "severity", "message", "file", "line", "column", "hint"})
    EXPECT_TRUE(list[0].contains(key)) << key;
  write("binary.vphi", std::string("\0\xff\xfe\x80 model", 10));
  EXPECT_EQ(vphi("check binary.vphi").status, 1);
  write("empty.vphi", "");
  EXPECT_EQ(vphi("check empty.vphi").status, 1);
}

TEST_F(Command, CheckFailsForWhatCannotRunHere) {
  write("later.vphi",
        "model later\nlattice box: 4^3, length = 1, boundary = neumann\nfield phi: real\n"
        "phi'' = lap(phi)\ninit phi ~ spectrum(1/k), phi' = 0\n"
        "evolve leapfrog, dt = 0.01, until = t > 1\nevery 1 step: mean(phi) -> \"later.csv\"\n");
  const Outcome later = vphi("check later.vphi");
  EXPECT_EQ(later.status, 1) << later.out;
  EXPECT_TRUE(holds(later.error, "error[E0901]")) << later.error;
  const Outcome large = vphi("check preheating --lattice 4096^3");
  EXPECT_EQ(large.status, 1) << large.out;
  EXPECT_TRUE(holds(large.error, "error[E0802]")) << large.error;
  EXPECT_TRUE(holds(large.error, "fits: --lattice")) << large.error;
  EXPECT_TRUE(holds(vphi("check preheating --lattice 4096^3 --json").out, "E0802"));
}

TEST_F(Command, ARunWithoutAnEndIsSaidToHaveNone) {
  const std::string text =
      "model on\nvar x: real\nx' = -x\ninit x = 1\nevolve euler, dt = 0.1\n"
      "every 5 steps: x -> \"on.h5\"\n";
  write("on.vphi", text);
  const Outcome o = vphi("check on.vphi");
  EXPECT_EQ(o.status, 0) << o.error;
  EXPECT_TRUE(holds(o.out, "end      none")) << o.out;
  EXPECT_FALSE(holds(vphi("check on.vphi --steps 5").out, "end      none"));
  EXPECT_FALSE(holds(vphi("check on.vphi --until 't > 3'").out, "end      none"));
  EXPECT_FALSE(holds(vphi("check wave").out, "end      none"));
}

TEST_F(Command, AnOutputThatNeverBeginsIsSaid) {
  const auto ran = [&](const char* after) {
    std::ofstream(folder_ / "late.vphi")
        << "model late\nlattice line: 16, spacing = 1, boundary = periodic\nfield u: real\n"
           "u' = lap(u)\ninit u = 1\nevolve euler, dt = 0.1, until = t >= 1\n"
           "every 2 steps, after = t > "
        << after << ": mean(u) -> \"late.h5\"\nevery 3 steps, after = t > " << after
        << ": profile(u, along = x) -> \"late.h5\"\nevery 1 step: max(u) -> \"all.h5\"\n";
    return vphi("run late.vphi --device native --no-report").out;
  };
  const std::string never = ran("100"), later = ran("0.5");
  for (const char* name : {"mean(u)", "profile(u)"})
    EXPECT_TRUE(
        holds(never, "`" + std::string(name) + "` was not written: its `after` held at none"))
        << never;
  EXPECT_FALSE(holds(never, "`max(u)`"));
  EXPECT_FALSE(holds(later, "was not written")) << later;
}

TEST_F(Command, ASeedOfNothingIsSaid) {
  EXPECT_TRUE(holds(vphi("check wave --seed 7").error, "warning[W0799]"));
  EXPECT_FALSE(holds(vphi("check preheating --seed 7").error, "W0799"));
}

TEST_F(Command, EveryCodeHasAPage) {
  for (const char* code : {"E0104", "E0301", "E0523", "E0749", "E0801", "e0901", "W0602"}) {
    const Outcome o = vphi(std::string("explain ") + code);
    EXPECT_EQ(o.status, 0) << code << o.error;
    EXPECT_GT(o.out.size(), 40U) << code;
  }
}

TEST_F(Command, NanNamesTheModelLine) {
  // unbounded from below: u rolls off to infinity in a finite time
  write("runaway.vphi",
        "model runaway\nlattice box: 16, length = 16\nfield u: real\npotential V = -u^4\n"
        "init u = 3\nevolve leapfrog, dt = 0.01, until = t > 10\n"
        "every 10 steps: mean(u) -> \"r.h5\"\n");
  const Outcome o = vphi("run runaway.vphi --device native --quiet --out r");
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(holds(o.error, "E0801")) << o.error;
  EXPECT_TRUE(holds(o.error, "potential V")) << o.error;
}

TEST_F(Command, ABrokenRunIsJsonToo) {
  write("runaway.vphi",
        "model runaway\nlattice box: 16, length = 16\nfield u: real\npotential V = -u^4\n"
        "init u = 3\nevolve leapfrog, dt = 0.01, until = t > 10\n"
        "every 10 steps: mean(u) -> \"r.h5\"\n");
  const Outcome o = vphi("run runaway.vphi --device native --quiet --json --out r");
  EXPECT_EQ(o.status, 1);
  const Json r = Json::parse(o.out);
  EXPECT_FALSE(r["ok"].get<bool>());
  EXPECT_EQ(r["error"]["code"], "E0801");
  bool named = false;
  for (const auto& line : r["error"]["cause"])
    named = named || holds(line.get<std::string>(), "from 4*u^3");
  EXPECT_TRUE(named) << o.out;
}

TEST_F(Command, AnEnergyWithoutAValueIsNoRunaway) {
  write("well.vphi",
        "model well\nlattice box: 16, length = 16\nfield u: real\npotential V = log(u - 5)\n"
        "init u = 3 + 0.1*sin(2*pi*x/16), u' = 0\nevolve leapfrog, dt = 0.01, until = t > 1\n"
        "every 10 steps: mean(u) -> \"w.h5\"\n");
  const Outcome o = vphi("run well.vphi --device native --quiet --out w");
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(holds(o.error, "E0806")) << o.error;
  EXPECT_TRUE(holds(o.error, "is nan at the start")) << o.error;
  EXPECT_FALSE(holds(o.error, "-nan")) << o.error;
  EXPECT_FALSE(holds(o.error, "smaller dt")) << o.error;
}

TEST_F(Command, TooLargeALatticeNamesTheLargest) {
  const Outcome o = vphi("run preheating --lattice 8192^3 --device native");
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(holds(o.error, "E0802")) << o.error;
  EXPECT_TRUE(holds(o.error, "--lattice '")) << o.error;
}

TEST_F(Command, CheckOfAShippedModel) {
  const Outcome o = vphi("check wave");
  EXPECT_EQ(o.status, 0) << o.error;
  EXPECT_TRUE(holds(o.out, "memory"));
  const Outcome json = vphi("check wave --json");
  EXPECT_EQ(json.status, 0);
  EXPECT_TRUE(Json::parse(json.out).is_array());
}

TEST_F(Command, RunWritesJsonAndFiles) {
  const Outcome o = vphi("run wave --device native --steps 128 --json --quiet --out here");
  ASSERT_EQ(o.status, 0) << o.error;
  const Json r = Json::parse(o.out);
  for (const char* key :
       {"model", "device", "steps", "time", "scalars", "series", "expect", "performance"})
    EXPECT_TRUE(r.contains(key)) << key;
  EXPECT_TRUE(r["ok"].get<bool>());
  EXPECT_EQ(r["model"], "wave");
  EXPECT_EQ(r["steps"], 128);
  EXPECT_NEAR(r["time"].get<double>(), 128 * 0.5 / 256, 1e-12);
  for (const char* key : {"seconds", "site_updates_per_s", "bytes_per_site", "fraction_of_copy"})
    EXPECT_TRUE(r["performance"][key].is_number()) << key;
  ASSERT_EQ(r["expect"].size(), 1U);
  EXPECT_TRUE(r["expect"][0]["ok"].get<bool>());
  const auto& series = r["series"]["mean(u^2)"];
  ASSERT_EQ(series.size(), 3U);  // steps 0, 64, 128
  EXPECT_NEAR(series[0][1].get<double>(), 0.5, 1e-12);
  EXPECT_EQ(r["scalars"]["mean(u^2)"], series[2][1]);
  EXPECT_FALSE(fs::is_empty(folder_ / "here"));
  EXPECT_FALSE(fs::exists(folder_ / "results"));
}

// Averages along a parameter are a table of the summary.
TEST_F(Command, ResultsAtTheEndAreATable) {
  const std::string model = R"(model ends
sweep m2 = [1, 2, 4]
sweep path = 1..50
var x: real
x' = -m2*x + noise
init x = 0
evolve srk2, dt = 0.05, until = t > 5
at end: M = mean(x^2, over = path), twice = mean(2*m2, over = path) -> "ends.h5"
)";
  write("ends.vphi", model);
  const Outcome table = vphi("run ends.vphi --device native");
  EXPECT_EQ(table.status, 0) << table.error;
  EXPECT_NE(table.out.find("  M at the end, along m2:\n    1            0."), std::string::npos)
      << table.out;
  EXPECT_NE(table.out.find("  twice at the end, along m2:\n    1            2"), std::string::npos)
      << table.out;
  EXPECT_NE(table.out.find(" +- "), std::string::npos);
  write("ends.vphi", model + "plot mean(x^2, over = path) against m2\n");
  const Outcome curve = vphi("run ends.vphi --device native");
  EXPECT_EQ(curve.status, 0) << curve.error;
  EXPECT_NE(curve.out.find(" against m2:"), std::string::npos) << curve.out;
}

TEST_F(Command, SeedsRepeat) {
  const std::string words =
      "run preheating --device native --lattice 16^3 --steps 8 --json --quiet --seed ";
  const auto scalars = [&](const std::string& seed) {
    const Outcome o = vphi(words + seed + " --out r" + seed);
    EXPECT_EQ(o.status, 0) << o.error;
    return o.status == 0 ? Json::parse(o.out)["scalars"] : Json();
  };
  const Json a = scalars("5");
  EXPECT_EQ(a, scalars("5"));
  EXPECT_NE(a, scalars("6"));
}

TEST_F(Command, FailedExpectationIsStatusTwo) {
  std::string model;
  {
    std::ostringstream all;
    all << std::ifstream(VPHI_SOURCE_DIR "/models/teaching/wave.vphi").rdbuf();
    model = all.str();
  }
  write("mine.vphi", model + "expect mean(u^2) > 1\n");
  const Outcome o = vphi("run mine.vphi --device native --steps 64 --json --quiet");
  EXPECT_EQ(o.status, 2) << o.error;
  const Json r = Json::parse(o.out);
  EXPECT_FALSE(r["expect"].back()["ok"].get<bool>());
}

TEST_F(Command, EmitForEveryTarget) {
  for (const char* to : {"cuda", "opencl", "native"}) {
    const Outcome o = vphi(std::string("emit wave --to ") + to);
    EXPECT_EQ(o.status, 0) << to << o.error;
    EXPECT_TRUE(holds(o.out, "// kernel ")) << to;
  }
  EXPECT_TRUE(holds(vphi("emit wave --to latex").out, "\\"));
  const Json program = Json::parse(vphi("emit wave --to json").out);
  EXPECT_EQ(program["model"], "wave");
  EXPECT_EQ(vphi("emit wave --to cuda -o wave.cu").status, 0);
  EXPECT_TRUE(holds(text("wave.cu"), "__global__"));
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// Names, the model's lines, what numbers are, and what kernels share once: the same machine code.
TEST_F(Command, EmittedKernelsCanBeRead) {
  const Outcome o = vphi("emit wave --to native");
  EXPECT_TRUE(holds(o.out, "  vphi_slot_t = 0,  // t\n")) << o.out;
  EXPECT_TRUE(holds(o.out, "before.step_s = scalars[vphi_slot_step];"));
  EXPECT_EQ(o.out.find("scalars[2]"), std::string::npos);
  EXPECT_TRUE(holds(o.out, "// stores u'; line 10: u'' = lap(u)\n"));
  EXPECT_TRUE(holds(o.out, "65536.0 is 1/dx^2"));
  EXPECT_EQ(count(o.out, "typedef long vphi_index;"), 1);
  EXPECT_EQ(count(o.out, "\n\n\n"), 0);
  write("all.cpp", o.out);
  const auto code = [&](const std::string& name) {
    const std::string at = (folder_ / name).string();
    EXPECT_EQ(
        std::system(("g++ -std=c++20 -O1 -S -fno-ident -w -o '" + at + ".s' '" + at + "'").c_str()),
        0);
    const std::string all = text(name + ".s");
    return all.substr(all.find('\n'));  // behind the name of the file
  };
  code("all.cpp");
  write("read.cpp", vphi("emit wave --to native --kernel sweep").out);
  const Json kernels = Json::parse(vphi("emit wave --to native --kernel sweep --json").out);
  write("compiled.cpp", kernels["kernels"][0]["source"].get<std::string>());
  EXPECT_EQ(code("read.cpp"), code("compiled.cpp"));
  EXPECT_TRUE(holds(vphi("emit fput --to latex").out, "the value at the next site along $x$"));
}

TEST_F(Command, StandAloneSourceRuns) {
  ASSERT_EQ(vphi("emit wave --to native --main -o wave.cpp").status, 0);
  const std::string at = folder_.string();
  ASSERT_EQ(std::system(("g++ -O1 -o " + at + "/wave " + at + "/wave.cpp").c_str()), 0);
  EXPECT_EQ(std::system((at + "/wave >/dev/null").c_str()), 0);
}

// Every starter is in style, and runs as it stands until its promises are met.
TEST_F(Command, StartersRun) {
  int kinds = 0;
  for (const auto& entry : fs::directory_iterator(VPHI_SOURCE_DIR "/tools/starters")) {
    const std::string kind = entry.path().stem().string(), name = "my_" + kind;
    ASSERT_EQ(vphi("new " + kind + " " + name).status, 0);
    EXPECT_EQ(vphi("fmt --check " + name + ".vphi").status, 0) << kind << " is not in style";
    const std::string small = kind == "expanding" ? " --lattice 16^3" : "";
    const Outcome o = vphi("run " + name + ".vphi --device native" + small);
    EXPECT_EQ(o.status, 0) << kind << o.error;
    EXPECT_TRUE(holds(o.out, "ok (")) << kind << o.out;
    EXPECT_TRUE(fs::exists(folder_ / "results" / name)) << kind;
    EXPECT_EQ(text(name + ".vphi").find(kind + ".h5"), text(name + ".vphi").find(name + ".h5") + 3);
    EXPECT_EQ(vphi("new " + kind + " " + name).status, 1) << "an existing file was overwritten";
    EXPECT_TRUE(holds(vphi("new --help").out, "  " + kind)) << kind;
    ++kinds;
  }
  EXPECT_GE(kinds, 7);
  EXPECT_EQ(vphi("new wave 'bad name'").status, 1);
  EXPECT_TRUE(holds(vphi("new scaler").error, "did you mean `vphi new scalar`?"));
}

TEST_F(Command, FormatIsIdempotentAndKeepsBrokenFiles) {
  write("a.vphi", "model   a\nparam   m=1\nfield phi :real\npotential V=m^2*phi^2/2\n");
  EXPECT_EQ(vphi("fmt --check a.vphi").status, 1);
  EXPECT_EQ(vphi("fmt a.vphi").status, 0);
  EXPECT_EQ(vphi("fmt --check a.vphi").status, 0);
  write("b.vphi", "model b\nx = ((\n");
  EXPECT_EQ(vphi("fmt b.vphi").status, 1);
  EXPECT_EQ(text("b.vphi"), "model b\nx = ((\n");
}

TEST_F(Command, DoctorNamesTheProcessor) {
  const Outcome o = vphi("doctor");
  EXPECT_EQ(o.status, 0) << o.out << o.error;
  EXPECT_TRUE(holds(o.out, "native"));
  EXPECT_TRUE(holds(o.out, "self-test ok"));
  EXPECT_TRUE(holds(o.out, "VPHI_CACHE_MB"));
}

TEST_F(Command, DoctorAsOneObject) {
  const Outcome o = vphi("doctor --json");
  EXPECT_EQ(o.status, 0) << o.error;
  const auto found = nlohmann::json::parse(o.out);
  bool native = false;
  for (const auto& device : found["devices"])
    native = native || (device["id"] == "native" && device["ok"] == true);
  EXPECT_TRUE(native) << o.out;
  EXPECT_EQ(found["cache"]["limit"], 512000000);
  EXPECT_GE(found["cache"]["entries"], 1);
  EXPECT_TRUE(found["libraries"].contains("fft_host"));
}

}  // namespace
