// The effect of SIGINT, SIGTERM and SIGUSR1 on a run.
//
// Before the first step there is nothing to save: the process ends at once, with the status of the
// signal. Later the step is finished and a checkpoint is written. While a device's compiler works,
// which may take minutes and cannot be interrupted, the process ends after a few seconds, and the
// last checkpoint is kept. A second signal ends the process at once.
#pragma once

#include <atomic>

namespace vphi::tools {

/// `json`: a process that ends at once prints one JSON object to standard output.
void listen_to_signals(bool json);
/// Set by SIGINT and SIGTERM.
std::atomic<bool>& stop_wish();
/// Set by SIGUSR1.
std::atomic<bool>& checkpoint_wish();
/// Called before the first step; from then on there are results to complete.
void results_begin();
/// Exit status of a run that was stopped: 130 or 143.
int status_of_stop();

}  // namespace vphi::tools
