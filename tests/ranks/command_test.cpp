// Ranks on the command line: what is taken, what is refused, and who says so.
#include "tests/run/command.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "runtime/io/field_file.hpp"

namespace vphi {
namespace {

constexpr const char* kTenPaths = R"(model paths "Ten paths"
sweep path = 1..10
var x: real
x' = -x + noise
init x = 1
evolve euler_maruyama, dt = 0.01, until = t > 1
every 10 steps: x, mean(x, over = path) -> "paths.csv"
)";

class RanksCommand : public test::CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("paths.vphi", kTenPaths);
    write("one.vphi",
          "model one \"One path\"\nvar x: real\nx' = -x\ninit x = 1\n"
          "evolve euler, dt = 0.01, until = t > 1\nevery 10 steps: x -> \"one.csv\"\n");
  }

  /// The tables of two runs, of which there are at least so many.
  void expect_same_tables(const std::string& one, const std::string& other, std::size_t least) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / one)) {
      if (entry.path().extension() != ".csv") continue;
      const std::string name = "/" + entry.path().filename().string();
      EXPECT_EQ(text(one + name), text(other + name)) << name;
      ++files;
    }
    EXPECT_GE(files, least);
  }
};

TEST_F(RanksCommand, FilesAndSeriesAreThoseOfOneRank) {
  const auto one = vphi("run paths.vphi --device native --json --out one");
  ASSERT_EQ(one.status, 0) << one.error;
  const auto three = vphi("run paths.vphi --device native --ranks 3 --json --out three");
  ASSERT_EQ(three.status, 0) << three.error;
  for (const char* file : {"paths.series.csv", "paths.series2.csv"}) {
    EXPECT_EQ(text(std::string("one/") + file), text(std::string("three/") + file));
    EXPECT_GT(text(std::string("one/") + file).size(), 300u) << file;
  }
  const auto a = nlohmann::json::parse(one.out), b = nlohmann::json::parse(three.out);
  EXPECT_EQ(a["series"], b["series"]);
  EXPECT_FALSE(a.contains("ranks"));
  ASSERT_EQ(b["ranks"].size(), 3u);
  EXPECT_EQ(b["ranks"][0]["instances"], 3);
  EXPECT_EQ(b["ranks"][2]["instances"], 4);
  const std::string page = text("three/report.html");
  EXPECT_NE(page.find("id=\"ranks\""), std::string::npos);
  EXPECT_EQ(text("one/report.html").find("id=\"ranks\""), std::string::npos);
}

TEST_F(RanksCommand, GoesOnWithAnotherNumberOfRanks) {
  ASSERT_EQ(vphi("run paths.vphi --device native --quiet --out whole").status, 0);
  const auto first = vphi(
      "run paths.vphi --device native --ranks 4 --quiet --out cut --steps 50 --checkpoint-every "
      "'25 steps'");
  ASSERT_EQ(first.status, 0) << first.error;
  const auto then =
      vphi("run paths.vphi --device native --ranks 2 --quiet --resume=cut --steps 101 --out cut");
  ASSERT_EQ(then.status, 0) << then.error;
  EXPECT_EQ(text("whole/paths.series.csv"), text("cut/paths.series.csv"));
  EXPECT_GT(text("whole/paths.series.csv").size(), 300u);
}

/// The arrays of the linear system live from the launch that starts it to its end, which is more
/// than one launch where ranks add up sums.
TEST_F(RanksCommand, AStartThatASolveChangesHasTheBitsOfOneRank) {
  write("gluons.vphi", R"(model gluons "Electric fields about hot links"
lattice box: 4 * 6, spacing = 1
gauge U: SU(2), E: su(2)
P = loop(x, y, -x, -y)
H = total(sum(norm2(E[i]), i) + 2*(2 - re(tr(P))))
init U ~ hot, E ~ normal, gauss = 0
precision real = f64
evolve leapfrog, dt = 0.05, until = t > 0.22
every 1 step: H, max(abs(gauss)) -> "gluons.csv"
expect max(abs(gauss)) < 1e-12
)");
  for (const char* ranks : {"1", "2"}) {
    const auto run = vphi("run gluons.vphi --device native --quiet --ranks " + std::string(ranks) +
                          " --out r" + ranks);
    ASSERT_EQ(run.status, 0) << ranks << run.error;
  }
  expect_same_tables("r1", "r2", 1);
}

