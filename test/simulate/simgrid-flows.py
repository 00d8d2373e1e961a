"""Reads {capacities, flows: [{path, bytes, start}]} from stdin; prints when each flow ends, as SimGrid has it."""
import json
import sys

from simgrid import Actor, Engine, LinkInRoute, Mailbox, NetZone, this_actor

case = json.load(sys.stdin)
options = ["network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", "network/weight-S:0"]
engine = Engine(["oracle", "--log=root.thres:critical"] + [f"--cfg={option}" for option in options])
zone = NetZone.create_full_zone("zone")
links = [zone.create_link(f"link{i}", capacity).seal() for i, capacity in enumerate(case["capacities"])]
ends = [0.0] * len(case["flows"])


def send(number, flow):
    this_actor.sleep_for(flow["start"])
    Mailbox.by_name(str(number)).put(number, flow["bytes"])


def receive(number):
    Mailbox.by_name(str(number)).get()
    ends[number] = engine.clock


for number, flow in enumerate(case["flows"]):
    source, target = (zone.create_host(f"{side}{number}", 1e9).seal() for side in ("a", "b"))
    route = [LinkInRoute(links[link]) for link in flow["path"]]
    zone.add_route(source.netpoint, target.netpoint, None, None, route, False)
    Actor.create(f"send{number}", source, send, number, flow)
    Actor.create(f"receive{number}", target, receive, number)
zone.seal()
engine.run()
print(json.dumps(ends))
