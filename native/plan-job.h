#pragma once
#include <napi.h>

#include <memory>

#include "plan/marking-executor.h"
#include "plan/verifying-executor.h"
#include "proxy/serving-executor.h"

namespace weft {

/// What one call of JavaScript's `run` asks for, with the executor that does it.
struct PlanJob {
  RunOptions options;
  GpuContextPtr context;  // current on the executor's thread; null where no GPU is involved
  std::unique_ptr<Executor> executor;
  std::shared_ptr<ServedBoard> board;    // null where no producers of others are served
  const ProxyExecutor* proxy = nullptr;  // the executor, where producers ask for the plan's transfers
  const VerifyingExecutor* verifying = nullptr;  // the executor, where bytes are expected
  const MarkingExecutor* marking = nullptr;      // the executor, where the times of steps are kept
};

/// Throws a Fault or a TypeError where `from` is not a job that this port can run.
PlanJob readPlanJob(const Napi::Object& from, Port& port);

}  // namespace weft
