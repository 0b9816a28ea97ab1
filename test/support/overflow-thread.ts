/**
 * A thread at the model gate, with a double of the store: each step reads its window, summarises if that is due, assembles its request
 * and asks a model that counts in its own way (counting-model.ts).
 */
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import type { ActivityDependencies } from '../../src/activities/base/dependencies.ts';
import { historyWindow } from '../../src/activities/model/history-window.ts';
import { askModels } from '../../src/activities/model-gate/ask-models.ts';
import { NO_REQUEST_HOOKS } from '../../src/activities/model-gate/assemble.ts';
import { compact } from '../../src/activities/model-gate/compact.ts';
import { ASSEMBLE } from '../../src/activities/model-gate/model-gate.ts';
import type { ModelDefinition } from '../../src/core/author/definition.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import type { ContextMessage } from '../../src/core/context/context.ts';
import { learnCount, type ModelCounts } from '../../src/core/context/model-count.ts';
import { INSTRUCTIONS, type Summary } from '../../src/core/context/summary.ts';
import { type Provider, ProviderError, type ProviderRequest } from '../../src/core/message/provider.ts';
import { type ActiveSide, findActiveSide } from '../../src/core/project/active-side.ts';
import { defineAgent, defineModel, definePrompt, registryFrom } from '../../src/definitions/index.ts';
import { WindowFilling } from '../../src/store/step/read-context.ts';
import type {
  HistoryWindow,
  SaveSummary,
  StepContext,
  StepPlace,
} from '../../src/store/step/step-place-record.ts';
import type { ModelCallEnd } from '../../src/store/step/step-record.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import type { RecordedRequest } from '../../src/testing/index.ts';
import { aMessage, someCalls } from '../core/sample.ts';
import { type Counting, refuse, usageOf } from './counting-model.ts';

export interface OverflowTerms {
  readonly counting: Counting;
  readonly system: string;
  readonly capabilities: ModelDefinition['capabilities'];
  /** True if older messages are replaced by a summary. */
  readonly compacts?: boolean;
  /** Names of tools that the model is offered. */
  readonly tools?: Parameters<typeof registryFrom>[0]['tools'];
}

export interface AskedStep {
  readonly ok: boolean;
  readonly error?: string;
  /** Requests of this step, in their order, refused ones included. */
  readonly requests: readonly RecordedRequest[];
  /** How many of them were refused. */
  readonly refused: number;
}

export interface OverflowThread {
  readonly rows: readonly ContextMessage[];
  readonly counts: ModelCounts;
  readonly summaries: readonly Summary[];
  readonly files: ReadonlyMap<string, string>;
  says(role: 'user' | 'assistant', content: string): void;
  /** A message with calls, each with its arguments as JSON text and its result. */
  calls(results: readonly { readonly id: string; readonly args: string; readonly result: string }[]): void;
  /** Ends the execution: later messages are those of another one. */
  ends(): void;
  ask(): Promise<AskedStep>;
}

export function overflowThread({
  counting,
  system,
  capabilities,
  compacts,
  tools = {},
}: OverflowTerms): OverflowThread {
  const requests: RecordedRequest[] = [];
  let refused = 0;
  const answer = async (request: ProviderRequest) => {
    requests.push(request);
    const refusal = refuse(request, counting);
    if (refusal) {
      refused += 1;
      throw new ProviderError(refusal.message, refusal.code, refusal.status);
    }
    const isSummary = request.messages[0]?.content === INSTRUCTIONS;
    const content = isSummary ? 'A summary.' : 'An answer.';
    return { content, finishReason: 'stop' as const, usage: usageOf(request, counting) };
  };
  async function* unused() {}
  const provider = (): Provider => ({
    name: 'double',
    specificationVersion: '1',
    generate: answer,
    stream: async () => unused(),
  });
  const registry = registryFrom({
    agents: [
      defineAgent({
        name: 'helper',
        sideA: { prompt: 'main' },
        ...(compacts && { guards: { compaction: true } }),
      }),
    ],
    prompts: [
      definePrompt({
        ...{ name: 'main', toolDescription: 'main', prompt: system, model: 'm', tools: Object.keys(tools) },
        includeChat: true,
        includePastTools: true,
      }),
    ],
    models: [
      defineModel({
        name: 'm',
        provider,
        model: '1',
        capabilities: { ...capabilities, supportsStreaming: false },
      }),
    ],
    tools,
  });
  const state = new ThreadDouble();
  return {
    rows: state.rows,
    summaries: state.summaries,
    files: state.files,
    get counts() {
      return state.counts;
    },
    says: (role, content) => state.add({ role, content }),
    calls: (results) => state.addCalls(results),
    ends: () => state.ends(),
    async ask() {
      const [from, before] = [requests.length, refused];
      const context = { cancellationSignal: new AbortController().signal } as Partial<Context> as Context;
      const asked = await asyncLocalStorage.run(context, () => askStep(state, registry));
      return { ...asked, requests: requests.slice(from), refused: refused - before };
    },
  };
}

