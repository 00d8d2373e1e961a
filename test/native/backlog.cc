// Posts that wait: prints a line for each expectation that does not hold.
#include <cstdio>

#include "../../native/fabric/backlog.h"

using namespace weft;

namespace {

int wrong = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  wrong++;
  std::printf("%s\n", what);
}

Operation post(uint32_t peer, OperationKind kind = OperationKind::Write) {
  Operation operation;
  operation.peer = peer;
  operation.kind = kind;
  return operation;
}

}  // namespace

int main() {
  Backlog backlog;
  Operation first = post(3), second = post(3), third = post(3), other = post(5);
  Operation receive = post(3, OperationKind::Recv);
  expect(backlog.empty() && !backlog.has(Backlog::keyOf(first)), "nothing waits at first");
  for (Operation* operation : {&first, &second, &third, &other, &receive}) backlog.push(*operation);
  auto key = Backlog::keyOf(first);
  expect(backlog.open().size() == 3, "two peers and the receives have queues");
  expect(backlog.oldest(Backlog::keyOf(other)) == &other, "a peer does not wait behind another");
  expect(backlog.oldest(Backlog::keyOf(receive)) == &receive, "receives do not wait behind sends");
  expect(backlog.remove(second) && !backlog.remove(second), "one in the middle can be taken out, once");
  backlog.pop(key);
  expect(backlog.oldest(key) == &third, "posts to a peer keep their order");
  expect(backlog.remove(third) && !backlog.has(key), "a queue ends with its last post");
  backlog.push(first);
  expect(backlog.oldest(key) == &first, "a queue can begin again");
  expect(!backlog.full(), "a few posts do not fill it");
  Operation many[16];
  for (Operation& operation : many) {
    operation.peer = 5;
    backlog.push(operation);
  }
  expect(backlog.full(), "many posts fill it");
  for (Operation& operation : many) expect(backlog.remove(operation), "each of many can be taken out");
  expect(!backlog.full(), "it is not full when they have gone");
  return wrong;
}