TEST_F(RanksCommand, OneInstanceIsRefusedWithItsLine) {
  for (const char* verb : {"run one.vphi --device native", "check one.vphi"}) {
    const auto refused = vphi(std::string(verb) + " --ranks 2");
    EXPECT_EQ(refused.status, 1);
    EXPECT_NE(refused.error.find("error[E0860]: 2 ranks share the instances of a sweep, or sites, "
                                 "and this model has one instance of a single site"),
              std::string::npos)
        << refused.error;
    EXPECT_NE(refused.error.find("one.vphi:1:1"), std::string::npos) << refused.error;
    EXPECT_NE(refused.error.find("sweep draw = 1..2"), std::string::npos) << refused.error;
  }
}

TEST_F(RanksCommand, MoreRanksThanInstancesAreRefused) {
  const auto many = vphi("run paths.vphi --device native --ranks 11");
  EXPECT_EQ(many.status, 1);
  EXPECT_NE(many.error.find("11 ranks share 10 instances of the sweep: some would have none"),
            std::string::npos)
      << many.error;
  EXPECT_NE(many.error.find("paths.vphi:2:1"), std::string::npos) << many.error;
  const auto batch = vphi("run paths.vphi --device native --ranks 3 --batch 2");
  EXPECT_EQ(batch.status, 1);
  EXPECT_NE(batch.error.find("a batch of 3 or more"), std::string::npos) << batch.error;
}

TEST_F(RanksCommand, ListsOfDevicesAreReadOrRefused) {
  for (const auto& [words, message] :
       {std::pair("--device cuda:0,0", "names cuda:0 twice"),
        std::pair("--device cuda:1-0", "`cuda:1-0` is no list of devices"),
        std::pair("--device cuda:0,", "`cuda:0,` is no list of devices"),
        std::pair("--device cuda:0,1 --ranks 3", "a rank has one device"),
        std::pair("--device native:0,1", "is not a device")}) {
    const auto refused = vphi(std::string("run paths.vphi ") + words);
    EXPECT_NE(refused.status, 0);
    EXPECT_NE(refused.error.find(message), std::string::npos) << words << refused.error;
  }
}

TEST_F(RanksCommand, CheckSaysWhatEachRankHolds) {
  const auto said = vphi("check paths.vphi --ranks 4");
  EXPECT_EQ(said.status, 0) << said.error;
  EXPECT_NE(said.out.find("ranks    4: 3 of 10 instances at once for each"), std::string::npos)
      << said.out;
  EXPECT_NE(said.out.find("at best 3.33 times as fast as one"), std::string::npos) << said.out;
}

constexpr const char* kBox = R"(model box "A field in a box"
lattice box: 16^3, spacing = 0.5
field phi: real
potential V = phi^4/4
init phi ~ 1 + 0.1*normal, phi' = 0
evolve leapfrog, dt = 0.05, until = t > 3
every 10 steps: mean(phi), var(phi), spectrum(phi), histogram(phi, bins = 8) -> "box.csv"
expect drift(mean(phi)) < 1e9
)";

TEST_F(RanksCommand, ALatticeIsSharedWithTheSameBits) {
  write("box.vphi", kBox);
  const auto one = vphi("run box.vphi --device native --json --out one");
  ASSERT_EQ(one.status, 0) << one.error;
  const auto a = nlohmann::json::parse(one.out);
  for (const int ranks : {2, 3}) {
    const auto several =
        vphi(fmt::format("run box.vphi --device native --json --ranks {0} --out of{0}", ranks));
    ASSERT_EQ(several.status, 0) << several.error;
    const auto b = nlohmann::json::parse(several.out);
    EXPECT_EQ(a["series"], b["series"]);
    ASSERT_EQ(b["ranks"].size(), static_cast<std::size_t>(ranks));
    EXPECT_EQ(b["ranks"][0]["planes"], ranks == 2 ? 8 : 4);
    EXPECT_EQ(b["ranks"][0]["planes_go"], "through the memory of the host");
    expect_same_tables("one", fmt::format("of{}", ranks), 2);
  }
}

