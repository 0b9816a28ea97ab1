/** A thread as a test talks to it: says something, waits until it is at rest, and reads what became of it. */

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
import type { Wait } from '../store/port/thread-store.ts';
import type { TestEngine } from './test-engine.ts';

/** A call that was made, with what came of it. */
export interface TestToolCall {
  readonly id: string;
  readonly name: string;
  /** `{}` where the model wrote what is no JSON object: `rawArguments` is its text then. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly rawArguments?: string;
  /** Null while it has no result. */
  readonly status: ToolStatus | null;
  /** As the model reads it; null while there is none. */
  readonly result: string | null;
}

/** What became of what was said: everything since the answer before. */
export interface TestAnswer {
  /** `idle` where all is well; `waiting` where people are asked, see `waits`; `failed` with the `error`; `stopped`, `terminated`. */
  readonly status: ThreadStatus;
  /** The agent's last words; null where it has said nothing. */
  readonly content: string | null;
  /** Why the thread failed; null where it did not. A script that ran out is one of them. */
  readonly error: StoredError | null;
  /** New messages, the oldest first, silent ones included. */
  readonly messages: readonly Message[];
  /** Calls of the new messages, in order. */
  readonly toolCalls: readonly TestToolCall[];
  /** What is asked of people now, by the thread and its subagents, the oldest first. */
  readonly waits: readonly Wait[];
}

/** How a thread is started: as by `RuntimeClient.startThread`, where the test names no agent of its own. */
export interface TestThreadOptions extends Omit<StartThread, 'agent' | 'threadId' | 'messages'> {
  /** The project's only agent unless given. */
  readonly agent?: string;
}

/** A thread under test. Its methods are those of `RuntimeClient`, for this thread. */
export interface TestThread {
  readonly threadId: string;
  /** Sends a message and waits until the thread is at rest, or waits for people. Throws as `queueMessage`, and `Timeout`. */
  sendMessage(message: string | OutgoingMessage): Promise<TestAnswer>;
  /** Sends a message and does not wait: for what happens meanwhile. Throws as `RuntimeClient.queueMessage`. */
  queueMessage(message: string | OutgoingMessage): Promise<{ id: string }>;
  /** Waits until the thread is at rest, or waits for people. Throws `Timeout`. */
  waitForIdle(): Promise<TestAnswer>;
  /** Calls a tool without a model; it passes the gate of every call, with its policy and approvals. Throws as `RuntimeClient.callTool`. */
  callTool(name: string, args?: Readonly<Record<string, unknown>>): Promise<CalledTool>;
  /** Ends the execution under way, and waits until the thread is at rest. */
  stop(reason?: string): Promise<TestAnswer>;
  /** Answers what is asked of a person, the oldest unless an id is given, and waits. Throws `WaitNotFound`, `InvalidValue`, `Timeout`. */
  answerWait(answer: WaitAnswer, id?: string): Promise<TestAnswer>;
  /** What is asked of people, by the thread and its subagents, the oldest first. */
  listWaits(): Promise<readonly Wait[]>;
  /** All messages, the oldest first, unless the options say less. */
  getMessages(options?: GetMessagesOptions): Promise<readonly Message[]>;
  /** All calls so far, in order. */
  getToolCalls(): Promise<readonly TestToolCall[]>;
  /** What has happened, to the present end of the thread's log; with `as: 'run'` as RunEvents, for `assertRunEvents`. */
  events(options: { readonly as: 'run' }): Promise<readonly RunEvent[]>;
  events(): Promise<readonly ThreadEvent[]>;
}

export interface ThreadTerms {
  readonly agent: string;
  /** Milliseconds that one wait may take. */
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

/** More than any test makes. */
const ALL = 100_000;

function openTestThread(client: RuntimeClient, threadId: string, timeoutMs: number): TestThread {
  /** Microseconds: when the newest message was made that an answer has told. */
  let told = 0;
  const listWaits = () => client.listWaits({ threadId });
  const list = async (options: GetMessagesOptions) =>
    (await client.getMessages(threadId, { limit: ALL, ...options })).messages;
  const waitForIdle = async (): Promise<TestAnswer> => {
    const { status, lastError } = await client.waitForIdle(threadId, { timeoutMs });
    const messages = await list({ includeSilent: true });
    const fresh = messages.filter(({ created_at: at }) => at > told);
    told = messages.at(-1)?.created_at ?? told;
    const words = fresh.filter(({ role, content, silent }) => role === 'assistant' && content && !silent);
    return {
      status,
      content: words.at(-1)?.content ?? null,
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
      if (verdict === undefined || verdict.outcome === 'unknown') throw nothingAsked(threadId, wait);
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

function nothingAsked(threadId: string, id: string | undefined): RuntimeError {
  const what = id === undefined ? 'asks nobody anything' : `has no wait "${id}"`;
  return new RuntimeError(
    'WaitNotFound',
    `The thread "${threadId}" ${what}: see the status and the waits of its answer.`,
  );
}
