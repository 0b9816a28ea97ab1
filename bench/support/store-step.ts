/**
 * A thread of any length for the store's bench, and a step of it: the port's commands in the order of the activities.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { toProviderMessage } from '../../src/core/context/context-provider.ts';
import type { SentRequest } from '../../src/store/request/request-record.ts';
import type { BegunStep } from '../../src/store/step/step-record.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import type { BeginTool, ToolCallKey } from '../../src/store/tool/tool-record.ts';
import type { StepRef } from '../../src/store/transaction/from-run.ts';
import { openBeside } from '../../test/support/database-beside.ts';
import { lengthen } from '../../test/support/long-thread.ts';

export type Timed = <T>(name: string, run: () => Promise<T>) => Promise<T>;

export interface Run {
  readonly threadId: string;
  readonly runId: string;
  /** Number of its steps; `taken` is the number of those that the bench made. */
  step: number;
  taken: number;
}

const USAGE = { promptTokens: 10, completionTokens: 10, totalTokens: 20 };
const TEXT = 'x'.repeat(200);
const callOf = (id: string) =>
  ({ id, type: 'function', function: { name: 'tool', arguments: '{}' } }) as const;
const ANSWER = { model: 'm', finishReason: 'stop', usage: USAGE };

interface Length {
  /** Address in the form of `openStore`. */
  readonly address: string;
  readonly folder: string;
  readonly messages: number;
}

/**
 * Opens a thread with history: executions of five messages each, a question, two calls with their results, an answer.
 */
export async function openThread(store: ThreadStore, { address, folder, messages }: Length): Promise<Run> {
  const run = { threadId: randomUUID(), runId: randomUUID(), step: 2, taken: 0 };
  const { threadId, runId } = run;
  const relations = { parentId: null, rootId: threadId, userId: null, arguments: {} };
  await store.threads.open({ threadId, runId, ...relations, agent: 'bench', mustExist: false });
  const begun = { threadId, runId, executionId: 'past', rejections: [] };
  const asked = { kind: 'message', id: 'past', role: 'user', content: TEXT } as const;
  await store.steps.begin({ ...begun, ordinal: -2, afterStep: 0, items: [asked] });
  const toolCalls = [callOf('c0'), callOf('c1')];
  await ask(store, { threadId, runId, step: 1, attempt: 1 });
  await store.steps.commit({ threadId, runId, step: 1, attempt: 1, ...ANSWER, content: null, toolCalls });
  for (const index of [0, 1]) {
    const call = toBegin({ threadId, runId, step: 1, index });
    await store.toolCalls.begin(call);
    await endTool(store, call);
  }
  await store.steps.begin({ ...begun, ordinal: -1, afterStep: 1, items: [] });
  await ask(store, { threadId, runId, step: 2, attempt: 1 });
  await store.steps.commit({ threadId, runId, step: 2, attempt: 1, ...ANSWER, content: TEXT, toolCalls: [] });
  await rest(store, run);
  const db = openBeside(address, folder);
  await lengthen(db, threadId, messages);
  // PostgreSQL runs this by itself some time after such growth.
  if (!address.startsWith('sqlite:')) await sql`analyze`.execute(db);
  await db.destroy();
  return { ...run, step: (await store.threads.get(threadId))?.lastStep ?? 0 };
}

async function ask(store: ThreadStore, ref: StepRef): Promise<void> {
  await store.modelCalls.start({ ...ref, call: 1, model: 'm', modelId: 'm-1' });
  await store.modelCalls.end({ ...ref, call: 1, ok: true, usage: USAGE, firstTokenAt: 1 });
}

const toBegin = (key: ToolCallKey): BeginTool => ({
  ...key,
  attempt: randomUUID(),
  idempotent: () => false,
  history: true,
});

function endTool(store: ThreadStore, { threadId, runId, step, index, attempt }: BeginTool) {
  const result = { status: 'success', result: 'done' } as const;
  return store.toolCalls.commit({ threadId, runId, step, index, attempt, result, queuedTools: [] });
}

async function rest(store: ThreadStore, { threadId, runId }: Run): Promise<void> {
  await store.threads.commitStatus({ threadId, runId, storeId: store.id, status: 'idle', rejections: [] });
}

const PROMPT = { role: 'system', content: 'You help. '.repeat(100) } as const;
const TOOL = { name: 'tool', description: TEXT, parameters: { type: 'object', properties: {} } };

/** What the model of a step is sent, assembled from the rows that its begin has read. */
function toSent(begun: BegunStep): SentRequest | undefined {
  if (begun.kind !== 'call' || !begun.context) return undefined;
  const { messages: rows } = begun.context;
  const made = rows.map((row) => toProviderMessage(row, { pictures: new Map() }));
  const messages = [PROMPT, ...made];
  const tools = [{ type: 'function', function: TOOL }] as const;
  const request = { model: 'm-1', messages, tools, providerOptions: {} };
  return { chain: 'a:main', provider: 'p', origins: { rows, made }, stored: rows, ownPrompt: true, request };
}

/** Number of steps of an execution. */
const TOGETHER = 10;

/** Runs a step as src/activities/step/model-step.ts and run-tool.ts do. */
export async function runStep(store: ThreadStore, run: Run, tokens: number, timed: Timed): Promise<void> {
  const { threadId, runId, step: afterStep, taken } = run;
  const first = taken % TOGETHER === 0;
  if (first && taken > 0) await rest(store, run);
  const asked = { kind: 'message', id: `m${taken}`, role: 'user', content: TEXT } as const;
  const executionId = `execution ${Math.floor(taken / TOGETHER)}`;
  const place = { threadId, runId, ordinal: taken, executionId, afterStep };
  const window = { includeChat: true, includePastTools: true, recentImages: 10, tokens };
  const request = () => ({ window, call: { model: 'm', modelId: 'm-1' } });
  const rules = () => ({ limits: { maxSteps: {} } });
  const begun = await timed('beginStep', () =>
    store.steps.begin({ ...place, items: first ? [asked] : [], rejections: [], rules, request }),
  );
  run.step += 1;
  run.taken += 1;
  const ref = { threadId, runId, step: run.step, attempt: 1 };
  const toolCalls = [callOf(`call_${ref.step}`)];
  const call = { call: 1, usage: USAGE, firstTokenAt: 1, sent: toSent(begun) };
  // The first call begins with the answer.
  const begins = toBegin({ threadId, runId, step: ref.step, index: 0 });
  const answer = { ...ref, ...ANSWER, content: null, toolCalls, call, begins };
  await timed('commitStep', () => store.steps.commit(answer));
  await timed('commitTool', () => endTool(store, begins));
}
