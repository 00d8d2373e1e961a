#include "context.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <vector>

#include "inside.h"
#include "queries.h"
#include "queue-pair.h"

namespace efa {
namespace {

std::atomic<bool> forked{false};

/// Never destroyed: the destructor below runs among those of other libraries.
struct OpenContexts {
  std::mutex lock;
  std::vector<Context*> all;
};
OpenContexts& open_contexts() {
  static auto* open = new OpenContexts;
  return *open;
}

__attribute__((constructor)) void on_load() {
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
}

/// What the last moments of the process counted.
__attribute__((destructor)) void on_exit() {
  if (forked) return;
  std::lock_guard lock(open_contexts().lock);
  for (Context* context : open_contexts().all) context->counters.publish(kNever);
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr) {
  return create_queue_pair(context, *attr, QpInitAttr{});
}
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) {
  return create_completion_queue(context, *attr, nullptr);
}
int request_notification(ibv_cq* cq, int) {
  CompletionQueue::of(cq).request_notification();
  return 0;
}

}  // namespace

bool is_forked() { return forked; }
bool is_beyond_closing() { return forked || Inside::is_interrupted(); }

Context::Context(const Device& device)
    : attributes(device.attributes),
      faults(attributes.folder + "/faults"),
      counters(attributes.folder, attributes.ibdev, attributes.lifespan_ms),
      engine(*this) {
  // Callers find the extended part by this mark, and by its size what it has.
  verbs.owner = this;
  verbs.sz = sizeof(verbs_context);
  verbs.context.abi_compat = reinterpret_cast<void*>(UINTPTR_MAX);
  verbs.context.device = const_cast<ibv_device*>(&device.verbs);
  verbs.context.cmd_fd = -1;
  verbs.context.async_fd = eventfd(0, EFD_CLOEXEC);
  verbs.context.num_comp_vectors = 1;
  set_operations();
}

void Context::set_operations() {
  verbs.query_port = query_port;
  verbs.query_device_ex = query_device_ex;
  verbs.create_cq_ex = create_cq_ex;
  verbs.create_qp_ex = create_qp_ex;
  ibv_context_ops& ops = verbs.context.ops;
  ops.poll_cq = poll_completions;
  ops.req_notify_cq = request_notification;
  ops.post_send = post_send_list;
  ops.post_recv = post_receive_list;
}

Context& Context::of(ibv_context* context) {
  auto* verbs = reinterpret_cast<verbs_context*>(reinterpret_cast<char*>(context) - offsetof(verbs_context, context));
  return *static_cast<OwnedVerbs*>(verbs)->owner;
}

ibv_context* open_context(ibv_device* verbs) {
  const auto& device = *reinterpret_cast<Device*>(verbs);
  auto* context = new Context(device);
  context->faults.refresh(now_ns());
  if (context->faults.open) {
    close_context(&context->verbs.context);
    errno = EIO;
    return nullptr;
  }
  std::lock_guard lock(open_contexts().lock);
  open_contexts().all.push_back(context);
  return &context->verbs.context;
}

int close_context(ibv_context* verbs) {
  if (is_beyond_closing()) return 0;
  Context& context = Context::of(verbs);
  {
    std::lock_guard lock(open_contexts().lock);
    std::erase(open_contexts().all, &context);
  }
  close(verbs->async_fd);
  delete &context;
  return 0;
}

}  // namespace efa
