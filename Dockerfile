# The gateway as a small image: compiled code and runtime packages only, no compiler, no test, no sandbox, no root.
# Build: docker build -t foldatlas .        Run: docker run --rm -p 4000:4000 -e UPSTREAM_URL=https://api.example.org foldatlas
# The sandbox, which stands in for the service, is an image of its own: docker build --target sandbox -t foldatlas-sandbox .
# Named by its exact version, without a digest so far; docs/operators.md (Images) says how to add one.
ARG NODE_IMAGE=node:24.21.0-trixie-slim

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY sandbox/package.json ./sandbox/

FROM packages AS build
RUN npm ci --no-audit --no-fund
COPY scripts/build.js scripts/licences.js scripts/third-party.json ./scripts/
COPY sandbox/src ./sandbox/src
COPY src ./src
RUN npm run build

FROM packages AS gateway-packages
RUN npm ci --omit=dev --omit=optional --workspaces=false --no-audit --no-fund

FROM packages AS sandbox-packages
RUN npm ci --omit=dev --workspace=foldatlas-sandbox --no-audit --no-fund

FROM ${NODE_IMAGE} AS sandbox
ARG VERSION=unknown REVISION=unknown CREATED=unknown SOURCE= HOMEPAGE=
LABEL org.opencontainers.image.title="FoldAtlas sandbox" \
      org.opencontainers.image.description="A stand-in of the protein service behind FoldAtlas: its folds are geometry, no predictions" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.url="${HOMEPAGE}"
ENV NODE_ENV=production \
    SANDBOX_HOST=0.0.0.0 \
    SANDBOX_DATA=/data/sandbox
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY LICENSE ./
COPY sandbox/package.json ./sandbox/
COPY --from=sandbox-packages /app/node_modules ./node_modules
COPY --from=build /app/sandbox/dist ./sandbox/dist
USER 1000:1000
VOLUME /data
EXPOSE 4010
CMD ["node", "sandbox/dist/main.js"]

FROM ${NODE_IMAGE}
ARG VERSION=unknown REVISION=unknown CREATED=unknown SOURCE= HOMEPAGE=
LABEL org.opencontainers.image.title="FoldAtlas" \
      org.opencontainers.image.description="One GraphQL endpoint over a protein service's folding Batch API and its protein Atlas API" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.url="${HOMEPAGE}"
# The last three have V8 and glibc keep less memory (docs/capacity.md).
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=4000 \
    STORE_URL=sqlite:/data/gateway.db \
    NODE_OPTIONS=--max-semi-space-size=16 \
    MALLOC_ARENA_MAX=2 \
    MALLOC_TRIM_THRESHOLD_=131072
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY package.json LICENSE schema.graphql ./
COPY federation ./federation
COPY operations ./operations
COPY examples/*.graphql ./examples/
COPY examples/browser ./examples/browser
COPY public ./public
COPY --from=gateway-packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN mkdir compile-cache && chown node:node compile-cache
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
# Node keeps for its user what it compiles while a gateway answers once, over nothing: a start takes 15 % less CPU time
# (24.22, 2026-11-29).
ENV NODE_COMPILE_CACHE=compile-cache
RUN node -e "import('./dist/index.js').then(async ({ createGateway }) => { const gateway = await createGateway({ settings: { UPSTREAM_URL: 'http://127.0.0.1:9', STORE_URL: 'memory:', LOG_LEVEL: 'silent' } }); await gateway.fetch(new Request('http://localhost/graphql?query={limits{maxItems}}')); await gateway.close(); })"
VOLUME /data
EXPOSE 4000
# Alive means that the process answers; whether it should get traffic is /ready's to say.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Without a shell in between, so that SIGTERM reaches the gateway.
CMD ["node", "dist/server.js"]
