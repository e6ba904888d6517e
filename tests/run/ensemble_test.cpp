// Instances of a sweep: places along its axes, numbers in the ensemble, averages, blocking.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "program/json.hpp"
#include "runtime/run/ensemble.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {
namespace {

program::Program sweep() {
  program::Program p;
  p.dims = 1;
  p.extent = {8, 1, 1, 1};
  p.scalars = {{"step", 0}, {"x", 0}};
  p.axes = {{"a", {0.5, 1.5}, false, false, -1}, {"draw", {3, 4, 9}, true, false, -1}};
  p.instances = 6;
  return p;
}

TEST(Sweep, PlacesAndNumbers) {
  const auto p = sweep();
  EXPECT_EQ(p.all_instances(), 6);
  EXPECT_EQ(p.place(4, 0), 1);
  EXPECT_EQ(p.place(4, 1), 1);
  EXPECT_EQ(p.where(5), "a = 1.5, draw = 9");
  // a draw has its own number wherever it stands; along `a` the numbers repeat
  EXPECT_EQ(p.ensemble_number(0), 3);
  EXPECT_EQ(p.ensemble_number(3), 3);
  EXPECT_EQ(p.ensemble_number(2), 9);
  auto fresh = p;
  fresh.axes[0].fresh = true;
  EXPECT_NE(fresh.ensemble_number(0), fresh.ensemble_number(3));
  auto single = p;
  single.axes.clear();
  single.ensemble = 9;
  EXPECT_EQ(single.ensemble_number(0), 9);
}

TEST(Sweep, RandomFieldsOfTheBatchAreThoseOfTheInstances) {
  auto p = sweep();
  p.dx = 0.5;
  for (const auto kind : {program::RandomField::Kind::Normal, program::RandomField::Kind::Uniform,
                          program::RandomField::Kind::Vacuum}) {
    program::RandomField field;
    field.kind = kind;
    field.stream = 2;
    if (kind == program::RandomField::Kind::Vacuum) field.masses = {1, 1, 1, 4, 4, 4};
    const auto all = random_fields(p, field, 0, 6, 2);
    ASSERT_EQ(all.size(), 48u);
    for (std::int64_t i = 0; i < 6; ++i)
      for (const int threads : {1, 3}) {
        const auto one = random_fields(p, field, i, 1, threads);
        EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + 8 * i)) << i;
      }
    // the same draw along `a` (of another mass, for the vacuum), another one beside it
    const bool same = std::equal(all.begin(), all.begin() + 8, all.begin() + 24);
    EXPECT_EQ(same, kind != program::RandomField::Kind::Vacuum);
    EXPECT_FALSE(std::equal(all.begin(), all.begin() + 8, all.begin() + 8));
  }
  EXPECT_EQ(ensemble_seed(7, 0), 7u);
  EXPECT_NE(ensemble_seed(7, 1), ensemble_seed(7, 2));
  EXPECT_NE(ensemble_seed(7, 1), ensemble_seed(8, 1));
}

TEST(Sweep, AveragesLeaveOutWhatHasNoValue) {
  const auto p = sweep();
  Table table;
  table.instances = 6;
  table.width = 2;
  for (const double x : {1.0, 2.0, 6.0, 5.0, std::nan(""), 7.0})
    table.values.insert(table.values.end(), {0.0, x});
  program::Statistic s;
  s.slot = 1;
  s.axes = {1};
  const Averaged mean = average(p, s, table);
  ASSERT_EQ(mean.value.size(), 2u);
  EXPECT_DOUBLE_EQ(mean.value[0], 3);
  EXPECT_DOUBLE_EQ(mean.error[0], std::sqrt(14.0 / 2 / 3));
  EXPECT_DOUBLE_EQ(mean.value[1], 6);
  EXPECT_DOUBLE_EQ(mean.error[1], 1);
  EXPECT_EQ(mean.missing, (std::vector<std::int64_t>{0, 1}));
  s.kind = program::Statistic::Kind::Variance;
  EXPECT_DOUBLE_EQ(average(p, s, table).value[0], 14.0 / 3);
  s.kind = program::Statistic::Kind::Maximum;
  EXPECT_EQ(average(p, s, table).value[1], 7);
  s.kind = program::Statistic::Kind::Mean;
  s.axes = {0};
  const Averaged other = average(p, s, table);
  EXPECT_EQ(other.value, (std::vector<double>{3, 2, 6.5}));
  EXPECT_TRUE(std::isnan(other.error[1]));
}

TEST(Sweep, ProgramsWithAxesSurviveTheirText) {
  auto p = sweep();
  p.scalars[1].initial = NAN;
  p.watch_statistics = {{program::Statistic::Kind::Variance, 1, {1}, -1, 0, -1}};
  program::RandomField field;
  field.masses = {1, 2, 3, 4, 5, 6};
  p.buffers = {{"phi"}};
  p.random = {field};
  const auto back = program::from_json(program::to_json(p));
  EXPECT_EQ(back.axes[1].values, p.axes[1].values);
  EXPECT_TRUE(back.axes[1].ensemble);
  EXPECT_TRUE(std::isnan(back.scalars[1].initial));
  EXPECT_EQ(back.random[0].masses, field.masses);
  EXPECT_EQ(back.watch_statistics[0].axes, std::vector<int>{1});
  auto wrong = p;
  wrong.random[0].masses.pop_back();
  EXPECT_FALSE(program::problems(wrong).empty());
  wrong = p;
  wrong.watch_statistics[0].axes = {2};
  EXPECT_FALSE(program::problems(wrong).empty());
}

}  // namespace
}  // namespace vphi::runtime
