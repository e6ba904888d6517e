// Results of Markov chains: averages of series and their errors, warnings about chains that are too
// short or not in equilibrium, gauge configurations in and out of a program's arrays.
#include "runtime/run/chain_averages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>

#include "runtime/io/configurations/ildg.hpp"
#include "runtime/io/configurations/lime.hpp"
#include "runtime/io/results.hpp"
#include "runtime/run/starts/random_field.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::runtime {
namespace {

namespace fs = std::filesystem;

/// x_n = rho x_{n-1} + noise of variance 1: tau_int = (1 + rho)/(2 (1 - rho)).
std::vector<double> correlated(double rho, int count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double x = normal(random);
  for (int i = 0; i < count; ++i) {
    values.push_back(x);
    x = rho * x + std::sqrt(1 - rho * rho) * normal(random);
  }
  return values;
}

Series series_of(const std::string& name, const std::vector<double>& values, double start) {
  Series series{.name = name};
  series.points.emplace_back(0, start);
  for (std::size_t i = 0; i < values.size(); ++i)
    series.points.emplace_back(static_cast<double>(i + 1), values[i]);
  return series;
}

TEST(Chain, AverageOfASeriesLeavesTheStartOut) {
  RunResult result;
  result.series.push_back(series_of("plaquette", correlated(0.9, 20000, 1), 1e6));
  const auto all = chain_series(result);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "plaquette");
  EXPECT_EQ(all[0].average.values, 20000U);
  EXPECT_NEAR(all[0].average.tau_int, 9.5, 3 * all[0].average.tau_error);
  EXPECT_LT(std::abs(all[0].average.mean), 4 * all[0].average.error);
  EXPECT_LT(all[0].early, 4);
  EXPECT_TRUE(chain_notes(all, "sweep").empty());
}

TEST(Chain, AxesOfASweepKeepTheirOwn) {
  RunResult result;
  result.axes = {{"beta", {5.5, 6}, false}, {"draw", {1, 2, 3}, true}};
  Series series{.name = "plaquette", .axes = {0, 1}};
  std::vector<std::vector<double>> chains;
  for (unsigned c = 0; c < 6; ++c) chains.push_back(correlated(0.5, 3000, 20 + c));
  for (int row = 0; row <= 3000; ++row) {
    series.times.push_back(row);
    series.values.emplace_back(6, 1e9);
    for (std::size_t c = 0; row > 0 && c < 6; ++c)
      series.values.back()[c] = chains[c][static_cast<std::size_t>(row - 1)] + (c < 3 ? 0 : 10);
  }
  result.series.push_back(series);
  const auto all = chain_series(result);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "plaquette at beta = 5.5");
  EXPECT_EQ(all[1].name, "plaquette at beta = 6");
  EXPECT_EQ(all[1].average.values, 9000U);
  EXPECT_NEAR(all[1].average.mean, 10, 4 * all[1].average.error);
  EXPECT_NEAR(all[1].average.tau_int, 1.5, 3 * all[1].average.tau_error);
}

TEST(Chain, WhatShouldNotBeBelievedIsSaid) {
  RunResult result;
  std::vector<double> warming = correlated(0.5, 4000, 3);
  for (std::size_t i = 0; i < 400; ++i) warming[i] += 10;
  result.series.push_back(series_of("warming", warming, 0));
  result.series.push_back(series_of("slow", correlated(0.98, 400, 4), 0));
  Series averages = series_of("an average already", correlated(0, 100, 5), 0);
  averages.errors.assign(101, {0.1});
  result.series.push_back(averages);
  const auto all = chain_series(result);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_GT(all[0].early, 4);
  EXPECT_FALSE(all[1].average.is_known());
  const auto notes = chain_notes(all, "sweep");
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].find("warming: the first quarter"), 0U) << notes[0];
  EXPECT_NE(notes[0].find("`after = sweep > ...`"), std::string::npos) << notes[0];
  EXPECT_EQ(notes[1].find("slow: the error is not known: "), 0U) << notes[1];
}