/// Planes with an odd number of f32, and every end that a rank makes images of.
TEST_F(RanksCommand, EndsOfALatticeAreThoseOfOneDevice) {
  const std::string model = R"(model plate "Ends"
lattice box: {}, spacing = 0.5, boundary = {}
field phi: real
potential V = phi^4/4
init phi ~ 1 + 0.1*normal, phi' = 0
evolve leapfrog, dt = 0.05, until = t > 2
every 10 steps: mean(phi), var(phi) -> "plate.csv"
)";
  for (const auto& [lattice, boundary] :
       std::vector<std::pair<std::string, std::string>>{{"7 * 16", "antiperiodic"},
                                                        {"7 * 16", "fixed"},
                                                        {"7 * 16", "neumann"},
                                                        {"7 * 16", "outflow"},
                                                        {"4096", "antiperiodic"},
                                                        {"4096", "neumann"}}) {
    write("plate.vphi", fmt::format(fmt::runtime(model), lattice, boundary));
    for (const char* precision : {"f32", "f64"}) {
      const std::string run = fmt::format(
          "run plate.vphi --device native --quiet --precision {} --restart ", precision);
      ASSERT_EQ(vphi(run + "--out one").status, 0);
      ASSERT_EQ(vphi(run + "--out two --ranks 2").status, 0);
      EXPECT_EQ(text("one/plate.series.csv"), text("two/plate.series.csv"))
          << lattice << " " << boundary << " " << precision;
      EXPECT_GT(text("two/plate.series.csv").size(), 100u);
    }
  }
}

/// Steps in Fourier space: planes are transformed where they are, columns are dealt to the ranks.
TEST_F(RanksCommand, StepsInFourierSpaceHaveTheBitsOfOneDevice) {
  const std::string model = R"(model waves "Steps in Fourier space"
lattice box: {}, spacing = 0.3, boundary = periodic
field u: real
laplacian = spectral
u' = 0.2*u - (u + 2*lap(u) + lap(lap(u))) - u^3 + 0.1*(u@{} - u)^2
init u ~ normal(0, 0.1)
evolve etd2, dt = 0.3, until = t > 6
precision real = {}
every 5 steps: t, mean(u), sqrt(mean(u^2)), max(u) -> "waves.csv"
at end: spectrum(u) -> "waves.csv"
)";
  for (const auto& [lattice, axis] : std::vector<std::pair<std::string, char>>{
           {"16 * 12 * 8", 'z'}, {"6 * 4 * 5 * 8", 'z'}, {"256 * 48", 'y'}, {"4096", 'x'}}) {
    for (const char* precision : {"f64", "f32"}) {
      write("waves.vphi", fmt::format(fmt::runtime(model), lattice, axis, precision));
      const std::string run = "run waves.vphi --device native --quiet --restart ";
      const auto one = vphi(run + "--out one");
      ASSERT_EQ(one.status, 0) << one.error;
      for (const int ranks : {2, 3}) {
        const auto several = vphi(run + fmt::format("--out several --ranks {}", ranks));
        ASSERT_EQ(several.status, 0) << several.error;
        EXPECT_EQ(text("one/waves.series.csv"), text("several/waves.series.csv"))
            << lattice << " " << precision << " on " << ranks;
      }
      EXPECT_GT(text("one/waves.series.csv").size(), 200u);
    }
  }
}

