// The readable form of kernels: names in place of numbers, the model's lines beside statements.
#include <gtest/gtest.h>

#include "compiler/compile.hpp"
#include "tests/support/places.hpp"

namespace vphi {
namespace {

std::string sources(const std::string& model, bool reading, program::Target target,
                    std::int64_t batch = 0) {
  emit::TargetInfo info;
  info.target = target;
  info.is_cpu = target == program::Target::Native;
  CompileOptions options;
  options.reading = reading;
  options.batch = batch;
  const Compilation c =
      compile_model(std::string(VPHI_SOURCE_DIR) + "/models/" + model, options, info);
  EXPECT_TRUE(c.program) << model;
  std::string text;
  if (c.program)
    for (const program::Kernel& kernel : c.program->kernels) text += kernel.source;
  return text;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Reading, SaysLinesAndSlots) {
  for (const program::Target target : {program::Target::Native, program::Target::Cuda}) {
    const std::string text = sources("cosmology/preheating.vphi", true, target);
    EXPECT_TRUE(holds(text, "  // line ")) << text.substr(0, 4000);
    EXPECT_TRUE(holds(text, "scalars[vphi_slot_"));
  }
}

// Scalars that lie [slot][instance] have names too, and where an instance keeps its own.
TEST(Reading, NamesSlotsThatLieByInstance) {
  const std::string text = sources("noise/langevin.vphi", true, program::Target::Cuda, 5000);
  EXPECT_TRUE(holds(text, "scalars[vphi_slot_"));
  EXPECT_TRUE(holds(text, " * 5000ull]") || holds(text, " * 1000ull]")) << text.substr(0, 6000);
}

TEST(Reading, WhatIsCompiledHasNoneOfIt) {
  for (const char* model : {"cosmology/preheating.vphi", "noise/langevin.vphi"}) {
    const std::string text = sources(model, false, program::Target::Cuda);
    EXPECT_FALSE(holds(text, "vphi_slot_") || holds(text, "// line ") || holds(text, "per_dx2"));
  }
}

}  // namespace
}  // namespace vphi
