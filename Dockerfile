# Weft in a container, made from its bundle:
#   npm run bundle && docker build -t weft .
#   docker run --network=host --shm-size=2g --ulimit memlock=-1 --device=/dev/infiniband weft info
# On EFA, choose a base that has AWS's libfabric in /opt/amazon/efa, or mount that folder from the host.
ARG BASE=debian:12-slim

FROM debian:12-slim AS unpacked
COPY bundle/weft-*-linux-x64.run /tmp/weft.run
RUN WEFT_BUNDLE_DIR=/unpacked /tmp/weft.run --version && mv /unpacked/* /opt/weft

FROM ${BASE}
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ibverbs-providers libfabric1 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 1000 --create-home weft \
  && install --directory --owner=weft /results \
  && printf '#!/bin/sh\nexec /opt/weft/node /opt/weft/bin/weft "$@"\n' > /usr/local/bin/weft \
  && chmod 755 /usr/local/bin/weft
COPY --from=unpacked /opt/weft /opt/weft
# Manifests of `weft k8s` run it as root: there, only root gets the capability to lock memory, and volumes are root's.
USER weft
WORKDIR /results
ENTRYPOINT ["weft"]
CMD ["info"]
