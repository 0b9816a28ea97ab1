/**
 * A sandbox child: runs one job at a time for its parent, and ends with it. It holds no secret, opens no file after
 * its start, and is killed rather than trusted.
 */

import { createOutbox } from '../outbox.ts';
import type { Crossing, FromChild, Job, Remark, ToChild } from '../protocol.ts';
import { bootAhead } from './boot.ts';
import { type Engine, startEngine } from './engine.ts';
import { createFlow, type Flow } from './flow.ts';
import { endMemoryGuard, guardMemory, startWatchdog } from './guarded-memory.ts';
import { prepareTransform } from './transform.ts';

interface Current {
  readonly run: number;
  readonly engine: Engine;
  readonly flow: Flow;
}

let current: Current | undefined;

const outbox = createOutbox<FromChild>((batch) => void process.send?.(batch));

function start(job: Job): void {
  const run = job.id;
  guardMemory(job.memoryBytes);
  const flow = createFlow();
  const engine = startEngine(job, {
    cross(crossing: Crossing) {
      outbox.post({ kind: 'crossing', run, crossing });
      return flow.sent(crossing.wire);
    },
    remark(remark: Remark) {
      outbox.post({ kind: 'remark', run, remark });
      return flow.sent(remark.wire);
    },
    settle(settlement, memoryUsedBytes) {
      if (current?.run !== run) return;
      outbox.send({ kind: 'settled', run, settlement, memoryUsedBytes });
      if (settlement.status !== 'success' || !settlement.held) void end();
    },
  });
  current = { run, engine, flow };
}

async function end(): Promise<void> {
  if (!current) return;
  const { run, engine } = current;
  current = undefined;
  await engine.dispose();
  endMemoryGuard();
  outbox.send({ kind: 'idle', run, rssBytes: process.memoryUsage.rss() });
  setImmediate(() => {
    if (!current) bootAhead();
  });
}

function receive(message: ToChild): void {
  if (message.kind === 'run') start(message.job);
  else if (current?.run !== message.run) return;
  else if (message.kind === 'crossing') current.engine.deliver(message.crossing);
  else if (message.kind === 'taken') current.flow.taken(message.count, message.bytes);
  else void end();
}

process.on('message', (batch: readonly ToChild[]) => {
  for (const message of batch) receive(message);
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// The terminal sends Ctrl-C to every process of the group; the parent decides when a run ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

await Promise.all([startWatchdog(), prepareTransform()]);
bootAhead();
outbox.send({ kind: 'ready' });
