// Answers of ranks, and errors as bytes.
#include <fmt/format.h>

#include "program/json.hpp"
#include "runtime/io/configurations/configuration.hpp"
#include "runtime/io/results.hpp"
#include "runtime/run/ranks/worker.hpp"
#include "runtime/run/session.hpp"

namespace vphi::runtime {

namespace {

enum class Kind : std::uint64_t {
  Fine,
  Run,
  Device,
  Configuration,
  Results,
  Program,
  Memory,
  Other,
};

struct Trouble {
  Kind kind = Kind::Other;
  std::string code, what, hint = {};  ///< of a device: its log in place of a hint
  std::uint64_t problem = 0;          ///< of a configuration
};

Trouble trouble_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const RunError& e) {
    return {Kind::Run, e.code, e.what(), e.hint};
  } catch (const DeviceError& e) {
    return {Kind::Device, {}, e.what(), e.log};
  } catch (const io::ConfigurationError& e) {
    return {Kind::Configuration, {}, e.what(), {}, static_cast<std::uint64_t>(e.problem)};
  } catch (const io::ResultsError& e) {
    return {Kind::Results, {}, e.what()};
  } catch (const program::ProgramError& e) {
    return {Kind::Program, {}, e.what()};
  } catch (const std::bad_alloc&) {
    return {Kind::Memory, {}, "the host ran out of memory"};
  } catch (const std::exception& e) {
    return {Kind::Other, {}, e.what()};
  }
}

[[noreturn]] void raise(const Trouble& trouble, const std::string& who) {
  const std::string what = fmt::format("{}: {}", who, trouble.what);
  switch (trouble.kind) {
    case Kind::Run:
      throw RunError(trouble.code, what, trouble.hint);
    case Kind::Device:
      throw DeviceError(what, trouble.hint);
    case Kind::Configuration:
      throw io::ConfigurationError(static_cast<io::ConfigurationError::Problem>(trouble.problem),
                                   what);
    case Kind::Results:
      throw io::ResultsError(what);
    case Kind::Program:
      throw program::ProgramError(what);
    case Kind::Memory:
      throw RunError("E0802", what, "fewer instances at once: --batch");
    case Kind::Fine:
    case Kind::Other:
      break;
  }
  throw std::runtime_error(what);
}

}  // namespace

comm::Bytes answer(std::span<const std::byte> content) {
  Packer to;
  to.number(static_cast<std::uint64_t>(Kind::Fine));
  comm::Bytes bytes = to.all();
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

comm::Bytes answer_of(std::exception_ptr error) {
  const Trouble trouble = trouble_of(error);
  Packer to;
  to.number(static_cast<std::uint64_t>(trouble.kind));
  for (const std::string* text : {&trouble.code, &trouble.what, &trouble.hint}) to.text(*text);
  to.number(trouble.problem);
  return to.all();
}

comm::Bytes open_answer(const comm::Bytes& bytes, const std::string& who) {
  Unpacker from(bytes);
  Trouble trouble;
  trouble.kind = static_cast<Kind>(from.number());
  if (trouble.kind == Kind::Fine) return {bytes.begin() + 8, bytes.end()};
  for (std::string* text : {&trouble.code, &trouble.what, &trouble.hint}) *text = from.text();
  trouble.problem = from.number();
  raise(trouble, who);
}

void put_launches(Packer& to, const std::vector<program::Launch>& list) {
  to.list(list, [&](const program::Launch& launch) {
    to.whole(launch.kernel);
    to.list(launch.swap, [&](int buffer) { to.whole(buffer); });
    to.list(launch.halos, [&](const program::Halo& halo) {
      to.whole(halo.buffer);
      for (const auto& both : {halo.depth, halo.beside}) to.whole(both[0]), to.whole(both[1]);
      to.whole(static_cast<std::int64_t>(halo.classes));
    });
    to.whole(launch.solve);
    to.list(launch.maps, [&](int map) { to.whole(map); });
  });
}

std::vector<program::Launch> get_launches(Unpacker& from) {
  const auto number = [&] { return static_cast<int>(from.whole()); };
  return from.list<program::Launch>(32, [&] {
    program::Launch launch;
    launch.kernel = number();
    launch.swap = from.list<int>(8, number);
    launch.halos = from.list<program::Halo>(48, [&] {
      program::Halo halo;
      halo.buffer = number();
      for (auto* both : {&halo.depth, &halo.beside}) (*both)[0] = number(), (*both)[1] = number();
      halo.classes = static_cast<std::uint64_t>(from.whole());
      return halo;
    });
    launch.solve = number();
    launch.maps = from.list<int>(8, number);
    return launch;
  });
}

void put_transform(Packer& to, const program::Transform& transform) {
  to.whole(static_cast<std::int64_t>(transform.kind));
  to.list(transform.buffers, [&](int buffer) { to.whole(buffer); });
  to.list(transform.derivative, [&](const program::Symbol& symbol) {
    to.list(symbol.offsets, [&](const std::array<int, 4>& offset) {
      for (const int along : offset) to.whole(along);
    });
    to.reals(symbol.weights);
  });
}

program::Transform get_transform(Unpacker& from) {
  const auto number = [&] { return static_cast<int>(from.whole()); };
  program::Transform transform;
  transform.kind = static_cast<program::Transform::Kind>(from.whole());
  transform.buffers = from.list<int>(8, number);
  transform.derivative = from.list<program::Symbol>(16, [&] {
    program::Symbol symbol;
    symbol.offsets = from.list<std::array<int, 4>>(32, [&] {
      std::array<int, 4> offset{};
      for (int& along : offset) along = number();
      return offset;
    });
    symbol.weights = from.reals();
    return symbol;
  });
  return transform;
}

std::vector<double> numbers_of_bytes(std::span<const std::byte> bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
  return numbers;
}

}  // namespace vphi::runtime
