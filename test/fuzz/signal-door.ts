/**
 * Attacks on a thread's workflow by signals, updates, queries and starts, as a stranger with a Temporal client can send
 * them. Payloads are raw, since only those that our own client never sends matter.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Random } from '../support/seeded-random.ts';
import { bytes, deep, json, number, record, text } from './garbage.ts';

const SIGNALS = ['queueMessage', 'queueTool', 'stop', 'wakeForEffects', 'wakeForMessages'];
const STRANGE_SIGNALS = [
  'nobody',
  '__temporal_reset',
  '__temporal_activity',
  '__stack_trace',
  'status',
  'sendMessage',
  'toString',
  '__proto__',
  '😀',
];
const ENCODINGS = [
  'json/plain',
  'json/plain',
  'json/plain',
  'binary/plain',
  'binary/null',
  'json/protobuf',
  'binary/protobuf',
  'binary/encrypted',
  '',
];

interface RawPayload {
  readonly metadata: Readonly<Record<string, Uint8Array>>;
  readonly data: Uint8Array;
}

export interface SignalTarget {
  readonly client: Client;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Threads that may be attacked. */
  readonly victims: readonly string[];
}

/** One attack; an error with which the server refuses it is ignored. */
export async function attackWorkflow(target: SignalTarget, random: Random): Promise<void> {
  const kind = random.below(20);
  try {
    if (kind < 13) await sendSignal(target, random);
    else if (kind < 16) await sendUpdate(target, random);
    else if (kind < 18) await sendQuery(target, random);
    else await sendStart(target, random);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

function isRefusal(error: unknown): boolean {
  // An error of gRPC: the server, or the workflow through it, has refused the request.
  return typeof (error as { code?: unknown }).code === 'number' || (error as Error).name.endsWith('Error');
}

async function sendSignal({ client, namespace, victims }: SignalTarget, random: Random): Promise<void> {
  const workflowExecution = { workflowId: `thread/${random.pick(victims)}` };
  const signalName = random.chance(0.75) ? random.pick(SIGNALS) : random.pick(STRANGE_SIGNALS);
  const input = { payloads: payloads(random, signalName) };
  const times = random.chance(0.03) ? 300 : 1;
  for (let sent = 0; sent < times; sent++) {
    await client.workflowService.signalWorkflowExecution({
      namespace,
      workflowExecution,
      signalName,
      input,
      identity: 'fuzz',
      requestId: randomUUID(),
    });
  }
}

async function sendUpdate({ client, namespace, victims }: SignalTarget, random: Random): Promise<void> {
  await client.connection.withDeadline(Date.now() + 5_000, () =>
    client.workflowService.updateWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: `thread/${random.pick(victims)}` },
      waitPolicy: { lifecycleStage: 2 },
      request: {
        meta: { updateId: randomUUID(), identity: 'fuzz' },
        input: {
          name: random.chance(0.7) ? 'sendMessage' : random.pick(STRANGE_SIGNALS),
          args: { payloads: payloads(random, 'queueMessage') },
        },
      },
    }),
  );
}

async function sendQuery({ client, namespace, victims }: SignalTarget, random: Random): Promise<void> {
  await client.connection.withDeadline(Date.now() + 5_000, () =>
    client.workflowService.queryWorkflow({
      namespace,
      execution: { workflowId: `thread/${random.pick(victims)}` },
      query: {
        queryType: random.pick(['status', '__stack_trace', 'nothing', '__proto__']),
        queryArgs: { payloads: payloads(random, 'status') },
      },
    }),
  );
}

async function sendStart(target: SignalTarget, random: Random): Promise<void> {
  const { client, namespace, taskQueue } = target;
  const workflowId = random.chance(0.8) ? `thread/start-${randomUUID()}` : text(random).slice(0, 200) || 'x';
  const usable = random.chance(0.5);
  const messages = Array.from({ length: random.below(4) }, () => record(random));
  const start = { agent: 'victim', ...record(random), ...(usable ? { agent: 'victim', messages } : {}) };
  await client.workflowService.startWorkflowExecution({
    namespace,
    workflowId,
    workflowType: { name: 'thread' },
    taskQueue: { name: taskQueue },
    input: { payloads: random.chance(0.6) ? [plain(start)] : payloads(random, 'start') },
    identity: 'fuzz',
    requestId: randomUUID(),
  });
}

function payloads(random: Random, name: string): RawPayload[] {
  const count = random.chance(0.85) ? 1 : random.below(5);
  return Array.from({ length: count }, () => payload(random, name));
}

function payload(random: Random, name: string): RawPayload {
  const kind = random.below(10);
  if (kind === 0) return raw(random.pick(ENCODINGS), bytes(random));
  if (kind === 1) return raw('json/plain', deepPayload(random, name));
  if (kind === 2) return plain(json(random));
  if (kind === 3) return raw(random.pick(ENCODINGS), text(random));
  return plain({ ...likely(random, name), ...(random.chance(0.5) ? record(random) : {}) });
}

/** Close to valid arguments, so that the first checks pass. */
function likely(random: Random, name: string): Record<string, unknown> {
  if (name === 'queueTool')
    return { name: random.pick(['host_calls', 'nothing', text(random)]), arguments: record(random) };
  if (name === 'wakeForEffects') return { inMs: number(random) };
  if (name === 'wakeForMessages')
    return { reportOf: text(random), boot: random.chance(0.3), speaks: random.chance(0.3) };
  if (name === 'queueMessage') return { content: text(random) || 'x', metadata: record(random) };
  return { reason: json(random) };
}

function deepPayload(random: Random, name: string): string {
  const value = deep(random, 10 ** (2 + random.below(4)));
  const field = name === 'queueTool' ? '"name":"nothing","arguments"' : '"content":"x","metadata"';
  return random.chance(0.3) ? value : `{${field}:{"deep":${value}}}`;
}

function plain(value: unknown): RawPayload {
  return raw('json/plain', JSON.stringify(value) ?? 'null');
}

function raw(encoding: string, data: string | Uint8Array): RawPayload {
  return {
    metadata: encoding === '' ? {} : { encoding: Buffer.from(encoding) },
    data: typeof data === 'string' ? Buffer.from(data) : data,
  };
}
