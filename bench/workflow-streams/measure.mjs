/**
 * Readers of one stream of `@temporalio/workflow-streams`: the lag of a token, memory per reader, processor time. Run
 * by bench/streams.ts: `node measure.mjs ADDRESS READERS TOKENS PACE_MS`.
 * Prints `{ lags, cpuMs, bytes, failed, events }`. Tokens are published every 50 ms, as ours
 * are written to the log, and readers poll again at once; the package's defaults are 2 s and 100 ms.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { WorkflowStreamClient } from '@temporalio/workflow-streams/client';

const [address, readers, tokens, paceMs] = process.argv.slice(2);
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
Runtime.install({ logger: silent, shutdownSignals: [] });
const taskQueue = `streams-${randomUUID()}`;
const native = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection: native,
  taskQueue,
  workflowsPath: fileURLToPath(new URL('./workflow.mjs', import.meta.url)),
  bundlerOptions: { logger: silent },
});
const working = worker.run();
const connection = await Connection.connect({ address });
const client = new Client({ connection });
const workflowId = `stream/${randomUUID()}`;
const handle = await client.workflow.start('holdsStream', { workflowId, taskQueue });
const lags = [];
let failed = 0;
let said = '';
collect();
const before = process.memoryUsage().heapUsed;
const reading = Array.from({ length: Number(readers) }, async () => {
  const topic = WorkflowStreamClient.create(client, workflowId).topic('tokens');
  try {
    let seen = 0;
    for await (const { data } of topic.subscribe(0, { pollCooldown: '1 millisecond' })) {
      lags.push(performance.now() - data);
      seen += 1;
      if (seen === Number(tokens)) return;
    }
    if (seen < Number(tokens)) throw new Error(`it ended after ${seen} tokens`);
  } catch (error) {
    failed += 1;
    said ||= String(error.cause?.message ?? error.message);
  }
});
await delay(3000);
collect();
const bytes = process.memoryUsage().heapUsed - before;
const cpu = process.cpuUsage();
const publisher = WorkflowStreamClient.create(client, workflowId, { batchInterval: '50 milliseconds' });
const topic = publisher.topic('tokens');
for (let n = 0; n < Number(tokens); n++) {
  topic.publish(performance.now());
  await delay(Number(paceMs));
}
await publisher.flush();
await Promise.race([Promise.all(reading), delay(60_000)]);
const { user, system } = process.cpuUsage(cpu);
const { historyLength } = await handle.describe();
await publisher[Symbol.asyncDispose]();
await handle.signal('end');
console.log(
  JSON.stringify({ lags, cpuMs: (user + system) / 1000, bytes, failed, said, events: historyLength }),
);
worker.shutdown();
await working;
await connection.close();
await native.close();
process.exit(0);
