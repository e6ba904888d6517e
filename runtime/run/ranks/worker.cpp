#include "runtime/run/ranks/worker.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <optional>

#include "program/json.hpp"
#include "runtime/run/ranks/shares.hpp"
#include "runtime/run/session.hpp"

namespace vphi::runtime {

namespace {

using Clock = std::chrono::steady_clock;
using comm::Bytes;

class Worker {
 public:
  explicit Worker(comm::Comm& comm) : comm_(comm) {}

  void run(const OpenDevice& open) {
    reply([&] {
      device_ = open();
      return about_device(*device_);
    });
    while (true) {
      Bytes bytes;
      comm_.share(bytes);
      Unpacker from(bytes);
      const auto what = static_cast<Order>(from.number());
      if (what == Order::Dismiss) return;
      follow(what, from);
    }
  }

 private:
  /// Does it unless an error waits to be told, or leaves its own.
  template <class Work>
  void attempt(const Work& work) {
    if (trouble_) return;
    try {
      work();
    } catch (const RunError&) {
      trouble_ = std::current_exception();
    } catch (const std::exception& failure) {
      trouble_ = std::current_exception();
      if (cut()) comm_.abort(failure.what());  // the others wait for planes of this rank
    }
  }

  template <class Work>
  void reply(const Work& work) {
    Bytes content;
    attempt([&] { content = work(); });
    comm_.gather(trouble_ ? answer_of(trouble_) : answer(content));
  }

  void follow(Order what, Unpacker& from) {
    switch (what) {
      case Order::Session:
        trouble_ = device_ ? nullptr : trouble_;
        return reply([&] { return begin(from), Bytes(); });
      case Order::Lattice:
        trouble_ = device_ ? nullptr : trouble_;
        return reply([&] { return begin_lattice(from), Bytes(); });
      case Order::Close:
        session_.reset();
        return;
      case Order::Start:
        return reply([&] { return session_->start(), Bytes(); });
      case Order::StartEmpty:
        return reply([&] { return session_->start_empty(), Bytes(); });
      case Order::Prepare:
        return attempt([&] { session_->prepare(from.whole()); });
      case Order::Advance:
        return attempt([&] {
          if (!moving_) moving_ = Clock::now();
          session_->advance(from.whole());
        });
      case Order::Launch:
        return attempt([&] { session_->launch(get_launches(from)); });
      case Order::Release:
        return attempt([&] { session_->release_scratch(); });
      case Order::SetScalar:
        return attempt([&] { set_scalar(from); });
      case Order::BinSums:
        return reply([&] {
          const auto output = static_cast<std::size_t>(from.whole());
          session_->own_bin_sums(output, static_cast<std::size_t>(from.whole()));
          return Bytes();
        });
      case Order::Project:
        return reply([&] { return session_->project_own(get_transform(from)), Bytes(); });
      case Order::Synchronise:
      case Order::Scalars:
      case Order::Slots:
      case Order::SetScalars:
      case Order::Read:
      case Order::ReadSites:
      case Order::ReadInstance:
      case Order::Write:
      case Order::ReadBytes:
      case Order::WriteBytes:
        return numbers(what, from);
      case Order::Dismiss:
        break;
    }
    throw std::logic_error("an order that no rank knows");
  }

  /// Orders about numbers, which are asked for or dealt.
  void numbers(Order what, Unpacker& from) {
    switch (what) {
      case Order::Synchronise:
        return reply([&] { return synchronise(); });
      case Order::Scalars:
        return reply([&] {
          if (cut()) return Bytes();  // those of the first rank
          return shown(bytes_of_numbers(std::span(session_->scalars())));
        });
      case Order::Slots:
        return reply([&] { return slots(from); });
      case Order::Read:
        return reply([&] {
          return shown(bytes_of_numbers(
              std::span<const double>(session_->read(static_cast<int>(from.whole())))));
        });
      case Order::ReadSites:
        return reply([&] {
          const auto buffer = static_cast<int>(from.whole());
          const auto first = static_cast<std::size_t>(from.whole()),
                     count = static_cast<std::size_t>(from.whole());
          return bytes_of_numbers(
              std::span<const double>(session_->read_own_sites(buffer, first, count)));
        });
      case Order::ReadInstance:
        return reply([&] { return read_instance(from); });
      case Order::ReadBytes:
        return reply([&] {
          const auto buffer = static_cast<int>(from.whole());
          Bytes all(session_->bytes_of(buffer));
          session_->read_bytes(buffer, all);
          return shown(std::move(all));
        });
      case Order::SetScalars: {
        const Bytes dealt = comm_.deal({});
        return attempt([&] { session_->set_scalars(numbers_of_bytes(dealt)); });
      }
      case Order::Write: {
        const Bytes dealt = comm_.deal({});
        return attempt(
            [&] { session_->write(static_cast<int>(from.whole()), numbers_of_bytes(dealt)); });
      }
      case Order::WriteBytes: {
        const Bytes dealt = comm_.deal({});
        return attempt([&] { session_->write_bytes(static_cast<int>(from.whole()), dealt); });
      }
      case Order::Session:
      case Order::Lattice:
      case Order::Close:
      case Order::Start:
      case Order::StartEmpty:
      case Order::Prepare:
      case Order::Advance:
      case Order::Launch:
      case Order::Release:
      case Order::SetScalar:
      case Order::BinSums:
      case Order::Project:
      case Order::Dismiss:
        break;
    }
    throw std::logic_error("an order that asks for no numbers");
  }

