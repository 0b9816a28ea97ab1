/**
 * The cost of reading and assembling a request (runtime §4) from a thread of a given length, as an activity does: the
 * place of the step, as many messages as the prompt and the model's window need, then the messages of the request.
 */
import { randomUUID } from 'node:crypto';
import { historyWindow } from '../../src/activities/model/history-window.ts';
import { NO_REQUEST_HOOKS } from '../../src/activities/model-gate/assemble.ts';
import { ASSEMBLE } from '../../src/activities/model-gate/model-gate.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import { type ActiveSide, findActiveSide } from '../../src/core/project/active-side.ts';
import { defineAgent, defineModel, definePrompt, registryFrom } from '../../src/definitions/index.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import type { StepRef } from '../../src/store/transaction/from-run.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { type Line, median, spread } from './report.ts';
import type { Meter } from './store-meter.ts';

export interface AssemblyBench {
  /** Name of the engine. */
  readonly name: string;
  readonly store: ThreadStore;
  readonly meter: Meter;
  /** Messages of the thread. */
  readonly length: number;
  readonly quick: boolean;
}

const CASES: readonly { readonly what: string; readonly includeChat: boolean; readonly window?: number }[] = [
  { what: 'this execution alone', includeChat: false },
  { what: 'the whole thread', includeChat: true },
  { what: 'a window of 8,000 tokens', includeChat: true, window: 8000 },
];

export async function measureAssembly({ name, store, meter, length, quick }: AssemblyBench): Promise<Line[]> {
  const ref = await fillThread(store, length);
  const lines: Line[] = [];
  for (const { what, includeChat, window } of CASES) {
    const registry = registryOf(includeChat, window);
    const times: number[] = [];
    const rows: number[] = [];
    const statements: number[] = [];
    let sent = 0;
    for (let round = 0; round < (quick ? 5 : 40); round++) {
      const before = { ...meter };
      const startedAt = performance.now();
      sent = await assemble(store, registry, ref);
      times.push(performance.now() - startedAt);
      rows.push(meter.rows - before.rows);
      statements.push(meter.statements - before.statements);
    }
    const note = `${median(rows)} rows, ${median(statements)} statements, ${sent} messages sent; ${spread(times)}`;
    lines.push({ what: `${name}: ${length} messages, ${what}`, value: median(times), unit: 'ms', note });
  }
  return lines;
}

async function assemble(
  store: ThreadStore,
  registry: Registry,
  { threadId, step }: StepRef,
): Promise<number> {
  const context = await store.steps.readContext(threadId, step, historyWindow(registry));
  const active = findActiveSide(registry, 'bench') as ActiveSide;
  const material = { context, active, show: () => '', request: NO_REQUEST_HOOKS };
  const assembled = await ASSEMBLE.pass({ store, registry: () => registry }, material);
  return assembled.kind === 'go' ? assembled.known.messages.length : 0;
}

function registryOf(includeChat: boolean, maxContextTokens: number | undefined): Registry {
  const { provider } = scriptedModel(() => says(''));
  return registryFrom({
    agents: [defineAgent({ name: 'bench', sideA: { prompt: 'main' } })],
    prompts: [
      definePrompt({
        name: 'main',
        toolDescription: 'main',
        prompt: 'You help.',
        model: 'm',
        includeChat,
        includePastTools: true,
      }),
    ],
    models: [defineModel({ name: 'm', provider, model: '1', capabilities: { maxContextTokens } })],
  });
}

/** Fills a thread with questions and answers of 200 characters, in past executions; then begins a step. */
async function fillThread(store: ThreadStore, length: number): Promise<StepRef> {
  const run = { threadId: randomUUID(), runId: randomUUID() };
  const relations = { parentId: null, rootId: run.threadId, userId: null, arguments: {} };
  await store.threads.open({ ...run, ...relations, agent: 'bench', mustExist: false });
  const past = Array.from({ length }, (_, n) => ({
    kind: 'message' as const,
    id: `m${n}`,
    role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: 'x'.repeat(200),
  }));
  let ordinal = 0;
  let afterStep = 0;
  const begin = async (executionId: string, items: typeof past): Promise<StepRef> => {
    const begun = await store.steps.begin({
      ...run,
      ordinal: ordinal++,
      executionId,
      afterStep,
      items,
      rejections: [],
    });
    if (begun.kind !== 'call') throw new Error(`The step should call the model, not ${begun.kind}.`);
    afterStep = begun.step;
    return { ...run, step: begun.step, attempt: begun.attempt };
  };
  for (let at = 0; at < length; at += 500) {
    const ref = await begin(`past-${at}`, past.slice(at, at + 500));
    await store.steps.fail({ ...ref, error: { code: 'Bench', message: 'no answer is needed' } });
    await store.threads.commitStatus({ ...run, storeId: store.id, status: 'failed', rejections: [] });
  }
  return begin('now', [{ kind: 'message', id: 'now', role: 'user', content: 'go' }]);
}
