#include <fmt/format.h>

#include <stdexcept>

#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/emit.hpp"
#include "compiler/emit/text/fill.hpp"

namespace vphi::emit {
namespace {

char kind_letter(const program::Argument& argument) {
  using Kind = program::Argument::Kind;
  switch (argument.kind) {
    case Kind::Scalars:
      return 's';
    case Kind::Partials:
    case Kind::Gathered:
      return 'p';
    case Kind::Counter:
      return 'c';
    case Kind::Current:
    case Kind::Next:
    case Kind::Whole:
      break;
  }
  return argument.precision == program::Precision::F32 ? 'f' : 'd';
}

}  // namespace

std::string stand_alone(const program::Kernel& kernel, program::Target target) {
  TargetInfo info;
  info.target = target;
  const Dialect& dialect = dialect_of(info);
  if (*dialect.texts.main == '\0')
    throw std::invalid_argument(std::string("there is no main for ") + dialect.shown);
  Slots slots;
  slots["source"] = kernel.source;
  slots["entry"] = kernel.entry;
  slots["tasks"] = std::to_string(kernel.grid[0]);
  slots["finish_call"] = kernel.finish.empty() ? "" : kernel.finish + "(args.data());";
  slots["grid"] = fmt::format("{}, {}, {}", kernel.grid[0], kernel.grid[1], kernel.grid[2]);
  slots["block"] = fmt::format("{}, {}, {}", kernel.block[0], kernel.block[1], kernel.block[2]);
  slots["shared"] = std::to_string(kernel.shared_bytes);
  for (const program::Argument& argument : kernel.arguments)
    slots["table"] +=
        fmt::format("{{{}, '{}', {}}},\n", argument.bytes, kind_letter(argument), argument.written);
  slots["common"] = fill("main_common.txt", slots);
  return fill(dialect.texts.main, slots).str();
}

}  // namespace vphi::emit