// ---- configurations -----------------------------------------------------------------------------

program::Program lattice_of(int dims, const std::array<std::int64_t, 4>& extent) {
  program::Program p;
  p.model = "links";
  p.dims = dims, p.extent = extent;
  p.seed = 11;
  p.parameters = {{"beta", 5.5}};
  return p;
}

/// A number that says where it stands.
std::complex<double> entry(std::int64_t site, int mu, std::size_t i) {
  return {0x1p-10 * (static_cast<double>((site * 4 + mu) * 100) + static_cast<double>(i)), -0.5};
}

TEST(Links, NumbersOfAFileInArrays) {
  const testing::ScratchFolder folder;
  io::Configuration c = io::unit_configuration(2, {3, 2, 2, 4});
  for (std::int64_t site = 0; site < c.sites(); ++site)
    for (int mu = 0; mu < 4; ++mu)
      for (std::size_t i = 0; i < 4; ++i) c.link(site, mu)[i] = entry(site, mu, i);
  io::write_ildg(folder / "conf", c, program::Precision::F64);
  const program::Program p = lattice_of(4, {3, 2, 2, 4});
  program::RandomField field;
  field.kind = program::RandomField::Kind::Link;
  field.file = (folder / "conf").string();
  field.colours = 2;
  Configurations configurations;
  for (const int mu : {0, 3})
    for (const int i : {0, 2, 3})
      for (const int part : {0, 1}) {
        field.entry = (mu * 4 + i) * 2 + part;
        const auto values = random_fields(p, field, 0, 2, 1, &configurations);
        ASSERT_EQ(values.size(), 96U);  // both instances have them
        for (std::int64_t site = 0; site < 48; ++site) {
          const auto u = entry(site, mu, static_cast<std::size_t>(i));
          EXPECT_EQ(values[site], part == 0 ? u.real() : u.imag());
          EXPECT_EQ(values[48 + site], values[site]);
        }
        fs::remove(folder / "conf");  // it was read with the first
      }
  EXPECT_THROW(random_field(p, field, 1), io::ResultsError);
}

TEST(Links, AnotherLatticeOrGroup) {
  const testing::ScratchFolder folder;
  io::write_ildg(folder / "conf", io::unit_configuration(3, {2, 2, 1, 1}), program::Precision::F64);
  program::RandomField field;
  field.kind = program::RandomField::Kind::Link;
  field.file = (folder / "conf").string();
  field.colours = 3;
  EXPECT_EQ(random_field(lattice_of(2, {2, 2, 1, 1}), field, 1), std::vector<double>(4, 1));
  EXPECT_THROW(random_field(lattice_of(2, {2, 4, 1, 1}), field, 1), io::ConfigurationError);
  field.colours = 2;
  EXPECT_THROW(random_field(lattice_of(2, {2, 2, 1, 1}), field, 1), io::ConfigurationError);
}

// The numbers of 2^4 sites in f64 have the length of twice as many in f32.
TEST(Links, AFileThatDoesNotSayItsLattice) {
  const testing::ScratchFolder folder;
  const io::Configuration unit = io::unit_configuration(2, {2, 2, 2, 2});
  std::string bytes;
  for (const auto& entry : unit.links)  // 1 is 3F F0 ..., 0 all zeros
    bytes += (entry == 1.0 ? "\x3f\xf0" : std::string(2, '\0')) + std::string(14, '\0');
  io::LimeWriter lime(folder / "conf");
  lime.begin({.type = "ildg-binary-data", .bytes = bytes.size(), .begins = true, .ends = true});
  lime.write(std::as_bytes(std::span(bytes)));
  lime.finish();
  program::RandomField field;
  field.kind = program::RandomField::Kind::Link;
  field.file = (folder / "conf").string();
  field.colours = 2;
  EXPECT_EQ(random_field(lattice_of(4, {2, 2, 2, 2}), field, 1), std::vector<double>(16, 1));
  try {
    random_field(lattice_of(4, {2, 2, 2, 4}), field, 1);
    ADD_FAILURE() << "read";
  } catch (const io::ConfigurationError& error) {
    EXPECT_EQ(error.problem, io::ConfigurationError::Problem::Extents);
    EXPECT_NE(std::string(error.what()).find("on the model's, 2^3 x 4"), std::string::npos)
        << error.what();
  }
}

