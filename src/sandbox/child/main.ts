/**
 * The program of a sandbox child: runs one job at a time for its parent, and ends when the parent does. It holds no
 * secrets, opens no file after its start, and is killed rather than trusted.
 */

import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { CodeExecutionError } from '../../core/author/code-execution.ts';
import { openChannel } from '../channel.ts';
import { type Wire, wireBytes } from '../codec/wire.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { joinToChild, partFromChild } from '../message-frame.ts';
import type { Crossing, FromChild, Job, Remark, Settlement, ToChild } from '../protocol.ts';
import { prepareIsolate } from './boot.ts';
import { Engine } from './engine.ts';
import { die, endMemoryGuard, guardMemory, startWatchdog } from './guarded-memory.ts';
import { prepareTransform } from './transform.ts';

interface Current {
  readonly run: number;
  readonly engine: Engine;
  readonly flow: Flow;
}

let current: Current | undefined;

/** File descriptor of the channel, as the host opens it. */
const CHANNEL_FD = 3;
const socket = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
// Nothing but the channel needs the network: where Node has a permission for it, this process gives it up.
(process.permission as { drop?(scope: 'net'): void } | undefined)?.drop?.('net');
const channel = openChannel(socket, { onFrame: (frame) => receive(joinToChild(frame)), onFault });

function onFault(why: string): never {
  writeSync(2, `Error: a message of the host was rejected: ${why}\n`);
  return die();
}

function post(message: FromChild): void {
  const { head, wire } = partFromChild(message);
  channel.post(head, wire);
}

function send(message: FromChild): void {
  const { head, wire } = partFromChild(message);
  channel.send(head, wire);
}

function start(job: Job): void {
  const run = job.id;
  if (watchesItself) guardMemory(job.memoryBytes);
  const flow = createFlow();
  const engine = new Engine(job, {
    cross(crossing: Crossing) {
      post({ kind: 'crossing', run, crossing });
      return flow.sent(crossing.wire);
    },
    remark(remark: Remark) {
      post({ kind: 'remark', run, remark });
      return flow.sent(remark.wire);
    },
    settle(settlement, memoryUsedBytes) {
      if (current?.run !== run) return;
      send({ kind: 'settled', run, ...boundSettlement(settlement, memoryUsedBytes) });
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
  send({ kind: 'idle', run, rssBytes: watchesItself ? process.memoryUsage.rss() : 0 });
  setImmediate(() => {
    if (!current) prepareIsolate();
  });
}

function receive(message: ToChild): void {
  if (message.kind === 'run') start(message.job);
  else if (current?.run !== message.run) return;
  else if (message.kind === 'crossing') current.engine.deliver(message.crossing);
  else if (message.kind === 'taken') current.flow.taken(message.count, message.bytes);
  else void end();
}

/** Given if the host cannot inspect processes: the program that watches memory. Otherwise the host watches it. */
const [, , watchdog] = process.argv;
const watchesItself = watchdog !== undefined;

socket.once('close', die);
// The terminal sends Ctrl-C to every process of the group; the parent decides when a run ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// Removes variables that the wall's program has set.
for (const name of Object.keys(process.env)) if (name !== 'TZ') delete process.env[name];

await Promise.all([watchesItself && startWatchdog(watchdog), prepareTransform()]);
prepareIsolate();
send({ kind: 'ready' });

const MESSAGES = 256;
const BYTES = 4 * 1024 * 1024;

interface Flow {
  /** Counts what was sent, and returns a promise to wait for if the host is behind. */
  sent(wire: Wire): Promise<void> | undefined;
  taken(count: number, bytes: number): void;
}

/**
 * Back-pressure from the host to the code: while too much of what was sent is unacknowledged, the sender waits. A
 * flood is slowed down to the speed of the host instead of growing some buffer.
 */
function createFlow(): Flow {
  let messages = 0;
  let bytes = 0;
  let waiting: PromiseWithResolvers<void> | undefined;
  const behind = () => messages >= MESSAGES || bytes >= BYTES;
  return {
    sent(wire) {
      messages += 1;
      bytes += wireBytes(wire);
      if (!behind()) return undefined;
      waiting ??= Promise.withResolvers<void>();
      return waiting.promise;
    },
    taken(count, size) {
      messages -= count;
      bytes -= size;
      if (behind()) return;
      waiting?.resolve();
      waiting = undefined;
    },
  };
}

/** Limits a settlement to the bounds that the host checks: cuts texts, and rounds memory to a non-negative integer. */
function boundSettlement(
  settlement: Settlement,
  memoryUsedBytes: number | undefined,
): { settlement: Settlement; memoryUsedBytes?: number } {
  const bounded =
    settlement.status === 'success' ? settlement : { ...settlement, error: boundError(settlement.error) };
  if (memoryUsedBytes === undefined) return { settlement: bounded };
  return { settlement: bounded, memoryUsedBytes: Math.max(0, Math.round(memoryUsedBytes)) };
}

function boundError(error: CodeExecutionError): CodeExecutionError {
  const { errorNameLength, errorMessageLength, errorStackLength } = SANDBOX_LIMITS;
  const { stack, filename, specifier } = error;
  return {
    ...error,
    name: truncate(error.name, errorNameLength),
    message: truncate(error.message, errorMessageLength),
    ...(stack === undefined ? {} : { stack: truncate(stack, errorStackLength) }),
    ...(filename === undefined ? {} : { filename: truncate(filename, errorMessageLength) }),
    ...(specifier === undefined ? {} : { specifier: truncate(specifier, errorMessageLength) }),
  };
}

function truncate(text: string, length: number): string {
  return text.length <= length + 1 ? text : `${text.slice(0, length)}…`;
}
