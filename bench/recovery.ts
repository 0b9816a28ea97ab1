/**
 * The delay after the loss of a worker, or after a stop, with a second worker waiting and production settings.
 * `node_modules/.bin/node bench/recovery.ts [--json FILE] [--quick] [--only idle|model|stop|quick]...`
 * Workers are processes and end by real signals; the clock stops when the next request reaches the model, or, for a
 * quick tool, when its body has run again.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findTemporalBinary } from '../src/temporal-service/find-binary.ts';
import { startLocalServer } from '../src/temporal-service/start-server.ts';
import { hangs } from '../src/testing/index.ts';
import { bundleWorkflows } from '../src/workflow-bundle.ts';
import { eventually } from '../test/support/eventually.ts';
import { type Cluster, startCluster } from '../test/support/fault-cluster.ts';
import { faultScript } from '../test/support/fault-project.ts';
import { type Line, median, readOptions, report } from './support/report.ts';

type Signal = 'SIGKILL' | 'SIGTERM';

const MODEL_HEARTBEAT_MS = 5000;
const TOOL_HEARTBEAT_MS = 10_000;
/** A worker that leaves lets its model calls go on for so long; those of this bench never end by themselves. */
const MODEL_GRACE_MS = 10_000;
/** Applies if another worker runs the call than the thread; otherwise a stop needs no heartbeat. */
const STOP_WITHIN_MS = 2000;

const { json, quick, only } = readOptions();
const samples = quick ? 1 : 5;
const folder = mkdtempSync(join(tmpdir(), 'everthread-recovery-'));
const profile = join(folder, 'temporal.toml');
writeFileSync(profile, '[profile]\n');
const { path } = await findTemporalBinary({ progress: (line) => console.error(line) });
const server = await startLocalServer({ binary: path, headless: true, dbFile: join(folder, 'temporal.db') });
const bundle = join(folder, 'workflow-bundle.js');
writeFileSync(bundle, (await bundleWorkflows()).code);
Object.assign(process.env, {
  EVERTHREAD_TEST_FOLDER: folder,
  EVERTHREAD_TEST_BUNDLE: bundle,
  TEMPORAL_ADDRESS: server.address,
  TEMPORAL_CONFIG_FILE: profile,
});
const lines: Line[] = [];
try {
  if (asked('idle')) {
    lines.push(await measure('SIGKILL, next message to an idle thread', 2, () => afterIdle('SIGKILL', 100)));
    lines.push(await measure('SIGTERM, next message to an idle thread', 1, () => afterIdle('SIGTERM', 100)));
    // The server may assign a task to the poll of a lost worker: then the task's timeout, ten seconds, must pass.
    lines.push(
      await measure('SIGKILL, message in the same instant', undefined, () => afterIdle('SIGKILL', 0)),
    );
    lines.push(
      await measure('SIGTERM, message in the same instant', undefined, () => afterIdle('SIGTERM', 0)),
    );
  }
  if (asked('model')) {
    const heartbeat = MODEL_HEARTBEAT_MS / 1000;
    lines.push(
      await measure('SIGKILL, running model call asked again', heartbeat + 1, () => afterModel('SIGKILL')),
    );
    const grace = MODEL_GRACE_MS / 1000;
    lines.push(
      await measure('SIGTERM, running model call asked again', grace + 1, () => afterModel('SIGTERM')),
    );
  }
  if (asked('stop')) {
    lines.push(await measure('stop, socket closed at the provider', STOP_WITHIN_MS / 1000 + 0.5, afterStop));
  }
  if (asked('quick'))
    lines.push(await measure('SIGKILL inside a quick tool, body run again', undefined, afterQuickTool));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
report('Recovery', lines, json);

function asked(part: string): boolean {
  return only.length === 0 || only.includes(part);
}

async function measure(
  what: string,
  atMost: number | undefined,
  sample: () => Promise<number>,
): Promise<Line> {
  const seconds: number[] = [];
  for (let i = 0; i < samples; i++) seconds.push((await sample()) / 1000);
  const note = `median ${median(seconds).toFixed(2)}, n ${seconds.length}`;
  return { what, value: Math.max(...seconds), unit: 's at most', atMost, note };
}

/**
 * Runs `work` with one worker that has the work and a second one that waits; returns the milliseconds that `work`
 * measured.
 */
async function withCluster(work: (cluster: Cluster) => Promise<number>): Promise<number> {
  const script = faultScript();
  const cluster = await startCluster({
    script: (request, index) =>
      request.messages.at(-1)?.content === 'tell' && index === 0
        ? hangs({ after: 'Once' })
        : script(request, index),
    waitsForTimeouts: true,
    configuration: {
      modelHeartbeatMs: MODEL_HEARTBEAT_MS,
      toolHeartbeatMs: TOOL_HEARTBEAT_MS,
      modelGraceMs: MODEL_GRACE_MS,
    },
  });
  try {
    await cluster.keep(1);
    return await work(cluster);
  } finally {
    await cluster.close();
  }
}

/** Returns the milliseconds from a signal to the first worker until the model's next request. */
async function timeFrom(cluster: Cluster, signal: Signal, then: () => Promise<unknown>): Promise<number> {
  const [holder] = cluster.workers;
  await cluster.keep(2);
  const requests = cluster.model.requests.length;
  const since = performance.now();
  const gone = holder?.end(signal);
  await then();
  await eventually('the next request', () => cluster.model.requests.length > requests, 60_000);
  const ms = performance.now() - since;
  await gone;
  return ms;
}

/** Sends the message `pause` milliseconds after the signal. */
function afterIdle(signal: Signal, pause: number): Promise<number> {
  return withCluster(async (cluster) => {
    const thread = await cluster.begin('hello');
    await cluster.client.waitForIdle(thread);
    const ms = await timeFrom(cluster, signal, async () => {
      if (pause > 0) await delay(pause);
      await cluster.client.queueMessage(thread, { content: 'next' });
    });
    return ms - pause;
  });
}

function afterModel(signal: Signal): Promise<number> {
  return withCluster(async (cluster) => {
    const thread = await cluster.begin('tell');
    const chunk = async () =>
      (await cluster.store.events.read(thread, 0)).some(({ type }) => type === 'model.chunk');
    await eventually('streamed text', chunk);
    return timeFrom(cluster, signal, async () => undefined);
  });
}

/** Returns the milliseconds until the provider sees the streaming request's socket closed. */
function afterStop(): Promise<number> {
  return withCluster(async (cluster) => {
    const thread = await cluster.begin('tell');
    const chunk = async () =>
      (await cluster.store.events.read(thread, 0)).some(({ type }) => type === 'model.chunk');
    await eventually('streamed text', chunk);
    const since = Date.now();
    await cluster.client.stop(thread);
    const closed = await eventually('the socket closed', () =>
      cluster.model.connections.find(({ closedAt }) => closedAt !== null),
    );
    return (closed.closedAt as number) - since;
  });
}

function afterQuickTool(): Promise<number> {
  return withCluster(async (cluster) => {
    await cluster.keep(2);
    cluster.orderDeath('body_before');
    const thread = await cluster.begin('use touch 1');
    await cluster.died('body_before');
    const since = performance.now();
    await eventually('the body to run again', () => cluster.ledger(thread).length === 1, 60_000);
    return performance.now() - since;
  });
}
