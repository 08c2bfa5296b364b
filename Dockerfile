# Two images: `production` for an outside Kafka and ClickHouse, and `embedded`, which also has chDB and runs `gpu-ledger up`.

# The unit tests run on it too: `npm run test:other-nodes`.
ARG NODE_VERSION=26.10.0
# `node scripts/images.mjs --write` writes it.
ARG NODE_DIGEST=sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1

FROM node:${NODE_VERSION}-trixie-slim@${NODE_DIGEST} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && rm -rf dist/bench dist/test dist/.tsbuildinfo

FROM node:${NODE_VERSION}-trixie-slim@${NODE_DIGEST} AS packages
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

# chDB is removed by its name: `--omit=optional` would also remove the binaries of lmdb and lz4-napi, which every part needs.
FROM packages AS packages-production
RUN rm -rf node_modules/chdb node_modules/@chdb

FROM node:${NODE_VERSION}-trixie-slim@${NODE_DIGEST} AS base
LABEL org.opencontainers.image.title="gpu-ledger" \
  org.opencontainers.image.description="Observability and cost attribution for GPUs on Kubernetes" \
  org.opencontainers.image.version="0.3.0" \
  org.opencontainers.image.source="https://github.com/gpu-ledger/gpu-ledger" \
  org.opencontainers.image.licenses="Apache-2.0"
# The folders of volumes belong to the user, and so do new volumes.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/* \
  && ln -s /opt/gpu-ledger/dist/cli/main.js /usr/local/bin/gpu-ledger \
  && install --directory --owner=65532 --group=65532 /var/lib/gpu-ledger /run/gpu-ledger
COPY LICENSE /opt/gpu-ledger/
COPY --from=build /src/dist /opt/gpu-ledger/dist
ENV NODE_ENV=production
USER 65532:65532
WORKDIR /var/lib/gpu-ledger
EXPOSE 8080
ENTRYPOINT ["tini", "--", "gpu-ledger"]

FROM base AS embedded
COPY --from=packages /src/node_modules /opt/gpu-ledger/node_modules
CMD ["up"]

FROM base AS production
COPY --from=packages-production /src/node_modules /opt/gpu-ledger/node_modules
CMD ["--help"]