/// Each rank transforms its share of a box and adds up its share of the modes. Parts of the columns
/// are added in the same order, also where a rank has none (4 ranks of 3 groups of columns), and
/// where lines are dealt too.
TEST_F(RanksCommand, SpectraProjectionsAndProfilesHaveTheBitsOfOneDevice) {
  const std::string model = R"(model waves "Spectra of two fields, and the waves that they make"
lattice box: {}, spacing = 0.5
field phi, chi: real, u: sym(3)
potential V = phi^4/4 + phi^2*chi^2/2
u'' = lap(u) + outer(grad(phi), grad(phi))
h = transverse_traceless(u')
init phi ~ 1 + vacuum, phi' ~ 0.1*normal, chi ~ vacuum, u = 0
precision real = f64
evolve leapfrog, dt = 0.05, until = t > 0.5
every 5 steps: mean(phi), mean(norm2(h)), spectrum(phi, chi, type = 1) -> "waves.csv"
at end: spectrum(phi, chi, cross = on, version = 3), spectrum(chi, bins = single) -> "waves.csv"
at end: spectrum(h, weights = defrost), occupation(chi) -> "waves.csv"
at end: profile(phi), profile(chi, along = x), profile(phi', along = y), profile(phi*chi, along = z) -> "waves.csv"
at end: correlator(phi), correlator(chi, along = x), correlator(phi', along = z) -> "waves.csv"
)";
  for (const auto& [lattice, cuts] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"7 * 10 * 24", {"--ranks 2", "--ranks 3", "--ranks 4"}},
           {"32 * 64 * 12", {"--cut z=2,y=2"}}}) {
    write("waves.vphi", fmt::format(fmt::runtime(model), lattice));
    const std::string run = "run waves.vphi --device native --quiet --restart ";
    const auto one = vphi(run + "--out one");
    ASSERT_EQ(one.status, 0) << one.error;
    for (const std::string& cut : cuts) {
      const auto several = vphi(run + "--out several " + cut);
      ASSERT_EQ(several.status, 0) << several.error;
      expect_same_tables("one", "several", 5);
    }
  }
}

/// What stays whole on the first rank is told with its bytes.
TEST_F(RanksCommand, CheckSaysWhatTheFirstJoins) {
  const std::string model =
      "model box \"A field in a box\"\nlattice box: 64^3, spacing = 0.5\nfield phi: real\n"
      "potential V = phi^4/4\ninit phi ~ 1 + vacuum\nprecision real = f32\n"
      "evolve leapfrog, dt = 0.05, until = t > 3\n"
      "every 10 steps: spectrum(phi), slice(phi, z = 0){} -> \"box.h5\"\n";
  write("box.vphi", fmt::format(fmt::runtime(model), ""));
  EXPECT_EQ(vphi("check box.vphi --ranks 2").out.find("joins"), std::string::npos);
  // read in parts, or made by all ranks
  for (const char* output :
       {"histogram(phi)", "slice(phi, x = 0)", "profile(phi)", "profile(phi, along = x)",
        "correlator(phi)", "snapshot(phi^2, every = 2)"}) {
    write("box.vphi", fmt::format(fmt::runtime(model), std::string(", ") + output));
    EXPECT_EQ(vphi("check box.vphi --ranks 2").out.find("joins"), std::string::npos) << output;
  }
  for (const auto& [output, bytes] : {std::pair("snapshot(phi)", "1.0"),  // f32 as they are
                                      std::pair("snapshot(grad(phi))", "2.1")}) {
    write("box.vphi", fmt::format(fmt::runtime(model), std::string(", ") + output));
    const auto said = vphi("check box.vphi --ranks 2");
    EXPECT_NE(said.out.find(fmt::format("the first joins whole arrays in its host's memory, of up "
                                        "to {} MB each, for {}",
                                        bytes, std::string(output).substr(0, 5))),
              std::string::npos)
        << said.out << said.error;
  }
}

/// Snapshots go to the file as parts of the lattice: 64 or 256 planes, and what is left of them.
TEST_F(RanksCommand, SnapshotsInPartsAreThoseOfOneDevice) {
  const std::string model = R"(model box "A field and a vector"
lattice box: {}, spacing = 0.5
field phi: real, A: vec(2)
potential V = phi^4/4 + norm2(A)/2
init phi ~ normal, A ~ normal
precision real = {}
evolve leapfrog, dt = 0.05, until = step == 4
every 2 steps: snapshot(phi) -> "box.h5"
at end: snapshot(A), snapshot(2*phi + 1), snapshot(phi^2, every = 3) -> "box.h5"
)";
  const std::vector<std::pair<std::string, int>> sets{
      {"snapshot(phi)", 1}, {"snapshot(A)", 2}, {"snapshot(2*phi + 1)", 1}, {"snapshot(phi^2)", 1}};
  const auto read = [&](const std::string& run, const std::string& name, int entry, int dims,
                        int components) {
    const auto file = folder_ / run / ("box.h5:snapshots/" + name + "/00000004");
    io::FieldPlace place;
    place.dims = dims, place.components = components, place.entry = entry;
    return io::read_fields(file.string(), place).front();
  };
  for (const auto& [lattice, dims, precision] :
       std::vector<std::tuple<std::string, int, std::string>>{{"9 * 8 * 150", 3, "f32"},
                                                              {"12 * 600", 2, "f64"}}) {
    write("box.vphi", fmt::format(fmt::runtime(model), lattice, precision));
    const std::string run = "run box.vphi --device native --quiet --restart ";
    const auto one = vphi(run + "--out one");
    ASSERT_EQ(one.status, 0) << one.error;
    const auto three = vphi(run + "--out three --ranks 3");
    ASSERT_EQ(three.status, 0) << three.error;
    for (const auto& [name, components] : sets)
      for (int entry = 0; entry < components; ++entry) {
        const auto a = read("one", name, entry, dims, components),
                   b = read("three", name, entry, dims, components);
        EXPECT_EQ(a.cells, b.cells) << name;
        EXPECT_EQ(a.values, b.values) << name;
        EXPECT_GT(a.values.size(), 200u) << name;
      }
    EXPECT_EQ(text("one/box.xdmf"), text("three/box.xdmf"));
  }
  const auto check = vphi("check box.vphi --ranks 3");
  EXPECT_EQ(check.out.find("joins"), std::string::npos) << check.out;
}