io::Table table_of_links(const program::Program& p, int colours) {
  io::Table table;
  table.kind = program::OutputKind::Links, table.name = "U";
  for (int axis = p.dims - 1; axis >= 0; --axis) table.shape.push_back(p.extent[axis]);
  for (const std::int64_t n : {p.dims, colours, colours, 2}) table.shape.push_back(n);
  for (std::int64_t site = 0; site < p.sites(); ++site)
    for (int mu = 0; mu < p.dims; ++mu)
      for (int i = 0; i < colours * colours; ++i) {
        const auto u = entry(site, mu, static_cast<std::size_t>(i));
        table.values.push_back(u.real()), table.values.push_back(u.imag());
      }
  return table;
}

TEST(Links, NumberedFilesReadBack) {
  for (const char* ending : {".ildg", ".nersc"}) {
    const testing::ScratchFolder folder;
    const std::string name = std::string("conf") + ending;
    program::Program p = lattice_of(2, {4, 3, 1, 1});
    {
      io::Results results(folder.path(), p);
      io::ResultFile& file = results.file(name);
      for (const std::int64_t step : {10, 20}) {
        const io::Moment at{step, static_cast<double>(step)};
        const std::vector<std::string> names{"plaquette"};
        const std::vector<double> values{0.25};
        file.scalars(names, at, values);
        file.table(table_of_links(p, 2), at);
      }
      results.finish();
      EXPECT_EQ(results.files(), (std::vector<std::string>{
                                     (folder / ("conf_00000010" + std::string(ending))).string(),
                                     (folder / ("conf_00000020" + std::string(ending))).string()}));
      EXPECT_TRUE(results.notes().empty());
    }
    const auto read = io::read_configuration(folder / ("conf_00000020" + std::string(ending)),
                                             {.extent = p.extent, .colours = 2});
    EXPECT_TRUE(read.facts.checked);
    for (std::int64_t site = 0; site < 12; ++site)
      for (int mu = 0; mu < 4; ++mu)
        for (std::size_t i = 0; i < 4; ++i) {
          const std::complex<double> unit = i == 0 || i == 3 ? 1 : 0;
          EXPECT_EQ(read.configuration.link(site, mu)[i], mu < 2 ? entry(site, mu, i) : unit);
        }
    const auto& notes = read.facts.notes;
    const auto note = [&](const std::string& key) {
      for (const auto& [name_, value] : notes)
        if (name_ == key) return value;
      return std::string();
    };
    EXPECT_EQ(note("trajectory nr"), "20");
    EXPECT_EQ(note("plaquette"), "0.25");
    EXPECT_EQ(note("beta"), "5.5");
    EXPECT_EQ(note("seed"), "11");
    // going on from step 10: what came later is written again
    io::Results again(folder.path(), p);
    again.go_back(1, {10, 10.0}, {{name, ""}});
    EXPECT_EQ(again.files().size(), 1U);
    EXPECT_FALSE(fs::exists(folder / ("conf_00000020" + std::string(ending))));
  }
}

TEST(Links, OnlyLinksGoThere) {
  const testing::ScratchFolder folder;
  const program::Program p = lattice_of(2, {2, 2, 1, 1});
  io::Results results(folder.path(), p);
  io::Table table;
  table.kind = program::OutputKind::Snapshot, table.name = "phi", table.shape = {2, 2},
  table.values = {1, 2, 3, 4};
  results.file("conf.ildg").table(table, {1, 1.0});
  results.finish();
  ASSERT_EQ(results.notes().size(), 1U);
  EXPECT_EQ(results.notes()[0].find("phi is not a field of links"), 0U);
  EXPECT_TRUE(results.files().empty());
}

}  // namespace
}  // namespace vphi::runtime
