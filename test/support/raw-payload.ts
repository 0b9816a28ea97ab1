/**
 * Signals, updates, queries and starts with payloads that no SDK would make, sent by raw calls of Temporal's service.
 */
import { randomUUID } from 'node:crypto';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';

export interface RawPayload {
  readonly metadata?: Readonly<Record<string, Uint8Array>>;
  readonly data?: Uint8Array;
}

export function payload(data: string | Uint8Array, encoding?: string): RawPayload {
  return {
    ...(encoding === undefined ? {} : { metadata: { encoding: Buffer.from(encoding) } }),
    data: typeof data === 'string' ? Buffer.from(data) : data,
  };
}

export function json(value: unknown): RawPayload {
  return jsonText(JSON.stringify(value));
}

export function jsonText(text: string): RawPayload {
  return payload(text, 'json/plain');
}

/** JSON text of nested arrays. */
export function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

/** Payloads that a thread cannot read: not UTF-8, not JSON, or in no known encoding. */
export const GARBAGE: Readonly<Record<string, readonly RawPayload[]>> = {
  'no argument': [],
  'five arguments, the first of them null': [json(null), ...Array.from({ length: 4 }, () => json({}))],
  'bytes that are no JSON': [jsonText('\u0000{"content')],
  'bytes that are no UTF-8': [payload(Uint8Array.of(0xff, 0xfe, 0x80), 'json/plain')],
  'JSON without bytes': [payload('', 'json/plain')],
  'an encoding of bytes': [payload('{"content":"x"}', 'binary/plain')],
  'an encoding of protobuf': [payload(Uint8Array.of(10, 1, 120), 'binary/protobuf')],
  'an encoding that nobody knows': [payload('{"content":"x"}', 'x'.repeat(5000))],
  'no encoding': [payload('{"content":"x"}')],
  'nothing at all': [{}],
};

export function rawSignal(
  client: RuntimeClient,
  threadId: string,
  signalName: string,
  payloads: readonly RawPayload[] = [],
): Promise<unknown> {
  return client.temporal.workflowService.signalWorkflowExecution({
    ...to(client, threadId),
    signalName,
    input: { payloads: [...payloads] },
    requestId: randomUUID(),
  });
}

/** Returns the update's failure, if it was refused. */
export async function rawUpdate(
  client: RuntimeClient,
  threadId: string,
  name: string,
  payloads: readonly RawPayload[] = [],
) {
  const { outcome } = await client.temporal.workflowService.updateWorkflowExecution({
    ...to(client, threadId),
    waitPolicy: { lifecycleStage: 3 },
    request: { meta: { updateId: randomUUID() }, input: { name, args: { payloads: [...payloads] } } },
  });
  return outcome?.failure;
}

export function rawQuery(
  client: RuntimeClient,
  threadId: string,
  queryType: string,
  payloads: readonly RawPayload[] = [],
) {
  const { workflowExecution, ...rest } = to(client, threadId);
  return client.temporal.workflowService.queryWorkflow({
    ...rest,
    execution: workflowExecution,
    query: { queryType, queryArgs: { payloads: [...payloads] } },
  });
}

export function rawStart(
  client: RuntimeClient,
  threadId: string,
  { input = [json({ agent: 'helper' })], memo }: { input?: readonly RawPayload[]; memo?: RawPayload },
): Promise<unknown> {
  return client.temporal.workflowService.startWorkflowExecution({
    namespace: client.temporal.options.namespace,
    workflowId: `thread/${threadId}`,
    workflowType: { name: 'thread' },
    taskQueue: { name: client.taskQueue },
    workflowTaskTimeout: { seconds: 5 as never },
    input: { payloads: [...input] },
    ...(memo ? { memo: { fields: { note: memo } } } : {}),
    requestId: randomUUID(),
  });
}

function to(client: RuntimeClient, threadId: string) {
  return {
    namespace: client.temporal.options.namespace,
    workflowExecution: { workflowId: `thread/${threadId}` },
  };
}
