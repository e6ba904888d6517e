// Program files: the file of `vphi emit --to program` runs as the model does, and changed files are
// refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/run/command.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using vphi::test::Outcome;

class Portable : public vphi::test::CommandTest {
 protected:
  /// Results of a run as --json gives them, without its speed and the places of its files.
  Json results(const std::string& words, int status = 0) {
    const Outcome o = vphi("run " + words + " --json --no-report");
    EXPECT_EQ(o.status, status) << words << "\n" << o.error;
    Json all = Json::parse(o.out, nullptr, false);
    EXPECT_FALSE(all.is_discarded()) << o.out;
    all.erase("performance");
    all.erase("files");
    return all;
  }
  /// Fails unless the command refuses with these parts in its message.
  void refused(const std::string& words, const std::string& code, const std::string& part,
               const std::string& way_out) {
    const Outcome o = vphi(words);
    EXPECT_EQ(o.status, 1) << words;
    for (const std::string& wanted : {code, part, way_out})
      EXPECT_NE(o.error.find(wanted), std::string::npos) << words << "\n" << o.error;
  }
};

struct Family {
  const char* name;
  const char* model;  ///< empty: a shipped one
};

const char* const kField = R"(
model field "A field in a box, from random values"
lattice box: 16^2, spacing = 0.5
field phi: real
potential V = phi^4/4
init phi ~ normal(0, 1), phi' = 0
evolve leapfrog, dt = 0.05, until = t > 2
every 10 steps: mean(phi), var(phi), energies -> "field.h5"
)";
const char* const kNoise = R"(
model noise "Paths with noise, averaged"
param theta = 1
sweep path = 1..50
var x: real
x' = -theta*x + noise
init x = 0
evolve srk2, dt = 0.1, until = t > 2
every 5 steps: mean(x, over = path), var(x, over = path) -> "noise.h5"
)";
const char* const kGauge = R"(
model links "SU(2) in two dimensions"
param beta = 4
lattice grid: 8^2
gauge U: SU(2)
P[mu,nu] = loop(mu, nu, -mu, -nu)
plaquette = mean(re(tr(P[mu,nu]))/2, mu < nu)
action S = beta/2*sum(2 - re(tr(P[mu,nu])), mu < nu)
sample heatbath, sweeps = 20, overrelax = 1
init U ~ hot
every 5 sweeps: plaquette -> "links.h5"
)";
const char* const kParticles = R"(
model phases "Globally coupled noisy phases"
param K = 4, T = 1, N = 64
particles osc: N
var x[i]: angle
x[i]' = K/N*sum(sin(x[j] - x[i]), j) + sqrt(2*T)*noise[i]
init x ~ uniform(0, 2*pi)
evolve euler_maruyama, dt = 0.01, until = t > 0.5
every 10 steps: abs(mean(exp(1i*x))) -> "phases.h5"
)";

TEST_F(Portable, FourFamiliesGiveTheBitsOfTheModel) {
  for (const auto& [name, text] : {Family{"field", kField}, Family{"noise", kNoise},
                                   Family{"links", kGauge}, Family{"phases", kParticles}}) {
    const std::string model = std::string(name) + ".vphi", file = std::string(name) + ".json";
    write(model, text);
    const Json direct = results(model + " --device native --seed 7 --out direct_" + name);
    const Outcome made = vphi("emit " + model + " --to program --seed 7 -o " + file);
    ASSERT_EQ(made.status, 0) << made.error;
    fs::remove(folder_ / model);  // the program is all that a run needs
    const Json there = results(file + " --out there_" + name);
    EXPECT_EQ(direct, there) << name;
    EXPECT_FALSE(there.value("series", Json::object()).empty()) << name;
  }
}

