#include "runtime/run/state/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "runtime/io/files/crc32c.hpp"
#include "runtime/io/files/undo_file.hpp"
#include "runtime/run/state/packing.hpp"

namespace vphi::runtime {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Bytes = std::vector<std::byte>;

namespace {

constexpr char kMagic[17] = "vphi checkpoint\n";
constexpr std::uint32_t kVersion = 2;
constexpr std::uint64_t kStart = 32;                       ///< bytes before the head
constexpr std::uint64_t kPiece = std::uint64_t{16} << 20;  ///< bytes under one checksum
constexpr std::uint64_t kMostHead = std::uint64_t{64} << 20;

std::uint64_t stored(std::uint64_t bytes) { return bytes + 4 * ((bytes + kPiece - 1) / kPiece); }

Bytes pack(const CheckpointRun& run) {
  Packer to;
  to.number(run.scalar_names.size());
  for (const auto& name : run.scalar_names) to.text(name);
  to.reals(run.scalars);
  const ObserverState& o = run.observer;
  to.number(o.series.size());
  for (std::size_t i = 0; i < o.series.size(); ++i) {
    to.text(o.series[i].name);
    to.number(static_cast<std::uint64_t>(o.last_step[i]));
    to.points(o.series[i].points);
  }
  to.number(o.expectations.results.size());
  for (std::size_t i = 0; i < o.expectations.results.size(); ++i) {
    const auto& result = o.expectations.results[i];
    const auto& memory = o.expectations.memory[i];
    to.text(result.text);
    to.number(result.ok ? 1 : 0);
    to.reals(std::array{result.value, result.time, memory.first, memory.largest_change,
                        memory.largest_scale, memory.begun ? 1.0 : 0.0});
    to.points(result.history);
  }
  to.number(static_cast<std::uint64_t>(o.observed));
  to.reals(run.watched_at_start);
  to.number(run.marks.size());
  for (const auto& [name, mark] : run.marks) to.text(name), to.text(mark);
  to.bytes(run.ensemble);
  to.list(o.earlier, [&](const auto& entry) {
    to.number(entry.first.first);
    to.number(entry.first.second);
    to.real(entry.second.time);
    to.real(entry.second.level);
    to.list(entry.second.values, [&](const auto& values) { to.reals(values); });
  });
  return to.all();
}

CheckpointRun unpack(std::span<const std::byte> bytes) {
  Unpacker from(bytes);
  CheckpointRun run;
  run.scalar_names.resize(from.count(8));
  for (auto& name : run.scalar_names) name = from.text();
  run.scalars = from.reals();
  ObserverState& o = run.observer;
  o.series.resize(from.count(24));
  for (auto& series : o.series) {
    series.name = from.text();
    o.last_step.push_back(static_cast<std::int64_t>(from.number()));
    series.points = from.points();
  }
  o.expectations.results.resize(from.count(32));
  for (auto& result : o.expectations.results) {
    result.text = from.text();
    result.ok = from.number() != 0;
    const auto reals = from.reals();
    if (reals.size() != 6) throw DamagedCheckpoint("an expectation has other numbers");
    result.value = reals[0], result.time = reals[1];
    o.expectations.memory.push_back({reals[2], reals[3], reals[4], reals[5] != 0});
    result.history = from.points();
  }
  o.observed = static_cast<std::int64_t>(from.number());
  run.watched_at_start = from.reals();
  run.marks.resize(from.count(16));
  for (auto& [name, mark] : run.marks) name = from.text(), mark = from.text();
  if (!from.empty()) run.ensemble = from.bytes();  // older files have none
  if (from.empty()) return run;
  for (std::size_t i = from.count(40); i > 0; --i) {
    const std::uint64_t output = from.number(), field = from.number();
    observe::Arrays& arrays = o.earlier[{output, field}];
    arrays.time = from.real();
    arrays.level = from.real();
    arrays.values = from.list<std::vector<double>>(8, [&] { return from.reals(); });
  }
  return run;
}

// ---- the head
// -------------------------------------------------------------------------------------

std::string head_text(const CheckpointHead& h, std::uint64_t run_bytes) {
  Json json = {{"model", h.model},
               {"model_text", h.model_text},
               {"compiler", h.compiler_version},
               {"vphi", h.vphi_version},
               {"device", h.device},
               {"target", h.target},
               {"call", h.call},
               {"dims", h.dims},
               {"extent", h.extent},
               {"dx", h.dx},
               {"dt", h.dt},
               {"seed", h.seed},
               {"parameters", h.parameters},
               {"step", h.step},
               {"generation", h.generation},
               {"time", h.time},
               {"seconds", h.seconds},
               {"finished", h.finished}};
  json["blocks"] = {{{"name", "run"}, {"bytes", run_bytes}}};
  for (const auto& array : h.arrays)
    json["blocks"].push_back(
        {{"name", array.name}, {"bytes", array.bytes}, {"precision", name_of(array.precision)}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

// ---- writing
// --------------------------------------------------------------------------------------

struct CheckpointWriter::State {
  fs::path path, beside;
  io::Descriptor file;
  std::uint64_t at = 0;
  bool done = false;

  void write(std::span<const std::byte> bytes) {
    io::write_fully(file.number(), at, bytes, beside.string());
    at += bytes.size();
  }
  void write_number(std::uint32_t value) { write(std::as_bytes(std::span(&value, 1))); }
  void write_block(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), kPiece));
      write(piece);
      write_number(io::crc32c(piece));
      bytes = bytes.subspan(piece.size());
    }
  }
};

CheckpointWriter::CheckpointWriter(fs::path path, const CheckpointHead& head,
                                   const CheckpointRun& run)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = std::move(path);
  s.beside = s.path.string() + ".writing";
  std::error_code error;
  io::refuse_special(s.path);
  fs::create_directories(s.path.parent_path(), error);
  s.file = io::Descriptor(::open(s.beside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!s.file)
    throw io::ResultsError(fmt::format("{} cannot be made: {}", s.beside.string(),
                                       std::error_code(errno, std::generic_category()).message()));
  const Bytes packed = pack(run);
  const std::string text = head_text(head, packed.size());
  const auto bytes = std::as_bytes(std::span(text));
  s.write({reinterpret_cast<const std::byte*>(kMagic), 16});
  s.write_number(kVersion);
  s.write_number(io::crc32c(bytes));
  const std::uint64_t length = text.size();
  s.write(std::as_bytes(std::span(&length, 1)));
  s.write(bytes);
  s.write_block(packed);
}

CheckpointWriter::~CheckpointWriter() {
  if (state_->done) return;
  std::error_code error;  // the incomplete file is useless and may have filled the disk
  fs::remove(state_->beside, error);
}

void CheckpointWriter::array(std::span<const std::byte> bytes) { state_->write_block(bytes); }

std::uint64_t CheckpointWriter::bytes() const { return state_->at; }

void CheckpointWriter::finish() {
  State& s = *state_;
  const auto fail = [&](const fs::path& path, const std::error_code& error) {
    throw io::ResultsError(fmt::format("{} cannot be written: {}", path.string(), error.message()));
  };
  if (::fsync(s.file.number()) != 0)
    fail(s.beside, std::error_code(errno, std::generic_category()));
  std::error_code error;
  if (fs::exists(s.path, error)) {
    fs::rename(s.path, s.path.string() + ".before", error);
    if (error) fail(s.path, error);
  }
  fs::rename(s.beside, s.path, error);
  if (error) fail(s.path, error);
  s.done = true;
  io::sync_folder(s.path.parent_path());
}

// ---- reading
// --------------------------------------------------------------------------------------

CheckpointReader::CheckpointReader(const fs::path& path) {
  const auto file = std::make_shared<io::Descriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::error_code error(errno, std::generic_category());
  if (*file) source_.size = fs::file_size(path, error);
  if (!*file || error)
    throw io::ResultsError(fmt::format("{} cannot be opened: {}", path.string(), error.message()));
  source_.read = [file, name = path.string()](std::uint64_t at, std::span<std::byte> to) {
    return io::read_fully(file->number(), at, to, name);
  };
  read_head();
}

CheckpointReader::CheckpointReader(Source source) : source_(std::move(source)) { read_head(); }

void CheckpointReader::read_head() {
  std::array<std::byte, kStart> start{};
  if (source_.read(0, start) < kStart || std::memcmp(start.data(), kMagic, 16) != 0)
    throw DamagedCheckpoint("it does not begin as a checkpoint does");
  std::uint32_t version, sum;
  std::uint64_t length;
  std::memcpy(&version, &start[16], 4);
  std::memcpy(&sum, &start[20], 4);
  std::memcpy(&length, &start[24], 8);
  if (version != kVersion)
    throw DamagedCheckpoint(fmt::format("its format is {}, this vphi reads {}", version, kVersion));
  if (length > kMostHead || length > source_.size - kStart)
    throw DamagedCheckpoint("its head is cut off");
  Bytes text(length);
  if (source_.read(kStart, text) < length) throw DamagedCheckpoint("its head is cut off");
  if (io::crc32c(text) != sum) throw DamagedCheckpoint("the checksum of its head is wrong");
  try {
    const Json json = Json::parse(reinterpret_cast<const char*>(text.data()),
                                  reinterpret_cast<const char*>(text.data()) + text.size());
    CheckpointHead& h = head_;
    json.at("model").get_to(h.model);
    json.at("model_text").get_to(h.model_text);
    json.at("compiler").get_to(h.compiler_version);
    json.at("vphi").get_to(h.vphi_version);
    json.at("device").get_to(h.device);
    json.at("target").get_to(h.target);
    json.at("call").get_to(h.call);
    json.at("dims").get_to(h.dims);
    json.at("extent").get_to(h.extent);
    json.at("dx").get_to(h.dx);
    json.at("dt").get_to(h.dt);
    json.at("seed").get_to(h.seed);
    json.at("parameters").get_to(h.parameters);
    json.at("step").get_to(h.step);
    json.at("generation").get_to(h.generation);
    json.at("time").get_to(h.time);
    json.at("seconds").get_to(h.seconds);
    json.at("finished").get_to(h.finished);
    std::uint64_t at = kStart + length;
    for (const Json& block : json.at("blocks")) {
      const auto bytes = block.at("bytes").get<std::uint64_t>();
      if (bytes > source_.size || stored(bytes) > source_.size - at)
        throw DamagedCheckpoint("its end is missing");
      blocks_.emplace_back(at, bytes);
      at += stored(bytes);
      if (blocks_.size() == 1) continue;
      const bool narrow = block.at("precision") == "f32";
      h.arrays.push_back({block.at("name").get<std::string>(),
                          narrow ? program::Precision::F32 : program::Precision::F64, bytes});
    }
    if (blocks_.empty()) throw DamagedCheckpoint("it holds nothing");
    if (at != source_.size) throw DamagedCheckpoint("it is longer than it should be");
  } catch (const Json::exception&) {
    throw DamagedCheckpoint("its head is not what a checkpoint has");
  }
}

Bytes CheckpointReader::block(std::size_t index) const {
  auto [at, bytes] = blocks_.at(index);
  Bytes data(bytes);
  for (std::size_t done = 0; done < bytes;) {
    const auto piece = std::span(data).subspan(done, std::min<std::size_t>(bytes - done, kPiece));
    std::uint32_t sum = 0;
    if (source_.read(at, piece) < piece.size() ||
        source_.read(at + piece.size(), std::as_writable_bytes(std::span(&sum, 1))) < 4)
      throw DamagedCheckpoint("its end is missing");
    if (io::crc32c(piece) != sum)
      throw DamagedCheckpoint(
          fmt::format("a checksum is wrong in `{}`",
                      index == 0 ? std::string("run") : head_.arrays[index - 1].name));
    at += piece.size() + 4;
    done += piece.size();
  }
  return data;
}

CheckpointRun CheckpointReader::run() const { return unpack(block(0)); }

Bytes CheckpointReader::array(std::size_t index) const { return block(index + 1); }

void CheckpointReader::check() const {
  run();
  for (std::size_t i = 0; i < head_.arrays.size(); ++i) array(i);
}

CheckpointFiles checkpoint_files(const fs::path& out, const std::string& model) {
  const fs::path folder = out / "checkpoint";
  const fs::path newest = folder / (model + ".checkpoint");
  return {folder, newest, newest.string() + ".before"};
}

void fuzz_checkpoint(std::span<const std::byte> bytes) {
  const CheckpointReader::Source source{
      bytes.size(), [bytes](std::uint64_t at, std::span<std::byte> to) -> std::size_t {
        if (at >= bytes.size()) return 0;
        const std::size_t count = std::min<std::size_t>(to.size(), bytes.size() - at);
        std::ranges::copy(bytes.subspan(at, count), to.begin());  // `to` may be empty
        return count;
      }};
  try {
    CheckpointReader(source).check();
  } catch (const DamagedCheckpoint&) {
  }
}

}  // namespace vphi::runtime