  bool cut() const { return program_ && program_->cut.axis >= 0; }

  /// Of the programs, which differ in their number of planes, that of this rank.
  void begin_lattice(Unpacker& from) {
    session_.reset();
    SessionOptions options;
    options.threads = static_cast<int>(from.whole());
    options.check_memory = from.whole() != 0;
    options.comm = &comm_;
    share_ = {0, 1, 0};
    for (std::int64_t left = from.whole(); left > 0; --left) {
      program_ = program::from_json(from.text());
      const program::Cut& cut = program_->cut;
      if (cut.own == cut.planes(comm_.size(), comm_.rank()).count) break;
    }
    session_ = std::make_unique<Session>(*program_, *device_, options);
  }

  void begin(Unpacker& from) {
    session_.reset();
    program_ = program::from_json(from.text());
    const std::int64_t batch = from.whole(), first = from.whole();
    share_ = share_of(batch, comm_.size(), comm_.rank());
    SessionOptions options;
    options.threads = static_cast<int>(from.whole());
    options.check_memory = from.whole() != 0;
    options.first_instance = first + share_.start;
    session_ = std::make_unique<Session>(*program_, *device_, options);
  }

  Bytes synchronise() {
    session_->synchronise();
    Packer to;
    to.real(moving_ ? std::chrono::duration<double>(Clock::now() - *moving_).count() : 0);
    to.number(session_->bytes_peak());
    moving_.reset();
    return to.all();
  }

  /// Of what is laid out by instance, the part that this rank shows.
  Bytes shown(Bytes all) const {
    if (cut()) return own_planes(*program_, all);
    const std::size_t one = all.size() / static_cast<std::size_t>(program_->instances);
    const auto begin =
        all.begin() + static_cast<std::ptrdiff_t>(one * static_cast<std::size_t>(share_.hidden()));
    return {begin,
            begin + static_cast<std::ptrdiff_t>(one * static_cast<std::size_t>(share_.count))};
  }

  Bytes slots(Unpacker& from) {
    const std::int64_t first = from.whole(), end = from.whole();
    std::vector<double> numbers;
    for (std::int64_t k = first; k < end; ++k) {
      const Slot slot = session_->slot(static_cast<int>(k));
      for (std::int64_t i = 0; i < share_.count; ++i) numbers.push_back(slot[share_.hidden() + i]);
    }
    return bytes_of_numbers(std::span<const double>(numbers));
  }

  Bytes read_instance(Unpacker& from) {
    const auto buffer = static_cast<int>(from.whole());
    const std::int64_t instance = from.whole();
    if (instance < share_.first || instance >= share_.first + share_.count) return {};
    return bytes_of_numbers(
        std::span<const double>(session_->read(buffer, instance - share_.start)));
  }

  void set_scalar(Unpacker& from) {
    const auto slot = static_cast<int>(from.whole());
    const double value = from.real();
    const std::int64_t own = from.whole() - share_.start;
    if (own >= 0 && own < program_->instances) session_->set_scalar(slot, value, own);
  }

  comm::Comm& comm_;
  std::unique_ptr<Device> device_;
  std::optional<program::Program> program_;
  std::unique_ptr<Session> session_;
  Share share_;
  std::optional<Clock::time_point> moving_;  ///< since the first steps after the last wait
  std::exception_ptr trouble_;
};

}  // namespace

Bytes about_device(const Device& device) {
  const DeviceInfo info = device.info();
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  Packer to;
  to.text(info.id), to.text(info.name), to.text(host.data());
  to.number(info.memory_free);
  to.number(info.is_cpu ? 1 : 0);
  return to.all();
}

void run_worker(comm::Comm& comm, const OpenDevice& open) { Worker(comm).run(open); }

}  // namespace vphi::runtime