async function askStep(state: ThreadDouble, registry: Registry): Promise<Pick<AskedStep, 'ok' | 'error'>> {
  const ports = portsOf(state, registry);
  const active = findActiveSide(registry, 'helper') as ActiveSide;
  const ref = { threadId: 't', runId: 'r', step: state.nextStep(), attempt: 1 };
  const read = state.read(historyWindow(registry));
  const compacted = await compact(ports, { ref, context: read, active });
  if (compacted.kind === 'end') return { ok: false, error: compacted.end.kind };
  const { context } = compacted.added;
  const material = { context, active, show: () => '', request: NO_REQUEST_HOOKS };
  const assembled = await ASSEMBLE.pass(ports, material);
  if (assembled.kind === 'end') return { ok: false, error: 'blocked' };
  const subagents = { enabled: [], living: false };
  const hooks = { has: () => false };
  const { messages, origins } = assembled.known;
  const env = { redactKnown: <T>(value: T) => value };
  const sent = { ref, ...material, messages, origins, subagents, hooks, env, hasCompacted: false };
  const asked = await askModels(ports, sent);
  if (asked.kind === 'end') return { ok: false, error: JSON.stringify(asked.end) };
  state.learn(asked.added.call?.counted);
  state.add({ role: 'assistant', content: asked.added.response.content });
  return { ok: true };
}

/** The rows of a thread, and what the store's commands do to them. */
class ThreadDouble {
  readonly rows: ContextMessage[] = [];
  readonly summaries: Summary[] = [];
  readonly files = new Map<string, string>();
  readonly digests = new Map<string, unknown>();
  counts: ModelCounts = {};
  #step = 0;
  #execution = 1;

  nextStep(): number {
    this.#step += 1;
    return this.#step;
  }

  add(fields: Partial<ContextMessage>): void {
    const at = this.rows.length + 1;
    this.rows.push(
      aMessage({
        id: `m${at}`,
        created_at: at,
        executionId: `e${this.#execution}`,
        step: this.#step,
        ...fields,
      }),
    );
  }

  addCalls(
    results: readonly { readonly id: string; readonly args: string; readonly result: string }[],
  ): void {
    const calls = JSON.parse(someCalls(...results.map(({ id }) => [id, 'look'] as const))) as {
      function: { arguments: string };
    }[];
    for (const [index, { args }] of results.entries())
      (calls[index] as (typeof calls)[number]).function.arguments = args;
    const step = this.nextStep();
    this.add({ role: 'assistant', content: null, tool_calls: JSON.stringify(calls), step });
    for (const { id, result } of results)
      this.add({
        role: 'tool',
        name: 'look',
        content: result,
        step,
        tool_call_id: id,
        tool_status: 'success',
      });
  }

  ends(): void {
    this.#execution += 1;
  }

  learn(counted: ModelCallEnd['counted']): void {
    if (!counted) return;
    this.counts = { ...this.counts, [counted.model]: learnCount(this.counts[counted.model], counted) };
  }

  read(window: (place: StepPlace) => HistoryWindow): StepContext {
    const executionId = `e${this.#execution}`;
    const place = {
      thread: {
        id: 't',
        agent: 'helper',
        userId: null,
        session: { side: 'a', turns: 0 },
        childCount: 0,
        arguments: {},
        lastSeq: 0,
      },
      ...{ step: this.#step, executionId, stepCount: 1, sideSteps: { a: 1, b: 0 }, side: 'a' },
      ...{ scratch: {}, runContext: null, subprompt: null, counts: this.counts },
    } as Partial<StepPlace> as StepPlace;
    const asked = window(place);
    const summary = asked.summaries && this.summaries.at(-1);
    const shown = this.rows.filter(({ created_at: at }) => at > (summary?.until ?? 0));
    const own = shown.filter((row) => row.executionId === executionId);
    const filling = new WindowFilling(asked, 'a');
    filling.spend(own, new Set());
    const earlier = shown.filter((row) => row.executionId !== executionId);
    if (!filling.full) filling.take(earlier.toReversed(), new Set());
    const { taken } = filling;
    // As read-history.ts: what is read begins with a user's message.
    const first = filling.full ? taken.findIndex(({ role }) => role === 'user') : 0;
    const messages = [...taken.slice(Math.max(0, first)), ...own];
    return { ...place, messages, trimmed: shown.length - messages.length, ...(summary && { summary }) };
  }
}

function portsOf(state: ThreadDouble, registry: Registry): ActivityDependencies {
  const store = {
    env: { read: async () => [] },
    events: { append: async () => undefined },
    modelCalls: {
      start: async () => ({ kind: 'started' }),
      end: async ({ counted }: ModelCallEnd) => state.learn(counted),
      appendChunk: async () => true,
      tellWaiting: async () => true,
    },
    steps: {
      saveSummary: async ({ summary }: SaveSummary) => {
        state.summaries.push(summary);
        return { kind: 'kept', summary };
      },
    },
    files: {
      stat: async (_: string, path: string) =>
        state.files.has(path) ? { metadata: { digest: state.digests.get(path) } } : null,
      write: async (_: string, file: { path: string; content: Uint8Array; metadata: { digest: string } }) => {
        state.files.set(file.path, new TextDecoder().decode(file.content));
        state.digests.set(file.path, file.metadata.digest);
      },
    },
  };
  const ports = {
    store: store as object as ThreadStore,
    registry: () => registry,
    handover: new AbortController().signal,
  };
  return ports as Partial<ActivityDependencies> as ActivityDependencies;
}
