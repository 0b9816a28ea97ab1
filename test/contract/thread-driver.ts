/**
 * Drives one thread through the ThreadStore port as its workflow and activities do. A test passes only the fields that
 * it is about; all others have defaults.
 */

import { randomUUID } from 'node:crypto';
import type { EventKind, ThreadEvent, ThreadEventOf } from '../../src/core/event/thread-event.ts';
import type { Message, ToolCall } from '../../src/core/message/message.ts';
import type { MessageItem, QueueItem, StoredItem, ToolItem } from '../../src/core/thread/item.ts';
import type { CommitStatusOutcome, RestStatus } from '../../src/core/thread/step.ts';
import type {
  BeginStep,
  BegunStep,
  CommitStep,
  CommittedStep,
  StepRecord,
} from '../../src/store/step/step-record.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import type { OpenedThread, OpenThread } from '../../src/store/thread/thread-record.ts';
import type { BegunTool, CommitTool, CommittedTool, SettledTool } from '../../src/store/tool/tool-record.ts';
import type { StepRef } from '../../src/store/transaction/from-run.ts';

export const message = (
  id: string,
  content = `content of ${id}`,
  fields: Partial<MessageItem> = {},
): MessageItem => ({
  kind: 'message',
  id,
  role: 'user',
  content,
  ...fields,
});
export const tool = (id: string, name: string, args: Record<string, unknown> = {}): ToolItem => ({
  kind: 'tool',
  id,
  name,
  arguments: args,
});
export const stored = (id: string): StoredItem => ({ kind: 'stored', id, role: 'user' });

export const call = (id: string, name: string, args = '{}'): ToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

type Fields<T> = Partial<Omit<T, 'threadId' | 'runId'>>;

export class ThreadDriver {
  readonly store: ThreadStore;
  readonly id: string;
  /** The workflow run in whose name commands are given. */
  runId: string;
  executionId = 'execution-1';
  afterStep = 0;
  #ordinal = 0;

  constructor(store: ThreadStore, id = `thread-${randomUUID()}`, runId = 'run-1') {
    this.store = store;
    this.id = id;
    this.runId = runId;
  }

  /** Returns a driver of the same thread for another run or another store. */
  as(runId: string, store = this.store): ThreadDriver {
    return new ThreadDriver(store, this.id, runId);
  }

  get from(): { threadId: string; runId: string } {
    return { threadId: this.id, runId: this.runId };
  }

  open(fields: Fields<OpenThread> = {}): Promise<OpenedThread> {
    return this.store.threads.open({
      ...this.from,
      agent: 'helper',
      userId: null,
      arguments: {},
      parentId: null,
      rootId: this.id,
      mustExist: false,
      ...fields,
    });
  }

  stash(...items: QueueItem[]): Promise<{ waiting: number }> {
    return this.store.queue.spill({ ...this.from, items });
  }

  begin(items: readonly QueueItem[] = [], fields: Fields<BeginStep> = {}): Promise<BegunStep> {
    return this.store.steps.begin({
      ...this.from,
      ordinal: this.#ordinal++,
      executionId: this.executionId,
      afterStep: this.afterStep,
      items,
      rejections: [],
      ...fields,
    });
  }

  /** Begins a step that must call the model. */
  async beginCall(items: readonly QueueItem[] = [], fields: Fields<BeginStep> = {}): Promise<StepRef> {
    const begun = await this.begin(items, fields);
    if (begun.kind !== 'call')
      throw new Error(`The step should call the model, not ${JSON.stringify(begun)}.`);
    return { ...this.from, step: begun.step, attempt: begun.attempt };
  }

  commit(ref: StepRef, fields: Partial<CommitStep> = {}): Promise<CommittedStep> {
    return this.store.steps.commit({
      ...ref,
      content: 'an answer',
      toolCalls: [],
      model: 'scripted',
      finishReason: 'stop',
      usage: { promptTokens: 10, completionTokens: 2, totalTokens: 12 },
      ...fields,
    });
  }