TEST_F(Portable, WhatIsNoProgramForHereIsRefused) {
  write("field.vphi", kField);
  ASSERT_EQ(vphi("emit field.vphi --to program -o field.json").status, 0);
  const std::string good = text("field.json");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    const auto at = bad.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write("bad.json", bad.replace(at, from.size(), to));
  };
  changed("\"vphi_portable\": 1", "\"vphi_portable\": 99");
  refused("run bad.json", "E0840", "format 99", "--to program");
  changed("\"dt\": 0", "\"dt\": 1");
  refused("run bad.json", "E0840", "checksum is wrong", "--to program");
  write("bad.json", good.substr(0, good.size() / 2));
  refused("run bad.json", "E0840", "not JSON", "--to program");
  ASSERT_EQ(vphi("emit field.vphi --to json -o bad.json").status, 0);
  refused("run bad.json", "E0840", "not one to run", "--to program");
  for (const char* option : {"--set g=2", "--lattice 8^2", "--steps 3", "--until 't > 1'",
                             "--precision f32", "--seed 2", "--batch 2"})
    refused(std::string("run field.json ") + option, "E0810", "compiled already",
            "--to program --");
  refused("run field.json --error-check", "E0810", "compiled already", "run MODEL --error-check");
  refused("run field.json --device cuda", "E0803", "made for native, not for cuda",
          "--device cuda");
  ASSERT_EQ(vphi("emit field.vphi --to program --target cuda -o cuda.json").status, 0);
  refused("run cuda.json --device native", "E0803", "made for cuda", "--device native");
}

TEST_F(Portable, FilesThatItReadsMoveWithItAndAreAskedFor) {
  write("start.txt", "0.5\n1\n0.25\n-1\n");
  write("read.vphi", R"(
model read "A field that starts from a file"
lattice line: 4, spacing = 1
field phi: real
potential V = phi^2/2
init phi = file("start.txt"), phi' = 0
evolve leapfrog, dt = 0.1, until = t > 1
every 5 steps: mean(phi) -> "read.h5"
)");
  const Json direct = results("read.vphi --device native --out direct");
  ASSERT_EQ(vphi("emit read.vphi --to program -o read.json").status, 0);
  fs::create_directory(folder_ / "other");
  fs::rename(folder_ / "read.json", folder_ / "other" / "read.json");
  refused("run other/read.json", "E0841", "start.txt, which is not here", "--to program");
  fs::rename(folder_ / "start.txt", folder_ / "other" / "start.txt");
  EXPECT_EQ(results("other/read.json --out there"), direct);
}

TEST_F(Portable, AnInterruptedRunGoesOn) {
  write("field.vphi", kField);
  ASSERT_EQ(vphi("emit field.vphi --to program --steps 20 -o short.json").status, 0);
  ASSERT_EQ(vphi("emit field.vphi --to program --steps 40 -o long.json").status, 0);
  const Json whole = results("long.json --out whole");
  ASSERT_EQ(vphi("run short.json --quiet --checkpoint-every '10 steps' --out parts").status, 0);
  Json rest = results("long.json --resume --out parts");
  EXPECT_EQ(rest["resumed_from"], 20);
  EXPECT_EQ(rest["series"], whole["series"]);
}

TEST_F(Portable, TheAuditIsATableWithARowForEachKernel) {
  const Outcome o = vphi("explain --audit wave");
  if (o.status == 1 && o.error.find("not audited") != std::string::npos) GTEST_SKIP() << o.error;
  ASSERT_EQ(o.status, 0) << o.error;
  EXPECT_NE(o.out.find("5 of 5 kernels proved branch-free"), std::string::npos) << o.out;
  const Json program = Json::parse(vphi("emit wave --to json --target cuda").out);
  const Json audit = Json::parse(vphi("explain --audit wave --target cuda --json").out);
  ASSERT_EQ(audit["kernels"].size(), program["kernels"].size());
  for (std::size_t i = 0; i < audit["kernels"].size(); ++i) {
    const Json& row = audit["kernels"][i];
    EXPECT_EQ(row["name"], program["kernels"][i]["name"]);
    EXPECT_TRUE(row["branch_free"].get<bool>());
    if (row["name"] != "sweep") continue;
    // u'' = c^2 lap(u): one sum of neighbours, two numbers of the site, a product and a sum each
    EXPECT_TRUE(row["site"].get<bool>());
    EXPECT_EQ(row["loads"], 3);
    EXPECT_EQ(row["stores"], 2);
    EXPECT_EQ(row["flops"], 4);
  }
}

}  // namespace
