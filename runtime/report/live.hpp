// The live page of a running simulation: its contents, and the requests of its buttons.
//
// A LiveRun receives data from the run loop as its Onlooker, and answers the server (server.hpp); a
// lock protects it from the two threads. Rows of series are always kept (a few numbers). Spectra
// and pictures are kept only while a page is open, and of long sequences only as much as a page can
// show. Updates are numbered, and a page requests those after a number. Nothing here depends on
// HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/report/report.hpp"
#include "runtime/run/onlooker.hpp"

namespace vphi::report {

class LiveRun : public runtime::Onlooker {
 public:
  /// `start`: the report before the first step; `program` must outlive this object.
  LiveRun(Report start, const program::Program& program);

  // ---- the run's side ----
  bool attending() const override;
  void scalars(std::span<const std::string> names, const io::Moment& at,
               std::span<const double> values) override;
  void table(const io::Table& from, const io::Moment& at) override;
  void checks(const std::vector<runtime::ExpectationResult>& results) override;
  runtime::Wish between(const runtime::Progress& now) override;
  /// The run has ended; open pages get a message.
  void finish(bool stopped);

  // ---- the page's side ----
  std::string page();
  /// The updates after number `since`, in the form that templates/report/live.js reads.
  nlohmann::json news(std::int64_t since);
  void wish(runtime::Wish wish);
  /// Waits until a page has been told of the end, at most for `most`; does not wait where no page
  /// is open.
  void wait_for_last_look(std::chrono::milliseconds most);

 private:
  using Numbers = std::vector<std::int64_t>;
  void seen() { last_seen_ = std::chrono::steady_clock::now().time_since_epoch().count(); }
  void keep(Frame frame, Table::Kind kind, const std::string& name, const std::string& x,
            const std::string& y);
  std::string shape() const;

  const program::Program& program_;
  mutable std::mutex lock_;
  Report report_;
  std::int64_t number_ = 0;  ///< number of the newest update
  std::map<std::string, std::size_t> series_places_, table_places_, picture_places_;
  std::vector<Numbers> series_numbers_, table_numbers_, picture_numbers_;
  runtime::Progress progress_;
  std::string state_ = "running";
  bool end_told_ = false;
  std::atomic<runtime::Wish> wish_ = runtime::Wish::GoOn;
  std::atomic<std::chrono::steady_clock::rep> last_seen_ = 0;  ///< 0: there was no request yet
};

}  // namespace vphi::report
