// The live page of a running simulation: its contents, and the requests of its buttons.
//
// A LiveRun is the Onlooker of the run loop on one side and answers the server (server.hpp) on the
// other; a lock separates the two threads. Rows of series are always kept (a few numbers); spectra
// and pictures only while a page is open, and of long sequences as much as a page can show.
// Every update has a number, so a page asks for what is newer. Nothing here depends on HTTP.
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
  /// `start`: what is known before the first step; `program` must outlive this.
  LiveRun(Report start, const program::Program& program);

  // ---- the run's side ----
  bool attending() const override;
  void scalars(std::span<const std::string> names, const io::Moment& at,
               std::span<const double> values) override;
  void table(const io::Table& from, const io::Moment& at) override;
  void checks(const std::vector<runtime::ExpectationResult>& results) override;
  runtime::Wish between(const runtime::Progress& now) override;
  /// The run is over; pages that still ask are told so.
  void finish(bool stopped);

  // ---- the page's side ----
  std::string page();
  /// What came after number `since`, as templates/report/live.js reads it.
  nlohmann::json news(std::int64_t since);
  void wish(runtime::Wish wish);
  /// Waits until a page has been told of the end, at most so long; not at all where no page is
  /// open.
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
  std::int64_t number_ = 0;  ///< of the newest thing
  std::map<std::string, std::size_t> series_places_, table_places_, picture_places_;
  std::vector<Numbers> series_numbers_, table_numbers_, picture_numbers_;
  runtime::Progress progress_;
  std::string state_ = "running";
  bool end_told_ = false;
  std::atomic<runtime::Wish> wish_ = runtime::Wish::GoOn;
  std::atomic<std::chrono::steady_clock::rep> last_seen_ = 0;  ///< 0: no page has asked yet
};

}  // namespace vphi::report