constexpr const char* kConfigurations = R"(model links "Configurations"
lattice grid: 4^3 * 24
gauge   U: SU(3)
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S_gauge = 2*sum(3 - re(tr(P[mu,nu])), mu < nu)
sample heatbath, sweeps = 1
init U ~ hot
at end: U -> ildg("ci")
at end: U -> nersc("cn")
at end: U -> milc("cm")
at end: U -> openqcd("co")
)";

constexpr const char* kHotSpot = R"(model surf "A hot spot that cools"
units fm
lattice plane: [48, 64], length = [9 [fm], 12 [fm]], boundary = outflow
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
speed[k] = (abs(v[k]) + sqrt(1/3))/(1 + abs(v[k])*sqrt(1/3))
scheme kt, speed = speed
T = (eps/14)^(1/4)
T_f = 0.15 [GeV]
evolve heun, dt = 0.1*dx, until = step == 10
init t = 0.6 [fm], eps = (0.1 + 40*exp(-(x^2+y^2)/(6 [fm^2])))*(1 [1/fm^4]), v = [0, 0]
precision real = f64
every 5 steps: surface(T, level = T_f, time = on) -> music("gold", T = T, eps = eps, p = p, v = v)
every 5 steps: surface(T, level = T_f, time = on) -> vhlle("gold", T = T, v = v)
every 5 steps: surface(T, level = T_f, time = on) -> osu("gold", v = v)
)";

/// Configurations and surfaces in the formats of other programs: what the first rank writes of
/// whole arrays.
TEST_F(RanksCommand, OtherFilesAreThoseOfOneRank) {
  write("links.vphi", kConfigurations);
  write("surf.vphi", kHotSpot);
  for (const std::string model : {"links", "surf"}) {
    const std::string run = "run " + model + ".vphi --device native --quiet --out " + model;
    const auto one = vphi(run + "1");
    ASSERT_EQ(one.status, 0) << one.error;
    const auto three = vphi(run + "3 --ranks 3");
    ASSERT_EQ(three.status, 0) << three.error;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / (model + "1"))) {
      const std::string name = entry.path().filename().string();
      if (name == "run.json" || name == "report.html") continue;
      ++files;
      const std::string bytes = text(model + "1/" + name);
      EXPECT_GT(bytes.size(), 1000u) << name;
      EXPECT_EQ(bytes, text(model + "3/" + name)) << name;
    }
    EXPECT_GE(files, model == "links" ? 4u : 3u);
  }
}

