# The worker of docker-compose.yml: this clone, its dependencies, and the project in agents/.
# Debian, because the Node that comes with our dependencies needs glibc.
FROM node:24-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
RUN mkdir /data && chown node /data
USER node
CMD ["node", "bin/everthread.js", "worker", "--project", "/app"]
