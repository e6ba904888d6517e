// Text of a device's language with the names that it uses and the items that it defines.
#include <gtest/gtest.h>

#include <stdexcept>

#include "compiler/emit/text/fill.hpp"

namespace vphi::emit {
namespace {

TEST(Code, KnowsTheNamesOfItsFormat) {
  EXPECT_EQ(code("vphi_min_{}(a, {})", "f32", 1).uses(), (Names{"vphi_min_f32"}));
  EXPECT_EQ(code("const vphi_{1} x = {0};", 1, "index").uses(), (Names{"vphi_index"}));
  EXPECT_EQ(code("{}({})", "sqrt", "a + b").uses(), (Names{"sqrt"}));
  EXPECT_EQ(code("{{ {} }}", "a").uses(), Names{});
  EXPECT_EQ(Code("vphi_barrier();\n").uses(), (Names{"vphi_barrier"}));
  EXPECT_EQ(Code(std::string("vphi_barrier();\n")).uses(), Names{});  // a name or number
}

// Else nobody would know that it is called.
TEST(Code, ANameDoesNotRunIntoWhatIsBesideIt) {
  EXPECT_THROW(code("{}vphi_end(thread);", "  "), std::logic_error);
  EXPECT_THROW(code("vphi_end_{}{};", "k", "(thread)"), std::logic_error);
  EXPECT_EQ(code("vphi_end_{}({});", "k", "thread").uses(), (Names{"vphi_end_k"}));
}

TEST(Code, KnowsTheNamesOfWhatIsPutIntoIt) {
  const Code inner = code("vphi_f({})", 2);
  const Code outer = "if (test) " + code("{} = vphi_g({:x}u, {});\n", "x", 255, inner);
  EXPECT_EQ(outer.str(), "if (test) x = vphi_g(ffu, vphi_f(2));\n");
  EXPECT_EQ(outer.uses(), (Names{"vphi_f", "vphi_g"}));
  EXPECT_EQ(indent(outer, 2).str(), "  " + outer.str());
  EXPECT_EQ(indent(outer, 2).uses(), outer.uses());
}

TEST(Code, FunctionsThatNobodyCallsAreLeftOut) {
  const auto function = [](const char* name, const char* called) {
    return Code::item(name, code("int {}(int a) {{ return {}(a); }}\n", name, called));
  };
  const Code type = Code::item("vphi_words", "typedef int vphi_words;\n", true);
  const Code text = type + function("vphi_a", "vphi_b") + function("vphi_b", "abs") +
                    function("vphi_c", "vphi_b") + "int main() { return vphi_a(1); }\n";
  EXPECT_EQ(finished(text),
            "typedef int vphi_words;\nint vphi_a(int a) { return vphi_b(a); }\n"
            "int vphi_b(int a) { return abs(a); }\nint main() { return vphi_a(1); }\n");
}

constexpr const char* kTemplate =
    "#define twice(a) 2*a\n"
    "typedef struct {\n"
    "  @real@ a;\n"
    "} vphi_pair;\n"
    "// Half of it,\n"
    "// as a function.\n"
    "VPHI_INLINE @real@ vphi_half_@name@(@real@ a) {\n"
    "  return vphi_part(a, 2);\n"
    "}\n"
    "VPHI_INLINE int vphi_none(int a) { return a; }\n"
    "\n"
    "@kernel@\n";

TEST(Fill, ATemplateKnowsWhatItDefinesAndCalls) {
  const Code text = fill_text(
      kTemplate, {{"real", "float"}, {"name", "wave"}, {"kernel", "x = vphi_half_wave(1);\n"}});
  ASSERT_EQ(text.items().size(), 3u);
  EXPECT_EQ(text.items()[0].name, "vphi_pair");
  EXPECT_TRUE(text.items()[0].kept);
  EXPECT_EQ(text.items()[1].name, "vphi_half_wave");
  EXPECT_TRUE(text.items()[1].uses.contains("vphi_part"));
  EXPECT_EQ(text.items()[2].name, "vphi_none");
  EXPECT_TRUE(text.uses().contains("vphi_half_wave"));
  EXPECT_EQ(finished(text),
            "#define twice(a) 2*a\ntypedef struct {\n  float a;\n} vphi_pair;\n"
            "// Half of it,\n// as a function.\n"
            "VPHI_INLINE float vphi_half_wave(float a) {\n  return vphi_part(a, 2);\n}\n"
            "\nx = vphi_half_wave(1);\n");
}

TEST(Fill, WithoutACallTheFunctionGoesWithItsComment) {
  const Code text = fill_text(kTemplate, {{"real", "float"}, {"name", "wave"}, {"kernel", ""}});
  EXPECT_EQ(finished(text), "#define twice(a) 2*a\ntypedef struct {\n  float a;\n} vphi_pair;\n\n");
}

TEST(Fill, ItemsOfASlotStayItems) {
  const Code inner = fill_text(kTemplate, {{"real", "int"}, {"name", "k"}, {"kernel", ""}});
  const Code outer =
      fill_text("@inner@\nint main() { return vphi_none(1); }\n", {{"inner", inner}});
  EXPECT_EQ(outer.items().size(), 3u);
  EXPECT_EQ(
      finished(outer),
      "#define twice(a) 2*a\ntypedef struct {\n  int a;\n} vphi_pair;\n"
      "VPHI_INLINE int vphi_none(int a) { return a; }\n\nint main() { return vphi_none(1); }\n");
}

}  // namespace
}  // namespace vphi::emit