/// A product of links along the axis that is cut: each rank computes it from gathered arrays.
TEST_F(RanksCommand, ProductsAlongTheCutAxisHaveTheBitsOfOneDevice) {
  write("line.vphi", R"(model line "Products of links along the axis that is cut"
lattice plane: 8 * 16
gauge U: SU(2)
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S = sum(2 - re(tr(P[mu,nu])), mu < nu)
sample heatbath, sweeps = 6
init U ~ hot
every 2 sweeps: mean(re(tr(P[mu,nu]))/2, mu < nu), polyakov -> "line.csv"
)");
  ASSERT_EQ(vphi("run line.vphi --device native --quiet --out whole").status, 0);
  for (const int ranks : {2, 4}) {
    const std::string folder = fmt::format("of{}", ranks);
    const auto cut = vphi(
        fmt::format("run line.vphi --device native --ranks {} --quiet --out {}", ranks, folder));
    ASSERT_EQ(cut.status, 0) << cut.error;
    expect_same_tables("whole", folder, 1);
  }
  const auto check = vphi("check line.vphi --ranks 2");
  EXPECT_NE(check.out.find("each computes observe_1 of the whole lattice"), std::string::npos)
      << check.out;
}

/// Each rank has the rows of a matrix that belong to its bodies.
TEST_F(RanksCommand, BodiesOfANetworkHaveTheBitsOfOneDevice) {
  constexpr int kBodies = 4096;
  std::string matrix;
  for (int i = 0; i < kBodies; ++i)
    for (int j = 0; j < kBodies; ++j) {
      matrix += static_cast<char>('0' + (7 * i + 3 * j + i * j % 11) % 10);  // not symmetric
      matrix += j + 1 < kBodies ? ' ' : '\n';
    }
  write("links.txt", matrix);
  write("network.vphi", R"(model network "Oscillators on a network"
particles osc: 4096
var x[i]: angle
C[i,j] = file("links.txt")[i,j]
x[i]' = sum(C[i,j]*sin(x[j] - x[i]), j)/4096
init x[i] = 0.37*i - 2*pi*floor(0.37*i/(2*pi))
evolve heun, dt = 0.1, until = t > 0.15
every 1 steps: mean(cos(x)), max(sin(x)), histogram(x, bins = 64) -> "network.csv"
)");
  ASSERT_EQ(vphi("run network.vphi --device native --quiet --out whole").status, 0);
  const auto cut = vphi("run network.vphi --device native --ranks 3 --quiet --out cut");
  ASSERT_EQ(cut.status, 0) << cut.error;
  expect_same_tables("whole", "cut", 2);
}

TEST_F(RanksCommand, ALatticeGoesOnWithAnotherNumberOfRanks) {
  write("box.vphi", kBox);
  ASSERT_EQ(vphi("run box.vphi --device native --quiet --out whole").status, 0);
  for (const auto& [before, after] : {std::pair("--ranks 3", "--ranks 2"),
                                      std::pair("--ranks 2", ""), std::pair("", "--ranks 3")}) {
    std::filesystem::remove_all(folder_ / "parts");
    const auto first =
        vphi(fmt::format("run box.vphi --device native --quiet --out parts --steps 30 "
                         "--checkpoint-every '10 steps' {}",
                         before));
    ASSERT_EQ(first.status, 0) << first.error;
    const auto then = vphi(fmt::format(
        "run box.vphi --device native --quiet --resume=parts --steps 61 --out parts {}", after));
    ASSERT_EQ(then.status, 0) << then.error;
    EXPECT_EQ(text("whole/box.series.csv"), text("parts/box.series.csv")) << before << after;
    EXPECT_GT(text("parts/box.series.csv").size(), 200u);
  }
}

/// The site, its values and the terms that break down are those of the whole lattice.
TEST_F(RanksCommand, AFieldThatBreaksDownOnOneRankIsToldAsOnOneDevice) {
  write("down.vphi",
        "model down \"A field that breaks down on one side\"\nlattice box: 16^3, spacing = 0.5\n"
        "field phi: real\npotential V = -phi^6\ninit phi = (2 if z > 2 else 0.1), phi' = 0\n"
        "evolve leapfrog, dt = 0.1, until = t > 20\nevery 10 steps: mean(phi) -> \"down.csv\"\n");
  const auto one = vphi("run down.vphi --device native --quiet --out one");
  EXPECT_EQ(one.status, 1);
  EXPECT_NE(one.error.find("at site (0, 0, 12)"), std::string::npos) << one.error;
  for (const int ranks : {2, 4}) {
    const auto several =
        vphi(fmt::format("run down.vphi --device native --quiet --ranks {0} --out of{0}", ranks));
    EXPECT_EQ(several.status, 1);
    EXPECT_EQ(several.error, one.error) << ranks;
  }
}

