// Flows of SU(3) in four dimensions, whose kernels take long to compile, and of configurations of
// other programs where VPHI_GAUGE_DATA names their folder; their numbers are those of an
// independent program with Luescher's scheme in 20 steps.
#include <cstdlib>

#include "tests/physics/gauge/plain_links.hpp"

namespace vphi {
namespace {

using namespace testing::flow;

TEST(LongLinkFlow, Su3InFourDimensions) {
  if (!native()) GTEST_SKIP() << "no native device";
  Model model{.lattice = "3*2*5*4", .dt = 0.05, .steps = 3};
  expect_as_written(random_box(3, {3, 2, 5, 4}, 0.7, 1), model, 1e-13);
  model.gauge = "SU(3), store = rows(2)";
  expect_as_written(random_box(3, {3, 2, 5, 4}, 0.7, 2), model, 1e-13);
  model.c1 = -1.0 / 12;
  model.clover = false;
  expect_as_written(random_box(3, {3, 2, 5, 4}, 0.7, 7), model, 1e-13);
}

TEST(LongLinkFlow, ConfigurationsOfOtherPrograms) {
  const char* folder = std::getenv("VPHI_GAUGE_DATA");
  if (!folder) GTEST_SKIP() << "VPHI_GAUGE_DATA names no folder of configurations";
  if (!native()) GTEST_SKIP() << "no native device";
  struct Known {
    const char* file;
    int n;
    double plaquette, energy, charge;
  };
  const Known table[] = {
      {"latticeqcdjl_hmc_su3_b5.7_L4.ildg", 3, 0.9849483370939307, 0.2949769360035665,
       0.008603235168220159},
      {"latticeqcdjl_hmc_su2_b5.7_L4.ildg", 2, 0.9080839568891461, 0.9360209359401892,
       -0.42666383505689298},
  };
  for (const Known& known : table) {
    Model model{.n = known.n};
    model.gauge = "SU(" + std::to_string(known.n) + ")";
    model.start = from_file(std::filesystem::path(folder) / known.file);
    const runtime::RunResult result = testing::run_text(model.text(), {});
    EXPECT_NEAR(testing::last(result, "plaquette"), known.plaquette, 1e-12) << known.file;
    EXPECT_NEAR(testing::last(result, "mean(E)"), known.energy, 1e-11) << known.file;
    EXPECT_NEAR(testing::last(result, "Q"), known.charge, 1e-11) << known.file;
    Box box = random_box(known.n, {4, 4, 4, 4}, 0, 1);  // and in plain loops
    const io::ConfigurationWish wish{.extent = io::Extents{4, 4, 4, 4}, .colours = known.n};
    const io::Configuration start =
        io::read_configuration(std::filesystem::path(folder) / known.file, wish).configuration;
    for (std::int64_t s = 0; s < box.sites(); ++s)
      for (int mu = 0; mu < 4; ++mu)
        std::ranges::copy(start.link(s, mu), box.links[box.place(box.site(s), mu)].parts.begin());
    for (int step = 0; step < model.steps; ++step) box.luescher(model.dt);
    EXPECT_NEAR(box.mean_loop(false), known.plaquette, 1e-12) << known.file;
    EXPECT_NEAR(box.energy(), known.energy, 1e-11) << known.file;
    EXPECT_NEAR(box.charge(), known.charge, 1e-11) << known.file;
  }
}

}  // namespace
}  // namespace vphi
