/** A thread under test: sends messages, waits until the thread is at rest, and reads the results. */

import type { CalledTool } from '../client/call-tool.ts';
import { newThreadId } from '../client/new-thread-id.ts';
import type { OutgoingMessage } from '../client/outgoing.ts';
import type { RuntimeClient } from '../client/runtime-client.ts';
import type { StartThread } from '../client/start-options.ts';
import type { GetMessagesOptions } from '../core/author/thread-message.ts';
import type { ThreadEvent } from '../core/event/thread-event.ts';
import type { Message, ToolCall, ToolStatus } from '../core/message/message.ts';
import { toProviderCall } from '../core/message/tool-call.ts';
import type { StoredError, ThreadStatus } from '../core/thread/step.ts';
import { RuntimeError } from '../core/value/error.ts';
import type { WaitAnswer } from '../core/wait/answer.ts';
import type { RunEvent } from '../projections/run/run-event.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';
import type { Wait } from '../store/wait/wait-record.ts';
import type { TestEngine } from './test-engine.ts';

/** A tool call and its result. */
export interface TestToolCall {
  readonly id: string;
  readonly name: string;
  /** `{}` if the model's text is not a JSON object; `rawArguments` then has the text. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly rawArguments?: string;
  /** Null until the call has a result. */
  readonly status: ToolStatus | null;
  /** The result as the model reads it; null until there is one. */
  readonly result: string | null;
}

/** What has happened in the thread since the previous answer. */
export interface TestAnswer {
  /** `idle` after a normal end; `waiting` for people (see `waits`); `failed` (see `error`); `stopped`; `terminated`. */
  readonly status: ThreadStatus;
  /** The newest text of the agent among the new messages, silent ones excluded; null if there is none. */
  readonly content: string | null;
  /** The typed answer of the newest execution (`output` of the agent's side, or of its message); absent if it has none. */
  readonly output?: ThreadRecord['output'];
  /** Why the thread failed; null if it did not. A script that has run out of steps is such an error. */
  readonly error: StoredError | null;
  /** New messages, the oldest first, silent ones included. */
  readonly messages: readonly Message[];
  /** Calls of the new messages, in order. */
  readonly toolCalls: readonly TestToolCall[];
  /** Open waits of the thread and its subagents, the oldest first. */
  readonly waits: readonly Wait[];
}

/** Options of `RuntimeClient.startThread`, with an optional agent, and without id and messages. */
export interface TestThreadOptions extends Omit<StartThread, 'agent' | 'threadId' | 'messages'> {
  /** Default: the project's only agent. */
  readonly agent?: string;
}

/** A thread under test. Its methods are those of `RuntimeClient`, for this thread. */
export interface TestThread {
  readonly threadId: string;
  /** Sends a message, then waits as `waitForIdle`. Throws as `queueMessage`, and `Timeout`. */
  sendMessage(message: string | OutgoingMessage): Promise<TestAnswer>;
  /** Sends a message without waiting, to test what happens in between. Throws as `RuntimeClient.queueMessage`. */
  queueMessage(message: string | OutgoingMessage): Promise<{ id: string }>;
  /** Waits until the thread is at rest or waits for a person to answer. Throws `Timeout`. */
  waitForIdle(): Promise<TestAnswer>;
  /** Calls a tool without a model, with policy and approvals as always. Throws as `RuntimeClient.callTool`. */
  callTool(name: string, args?: Readonly<Record<string, unknown>>): Promise<CalledTool>;
  /** Stops the current execution, and waits until the thread is at rest. */
  stop(reason?: string): Promise<TestAnswer>;
  /**
   * Answers a wait, the oldest unless an id is given, then waits as `waitForIdle`. Throws `WaitNotFound`,
   * `InvalidValue`, `Timeout`.
   */
  answerWait(answer: WaitAnswer, id?: string): Promise<TestAnswer>;
  /** Open waits of the thread and its subagents, the oldest first. */
  listWaits(): Promise<readonly Wait[]>;
  /** The thread's messages, by default the oldest first; silent ones only with `includeSilent`. */
  getMessages(options?: GetMessagesOptions): Promise<readonly Message[]>;
  /** All calls so far, in order. */
  getToolCalls(): Promise<readonly TestToolCall[]>;
  /** Events in the thread's log so far; with `as: 'run'` as RunEvents, for `assertRunEvents`. */
  events(options: { readonly as: 'run' }): Promise<readonly RunEvent[]>;
  events(): Promise<readonly ThreadEvent[]>;
}