/// The second run of a check is shared as the first is. With noise there are two more. 3 ranks have
/// different numbers of planes.
TEST_F(RanksCommand, ChecksRunOnTheSameRanks) {
  write("box.vphi", kBox);
  write("warm.vphi",
        "model warm \"A field with noise\"\nlattice box: 8 * 16, spacing = 0.5\nfield phi: real\n"
        "phi' = lap(phi) - phi^3 + 0.1*noise\ninit phi ~ 1 + 0.1*normal\n"
        "evolve euler_maruyama, dt = 0.01, until = t > 0.5\nevery 0.1: mean(phi), var(phi) -> "
        "\"warm.csv\"\n");
  for (const char* model : {"box", "warm", "paths"}) {
    const std::string run = fmt::format(
        "run {}.vphi --device native --json --restart --error-check "
        "--precision-check=10 --out ",
        model);
    const auto one = vphi(run + "one"), three = vphi(run + "three --ranks 3");
    ASSERT_EQ(one.status, 0) << one.error;
    ASSERT_EQ(three.status, 0) << three.error;
    const auto a = nlohmann::json::parse(one.out), b = nlohmann::json::parse(three.out);
    EXPECT_EQ(a["error_check"], b["error_check"]) << model;
    EXPECT_EQ(a["precision_check"], b["precision_check"]) << model;
    EXPECT_GT(a["error_check"].size(), 0u) << one.out;
    EXPECT_FALSE(a["precision_check"].is_null()) << one.out;
    const std::string file = fmt::format("{}.error_check.csv", model);
    EXPECT_EQ(text("one/" + file), text("three/" + file));
  }
}

TEST_F(RanksCommand, ALatticeThatCannotBeSharedIsRefusedWithTheWayOut) {
  write("box.vphi", kBox);
  for (const auto& [words, message] :
       {std::pair("run box.vphi --device native --ranks 5", "4 ranks at most"),
        std::pair("check box.vphi --ranks 5", "error[E0862]")}) {
    const auto refused = vphi(words);
    EXPECT_EQ(refused.status, 1) << words;
    EXPECT_NE(refused.error.find(message), std::string::npos) << words << refused.error;
  }
}

