// A checkpoint: everything a run needs to continue bit for bit, as plain data and as a file.
//
// The file, all numbers little-endian:
//   "vphi checkpoint\n"  16 bytes
//   version u32 (2), CRC-32C of the head u32, length of the head u64
//   head                 JSON: what a person or a tool wants to know, and the list of blocks
//   blocks               in the order of the list: pieces of at most 16 MiB, each followed by its
//                        CRC-32C (u32)
// The first block, "run", holds scalars, series, expectations and file marks; then one block for
// each array of state, in the order of the device's memory. A file with a wrong length or a wrong
// checksum is damaged; DamagedCheckpoint has the reason. Random numbers need no block: they are
// functions of seed, stream, site and step.
//
// The file is written under a temporary name (".writing"), synced and renamed. The checkpoint
// before it is kept (".before").
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/run/observe.hpp"
#include "runtime/run/state/packing.hpp"

namespace vphi::runtime {

/// The head of a checkpoint.
struct CheckpointHead {
  std::string model, model_text, compiler_version, vphi_version, device, target;
  std::vector<std::pair<std::string, std::string>> call;  ///< options of the command, for messages
  int dims = 3;
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  double dx = 1, dt = 0;
  std::uint64_t seed = 1;
  std::vector<std::pair<std::string, double>> parameters;
  std::int64_t step = 0, generation = 0;
  double time = 0;
  double seconds = 0;     ///< time spent in steps since the run began, including earlier parts
  bool finished = false;  ///< the run had reached its end
  struct Array {
    std::string name;
    program::Precision precision = program::Precision::F64;
    std::uint64_t bytes = 0;
  };
  std::vector<Array> arrays;  ///< the blocks after "run"
};

/// The block "run".
struct CheckpointRun {
  std::vector<std::string> scalar_names;
  std::vector<double> scalars;  ///< a multiple of the names: all instances
  ObserverState observer;
  std::vector<double> watched_at_start;
  std::vector<std::pair<std::string, std::string>> marks;  ///< marks of the result files
  std::vector<std::byte> ensemble;                         ///< Ensemble::save; empty: no sweep
};

/// Writes the parts of one checkpoint in order; `finish` gives the file its name. A failure throws
/// io::ResultsError and leaves existing files unchanged.
class CheckpointWriter {
 public:
  CheckpointWriter(std::filesystem::path path, const CheckpointHead& head,
                   const CheckpointRun& run);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  void array(std::span<const std::byte> bytes);
  void finish();
  std::uint64_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The state of a run at one step, in memory or in a file, from which a run may go on.
class SavedState {
 public:
  virtual ~SavedState() = default;
  virtual const CheckpointHead& head() const = 0;
  virtual CheckpointRun run() const = 0;
  /// The bytes of head().arrays[index].
  virtual std::vector<std::byte> array(std::size_t index) const = 0;
};

/// A state in the memory of the host.
class StateInMemory : public SavedState {
 public:
  StateInMemory(CheckpointHead head, CheckpointRun run, std::vector<std::vector<std::byte>> arrays)
      : head_(std::move(head)), run_(std::move(run)), arrays_(std::move(arrays)) {}
  const CheckpointHead& head() const override { return head_; }
  CheckpointRun run() const override { return run_; }
  std::vector<std::byte> array(std::size_t index) const override { return arrays_.at(index); }

 private:
  CheckpointHead head_;
  CheckpointRun run_;
  std::vector<std::vector<std::byte>> arrays_;
};

/// Reads a checkpoint. All data are checked before they are returned.
class CheckpointReader : public SavedState {
 public:
  /// The source of the bytes: `read` fills the span from an offset and returns the number of bytes
  /// read.
  struct Source {
    std::uint64_t size = 0;
    std::function<std::size_t(std::uint64_t, std::span<std::byte>)> read;
  };
  /// Throws DamagedCheckpoint; io::ResultsError where the file cannot be opened.
  explicit CheckpointReader(const std::filesystem::path& path);
  explicit CheckpointReader(Source source);

  const CheckpointHead& head() const override { return head_; }
  CheckpointRun run() const override;
  std::vector<std::byte> array(std::size_t index) const override;
  /// Reads and checks everything.
  void check() const;

 private:
  void read_head();
  std::vector<std::byte> block(std::size_t index) const;

  Source source_;
  CheckpointHead head_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks_;  ///< place and length
};

/// The files of a model in an output folder.
struct CheckpointFiles {
  std::filesystem::path folder;  ///< OUT/checkpoint, also of the undo logs
  std::filesystem::path newest, before;
};
CheckpointFiles checkpoint_files(const std::filesystem::path& out, const std::string& model);

/// For fuzzing: reads `bytes` as a checkpoint; returns for any input.
void fuzz_checkpoint(std::span<const std::byte> bytes);

}  // namespace vphi::runtime