  /** Takes one whole step with these items, and stores the model's answer. */
  async answer(items: readonly QueueItem[], fields: Partial<CommitStep> = {}): Promise<StepRecord> {
    const committed = await this.commit(await this.beginCall(items), fields);
    if (committed.kind !== 'stored') throw new Error(`The answer was not stored: ${committed.kind}.`);
    return committed.record;
  }

  beginTool(step: number, index: number, attempt = 'attempt-1', idempotent = false): Promise<BegunTool> {
    return this.store.toolCalls.begin({ ...this.from, step, index, attempt, idempotent: () => idempotent });
  }

  commitTool(step: number, index: number, fields: Partial<CommitTool> = {}): Promise<CommittedTool> {
    return this.store.toolCalls.commit({
      ...this.from,
      step,
      index,
      attempt: 'attempt-1',
      result: { status: 'success', result: 'done' },
      queuedTools: [],
      ...fields,
    });
  }

  async runTool(step: number, index: number): Promise<void> {
    await this.beginTool(step, index);
    await this.commitTool(step, index);
  }

  settleLostTool(step: number, index: number): Promise<SettledTool> {
    return this.store.toolCalls.settleLost({ ...this.from, step, index });
  }

  rest(
    status: RestStatus = 'idle',
    fields: Partial<Parameters<ThreadStore['threads']['commitStatus']>[0]> = {},
  ): Promise<CommitStatusOutcome> {
    return this.store.threads.commitStatus({
      ...this.from,
      storeId: this.store.id,
      status,
      rejections: [],
      ...fields,
    });
  }

  chunk(ref: StepRef, delta: string, callNumber = 1): Promise<boolean> {
    return this.store.modelCalls.appendChunk({ ...ref, call: callNumber, delta });
  }

  async events<Kind extends EventKind>(...kinds: Kind[]): Promise<(ThreadEvent & ThreadEventOf<Kind>)[]> {
    const events = await this.store.events.read(this.id, 0, 1_000_000);
    return events.filter(
      (event): event is ThreadEvent & ThreadEventOf<Kind> =>
        kinds.length === 0 || (kinds as EventKind[]).includes(event.type),
    );
  }

  async messages(): Promise<readonly Message[]> {
    const page = await this.store.messages.list(this.id, { limit: 1_000_000, includeSilent: true });
    return page.messages;
  }

  /** Lines of `role: content -> calls`; pending messages are in brackets. */
  async transcript(): Promise<string[]> {
    return (await this.messages()).map(
      ({ role, content, tool_calls: calls, status, name, tool_status: outcome }) => {
        const asked = calls
          ? (JSON.parse(calls) as ToolCall[]).map(({ function: target }) => ` -> ${target.name}`)
          : [];
        const who = role === 'tool' ? `${name} ${outcome}` : role;
        const line = `${who}: ${content ?? ''}${asked.join('')}`;
        return status === 'pending' ? `[${line}]` : line;
      },
    );
  }

  /** Everything that a reader can see: equal before and after a command that must change nothing. */
  async everything(): Promise<unknown> {
    const [thread, messages, events] = await Promise.all([
      this.store.threads.get(this.id),
      this.messages(),
      this.events(),
    ]);
    return { thread, messages, events };
  }
}

/** Takes a step with one call of a model, which costs this and uses so many tokens of the prompt. */
export async function spend(thread: ThreadDriver, cost: bigint, promptTokens: number): Promise<void> {
  const ref = await thread.beginCall([message(randomUUID())]);
  const asked = { ...ref, call: 1, model: 'scripted', modelId: 'scripted' };
  await thread.store.modelCalls.start(asked);
  const usage = { promptTokens, completionTokens: 0, totalTokens: promptTokens };
  await thread.commit(ref, { call: { call: 1, cost, usage } });
  thread.afterStep = ref.step;
}

/** Makes a thread, and opens it as its first run does. */
export async function openThread(store: ThreadStore): Promise<ThreadDriver> {
  const thread = new ThreadDriver(store);
  await thread.open();
  return thread;
}

/** True if the numbers of the events are consecutive. */
export function isGapFree(events: readonly ThreadEvent[]): boolean {
  return events.every(({ seq }, index) => index === 0 || seq === (events[index - 1]?.seq ?? 0) + 1);
}
