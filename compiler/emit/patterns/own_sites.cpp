#include "compiler/emit/patterns/own_sites.hpp"

#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/memory/gather.hpp"
#include "compiler/kernel/device.hpp"

namespace vphi::emit {
namespace {

using kernel::Kernel;

/// Registers for values that stay; a thread has 128 where two groups of 256 share a multiprocessor.
constexpr std::int64_t kMostWords = 64;

Code array_of(const Kernel& kernel, std::size_t i) {
  return code("vphi_array_{}", kernel.arrays[i].array);
}

}  // namespace

bool reads_own_site_alone(const Kernel& kernel) {
  const auto elsewhere = [](algebra::Expr node) {
    return node.is(algebra::Op::Stencil) || (node.is(algebra::Op::Load) && !node->offset.zero());
  };
  return !kernel::sums_pairs(kernel) &&
         std::ranges::none_of(kernel.values(), [&](algebra::Expr value) {
           return algebra::contains(value, elsewhere);
         });
}

OwnSites::OwnSites(const Kernel& persistent, const Dialect& dialect, std::int64_t groups)
    : kernel_(persistent) {
  if (*dialect.texts.wait == '\0') return;
  stride_ = groups * persistent.threads;
  const std::int64_t number = (persistent.sites() + stride_ - 1) / stride_;
  std::int64_t words = 0;
  for (const kernel::ArrayParam& array : persistent.arrays) {
    if (array.elements != 0 || array.next) return;
    words += number * bytes_of(array.store) / 4;
  }
  const bool own = std::ranges::all_of(persistent.stages, reads_own_site_alone);
  const auto few = [](const Kernel& stage) {
    return stage.arrays.size() < kernel::kManyReads;  // so that its site function is in one piece
  };
  if (own && words <= kMostWords && std::ranges::all_of(persistent.stages, few)) number_ = number;
}

// All sites of a thread but the last lie in the box.
Code OwnSites::each(const Code& lines) const {
  const std::int64_t whole = kernel_.sites() / stride_;
  Code test;
  if (whole < number_)
    test = whole > 0 ? code("if (k < {}u || at < {}u) ", whole, kernel_.sites())
                     : code("if (at < {}u) ", kernel_.sites());
  return code(
      "VPHI_UNROLL\n"
      "for (unsigned k = 0u; k < {}u; ++k) {{\n"
      "  const vphi_index at = (vphi_index)vphi_group() * {}u + thread + k * {}u;\n"
      "  {}{{\n{}  }}\n"
      "}}\n",
      number_, kernel_.threads, stride_, test, indent(lines, 4));
}

Code OwnSites::element(std::size_t array) const {
  return code("own_{}[k]", kernel_.arrays[array].array);
}

Code OwnSites::load() const {
  if (!any()) return {};
  Code text, lines;
  for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
    text += code("{} own_{}[{}];\n", type_name(kernel_.arrays[i].store), kernel_.arrays[i].array,
                 number_);
    lines += element(i) + " = " + array_of(kernel_, i) + "[at];\n";
  }
  return text + each(lines);
}

Code OwnSites::store() const {
  Code lines;
  for (std::size_t i = 0; i < kernel_.arrays.size(); ++i)
    if (kernel_.arrays[i].written) lines += array_of(kernel_, i) + "[at] = " + element(i) + ";\n";
  return any() && !lines.empty() ? each(lines) : Code();
}

Code OwnSites::names(const Job& job) const {
  Code text;
  for (std::size_t i = 0; i < job.kernel.arrays.size(); ++i) {
    const kernel::ArrayParam& array = job.kernel.arrays[i];
    const char* type = type_name(array.store);
    const auto alias = [&](const Code& name) {
      text += code("{} (&{})[{}] = own_{};\n", type, name, number_, array.array);
    };
    if (array.read) alias(Gather::old_of_strip(job, i));
    if (array.written) alias(Gather::next_of_strip(job, i));
  }
  return text;
}

Code OwnSites::loop(const Job& job, const Code& parameters, const Code& accumulate) const {
  return each(parameters + code("vphi_in_{} in;\n", job.body.suffix) + Gather(job).lines_of_own() +
              code("const vphi_out_{0} out = vphi_site_{0}(in, par);\n", job.body.suffix) +
              Gather::stores(job, true) + accumulate);
}

}  // namespace vphi::emit