export interface ThreadTerms {
  readonly agent: string;
  /** Milliseconds after which a method that waits throws `Timeout`. */
  readonly timeoutMs: number;
}

/** Throws as `RuntimeClient.startThread`. */
export async function startTestThread(
  { client, started }: Pick<TestEngine, 'client' | 'started'>,
  { timeoutMs, agent }: ThreadTerms,
  options: Omit<TestThreadOptions, 'agent'>,
): Promise<TestThread> {
  const threadId = newThreadId(agent);
  started.add(threadId);
  await client.startThread({ ...options, agent, threadId });
  return openTestThread(client, threadId, timeoutMs);
}

/** Page size that no test's messages exceed. */
const ALL_MESSAGES = 100_000;

function openTestThread(client: RuntimeClient, threadId: string, timeoutMs: number): TestThread {
  /** Creation time of the newest message that an answer has returned, in microseconds. */
  let answered = 0;
  const listWaits = () => client.listWaits({ threadId });
  const list = async (options: GetMessagesOptions) =>
    (await client.getMessages(threadId, { limit: ALL_MESSAGES, ...options })).messages;
  const waitForIdle = async (): Promise<TestAnswer> => {
    const { status, lastError, output } = await client.waitForIdle(threadId, { timeoutMs });
    const messages = await list({ includeSilent: true });
    const fresh = messages.filter(({ created_at: at }) => at > answered);
    answered = messages.at(-1)?.created_at ?? answered;
    const words = fresh.filter(({ role, content, silent }) => role === 'assistant' && content && !silent);
    return {
      status,
      content: words.at(-1)?.content ?? null,
      ...(output && { output }),
      error: status === 'failed' ? lastError : null,
      messages: fresh,
      toolCalls: readToolCalls(fresh, messages),
      waits: await listWaits(),
    };
  };
  const queueMessage = (message: string | OutgoingMessage) =>
    client.queueMessage(threadId, typeof message === 'string' ? { content: message } : message);

  async function events(options: { readonly as: 'run' }): Promise<readonly RunEvent[]>;
  async function events(): Promise<readonly ThreadEvent[]>;
  async function events(options?: { readonly as: 'run' }): Promise<readonly (RunEvent | ThreadEvent)[]> {
    if (!options) return collect(client.events(threadId, { follow: false }));
    const projected = await collect(client.events(threadId, { as: 'run', follow: false }));
    return projected.map(({ event }) => event);
  }

  return {
    threadId,
    waitForIdle,
    queueMessage,
    listWaits,
    events,
    async sendMessage(message) {
      await queueMessage(message);
      return waitForIdle();
    },
    callTool: (name, args = {}) => client.callTool(threadId, { name, arguments: args }, { timeoutMs }),
    async stop(reason) {
      await client.stop(threadId, reason);
      return waitForIdle();
    },
    async answerWait(answer, id) {
      const wait = id ?? (await listWaits())[0]?.id;
      const verdict = wait === undefined ? undefined : await client.answerWait(wait, answer);
      if (verdict === undefined || verdict.outcome === 'unknown') throw waitNotFound(threadId, wait);
      return waitForIdle();
    },
    getMessages: (options = {}) => list(options),
    getToolCalls: async () => {
      const messages = await list({ includeSilent: true });
      return readToolCalls(messages, messages);
    },
  };
}

async function collect<T>(source: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}

function readToolCalls(of: readonly Message[], all: readonly Message[]): readonly TestToolCall[] {
  const results = new Map(
    all.flatMap((each) => (each.tool_call_id === null ? [] : [[each.tool_call_id, each]])),
  );
  return of.flatMap(({ tool_calls: text }) => {
    const made = text === null ? [] : (JSON.parse(text) as ToolCall[]);
    return made.map((call) => {
      const { id, name, arguments: args, rawArguments } = toProviderCall(call);
      const result = results.get(id);
      return {
        id,
        name,
        arguments: args,
        ...(rawArguments === undefined ? {} : { rawArguments }),
        status: result?.tool_status ?? null,
        result: result?.content ?? null,
      };
    });
  });
}

function waitNotFound(threadId: string, id: string | undefined): RuntimeError {
  const what = id === undefined ? 'has no open wait' : `has no wait "${id}"`;
  return new RuntimeError(
    'WaitNotFound',
    `The thread "${threadId}" ${what}: see the status and the waits of its answer.`,
  );
}
