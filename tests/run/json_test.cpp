// A Program survives the way through text, and text that is no sound program is refused.
#include "program/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/run/wave_program.hpp"

namespace vphi::program {
namespace {

Program sample() {
  Program p = test::wave_program({});
  p.dt = 0.1;  // no finite binary fraction
  p.seed = 0xffffffffffffffffULL;
  p.parameters.emplace_back("tiny", 4.9406564584124654e-324);
  p.random.push_back({RandomField::Kind::Vacuum, test::kNoise, 1, true, 0.3, 2e-5, 0, 1, 0, false});
  p.model_text = "phi'' = \"quoted\" \\ \n # \u03c6";
  p.kernels[0].notes = {"line 3"};
  p.kernels[0].arguments[0] = {Argument::Kind::Current, test::kPhi, 512, Precision::F32, true};
  return p;
}

TEST(Json, RoundTripIsExact) {
  const Program p = sample();
  for (int indent : {-1, 0, 1, 2}) {
    const std::string text = to_json(p, indent);
    const Program back = from_json(text);
    EXPECT_EQ(to_json(back, indent), text);
    EXPECT_EQ(back.dt, p.dt);
    EXPECT_EQ(back.seed, p.seed);
    EXPECT_EQ(back.parameters, p.parameters);
    EXPECT_EQ(back.model_text, p.model_text);
    EXPECT_EQ(back.kernels[1].source, p.kernels[1].source);
    EXPECT_EQ(back.random[0].amplitude, p.random[0].amplitude);
    EXPECT_EQ(back.outputs[1].fields.size(), 4U);
    EXPECT_EQ(back.step[0].swap, p.step[0].swap);
    EXPECT_EQ(back.kernels[0].arguments[0].bytes, 512);
    EXPECT_TRUE(back.kernels[0].arguments[0].written);
  }
}

std::string refusal(const std::string& text) {
  try {
    from_json(text);
  } catch (const ProgramError& error) {
    return error.what();
  }
  return "";
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Json, InfinityAndNanSurvive) {
  Program p = sample();
  p.scalars[0].initial = -std::numeric_limits<double>::infinity();
  p.parameters.emplace_back("most", std::numeric_limits<double>::infinity());
  p.parameters.emplace_back("none", std::numeric_limits<double>::quiet_NaN());
  const Program back = from_json(to_json(p));
  EXPECT_EQ(back.scalars[0].initial, p.scalars[0].initial);
  EXPECT_EQ(back.parameters[back.parameters.size() - 2].second,
            std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(back.parameters.back().second));
}

TEST(Json, WhatIsNoProgramIsRefused) {
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal("{"), "");
  EXPECT_NE(refusal("[]"), "");
  EXPECT_NE(refusal("{}"), "");
  const std::string text = to_json(sample(), -1);
  EXPECT_NE(refusal(text.substr(0, text.size() / 2)), "");
  EXPECT_NE(refusal(with(text, "\"vphi_program\":1", "\"vphi_program\":99")).find("format 99"),
            std::string::npos);
  EXPECT_NE(refusal(with(text, "\"dims\":1", "\"dims\":\"1\"")).find("dims"), std::string::npos);
  EXPECT_NE(refusal(with(text, "\"dims\":1,", "")).find("dims: missing"), std::string::npos);
  EXPECT_NE(refusal(with(text, "\"native\"", "\"abacus\"")).find("abacus"), std::string::npos);
  EXPECT_NE(refusal(with(text, "\"dims\":1", "\"dims\":99999999999")).find("range"),
            std::string::npos);
}

TEST(Json, BrokenRulesAreNamed) {
  EXPECT_TRUE(problems(sample()).empty());
  const auto broken = [](auto change) {
    Program p = sample();
    change(p);
    return !problems(p).empty();
  };
  EXPECT_TRUE(broken([](Program& p) { p.step[0].kernel = 77; }));
  EXPECT_TRUE(broken([](Program& p) { p.step[0].swap = {test::kPi}; }));
  EXPECT_TRUE(broken([](Program& p) { p.kernels[0].arguments[0].index = -1; }));
  EXPECT_TRUE(broken([](Program& p) {
    p.kernels[0].arguments[0] = {Argument::Kind::Next, test::kPi};
  }));
  EXPECT_TRUE(broken([](Program& p) { p.kernels[0].grid[0] = 0; }));
  EXPECT_TRUE(broken([](Program& p) { p.kernels[0].source.clear(); }));
  EXPECT_TRUE(broken([](Program& p) { p.outputs[0].scalars[0].slot = 1000; }));
  EXPECT_TRUE(broken([](Program& p) { p.outputs[1].fields[3].plane = 64; }));
  EXPECT_TRUE(broken([](Program& p) { p.expectations[1].ok_slot = -1; }));
  EXPECT_TRUE(broken([](Program& p) { p.extent = {0, 1, 1, 1}; }));
  EXPECT_TRUE(broken([](Program& p) { p.extent = {1 << 20, 1 << 20, 1, 1}; }));
  EXPECT_TRUE(broken([](Program& p) { p.random[0].mass2 = NAN; }));
  EXPECT_TRUE(broken([](Program& p) { p.stop_slot = 50; }));
}

}  // namespace
}  // namespace vphi::program