/// The whole lattice, and how fast the ranks would be. The way of the planes is obeyed or refused.
TEST_F(RanksCommand, ACutLatticeSaysItsSpeedAndTheWayOfItsPlanes) {
  write("box.vphi", kBox);
  const auto said = vphi("check box.vphi --ranks 2");
  EXPECT_EQ(said.status, 0) << said.error;
  EXPECT_NE(said.out.find("lattice  16^3,"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("ms in exchanges"), std::string::npos) << said.out;
  const std::string run = "run box.vphi --device native --ranks 2 --out ";
  for (const char* way : {"host", "peers", "nccl", "pigeon"}) {
    setenv("VPHI_EXCHANGE", way, 1);
    const auto done = vphi(run + way);
    unsetenv("VPHI_EXCHANGE");
    const bool host = std::string(way) == "host";
    EXPECT_EQ(done.status, host ? 0 : 3) << way << done.error;
    const auto& text = host ? done.out : done.error;
    EXPECT_NE(text.find(host ? "planes go through the memory of the host" : "VPHI_EXCHANGE"),
              std::string::npos)
        << done.out << done.error;
  }
}

/// The number with the shortest modelled step: a small lattice gains nothing, and a large one as
/// long as slabs last. Processors are one rank.
TEST_F(RanksCommand, TheNumberOfRanksIsChosenByTheModel) {
  write("box.vphi", kBox);
  const auto small = vphi("check box.vphi --ranks auto");
  EXPECT_NE(small.out.find("the fastest: --ranks 1\n"), std::string::npos) << small.out;
  EXPECT_EQ(small.out.find("\n               8"), std::string::npos) << small.out;  // 4 slabs
  const auto large = vphi("check box.vphi --lattice 512^3 --precision f32 --ranks auto");
  EXPECT_NE(large.out.find("\n              32"), std::string::npos) << large.out;
  EXPECT_EQ(large.out.find("the fastest: --ranks 1\n"), std::string::npos) << large.out;
  const auto paths = vphi("check paths.vphi --ranks auto");  // instances send nothing
  EXPECT_NE(paths.out.find("the fastest: --ranks"), std::string::npos) << paths.out;
  const auto done = vphi("run box.vphi --device native --ranks auto --json --restart");
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_FALSE(nlohmann::json::parse(done.out).contains("ranks"));
  for (const auto& [words, message] :
       {std::pair("--ranks few", "--ranks takes a whole number from 1 on or `auto`, not `few`"),
        std::pair("--ranks 4000000000", "4000000000 ranks are wanted, and a run has 65536 at most"),
        std::pair("--ranks 5000", "and one process has 1024 at most"),
        std::pair("--ranks auto --cut z=2", "is to be chosen, and the cut z=2 is for 2")}) {
    const auto refused = vphi(std::string("run box.vphi --device native ") + words);
    EXPECT_EQ(refused.status, 1) << words;
    EXPECT_NE(refused.error.find(message), std::string::npos) << refused.error;
  }
}

/// The axis along which a lattice is cut is obeyed where it is the slowest, and else refused.
TEST_F(RanksCommand, TheAxisOfACutIsObeyedOrRefused) {
  write("box.vphi", kBox);
  write(
      "ions.vphi",
      "model ions \"Bodies\"\nparticles ion: 4096\nvar x[i]: real\nx[i]' = -x[i]\ninit x ~ normal\n"
      "evolve euler, dt = 0.1, until = t > 1\nevery 1 steps: mean(x) -> \"ions.csv\"\n");
  for (const char* cut : {"z=2", "y=1,z=2"}) {
    const auto done =
        vphi(fmt::format("run box.vphi --device native --json --restart --cut {}", cut));
    ASSERT_EQ(done.status, 0) << done.error;
    EXPECT_EQ(nlohmann::json::parse(done.out)["ranks"].size(), 2u) << cut;
  }
  const auto said = vphi("check box.vphi --cut z=4");
  EXPECT_NE(said.out.find("4: 4 of 16 planes along z"), std::string::npos)
      << said.out << said.error;
  for (const auto& [words, message, way] :
       {std::tuple("run box.vphi --device native --cut y=2",
                   "error[E0862]: the lattice cannot be cut for 2 ranks: it is cut along "
                   "its slowest axis, z, and not along y",
                   "--cut z=2"),
        std::tuple("check box.vphi --cut z=2,y=2",
                   "for 4 ranks: its planes of 16 lines along y are too small for a cut",
                   "--cut z=4"),
        std::tuple("explain box.vphi --cut t=2", "it has no axis t", "--cut z=2"),
        std::tuple("check box.vphi --cut z=5", "its 16 planes along z are cut between slabs of 4",
                   "4 ranks at most"),
        std::tuple(
            "run paths.vphi --device native --cut z=2",
            "--cut z=2 cuts a single lattice, and ranks share the 10 instances of this sweep",
            "--ranks 2"),
        std::tuple("check ions.vphi --cut x=2", "bodies are shared by number", "--ranks 2"),
        std::tuple("run box.vphi --cut z:4", "`z:4` is no cut of a lattice", "--cut z=4"),
        std::tuple("run box.vphi --cut z=0", "`z=0` is no cut of a lattice", "--cut z=4"),
        std::tuple("run box.vphi --cut z=2,z=2", "it names z twice", "--cut z=4"),
        std::tuple("run box.vphi --device native --ranks 3 --cut z=2",
                   "3 ranks are wanted, and the cut z=2 is for 2", "the cut is enough"),
        std::tuple("run box.vphi --device cuda:0,1 --cut z=3", "a rank has one device", "")}) {
    const auto refused = vphi(words);
    EXPECT_EQ(refused.status, 1) << words;
    EXPECT_NE(refused.error.find(message), std::string::npos) << words << refused.error;
    EXPECT_NE(refused.error.find(way), std::string::npos) << words << refused.error;
  }
}

TEST_F(RanksCommand, AProgramFileIsRefused) {
  ASSERT_EQ(vphi("emit paths.vphi --to program -o paths.json").status, 0);
  const auto refused = vphi("run paths.json --device native --ranks 2");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.error.find("is compiled for all instances"), std::string::npos)
      << refused.error;
}

}  // namespace
}  // namespace vphi
