# The worker of docker-compose.yml: this clone, its dependencies, and the project in agents/.
# Debian, because native parts of our dependencies need glibc. Node 24.21.0, by the digest that several public repositories
# agree on.
FROM node:24-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
# For a project's store, keys and caches: the folder of the project itself is not the user's.
RUN mkdir -p /app/.everthread && chown node /app/.everthread
USER node
CMD ["node", "bin/everthread.js", "worker", "--project", "/app"]
