/**
 * The project of the fault tests: agents, tools that write a line to a ledger file, and the points at which a worker
 * may be ordered to die. Model and tools depend on the request alone, so it does not matter which worker runs them.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import {
  defineAgent,
  defineEffect,
  defineHook,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import {
  calls,
  callsMany,
  type RecordedRequest,
  type ScriptFunction,
  says,
} from '../../src/testing/index.ts';
import {
  AIDE,
  beAide,
  FAMILY_ENTRIES,
  familyAgents,
  familyPrompts,
  familyTools,
  isAide,
  leadFamily,
} from './fault-family.ts';
import { leadReaders, readerAgents, readerPrompts, readerTools } from './fault-readers.ts';
import { faultManifest, faultTasks } from './fault-tasks.ts';

/** The runtime's own fault points, and two within the body of every tool here. */
export type DeathPoint = FaultPoint | 'body_before' | 'body_after';

/** Orders the first worker that reaches this point to die; only one worker takes the order. */
export function orderDeath(folder: string, point: DeathPoint): void {
  writeFileSync(join(folder, `die-${point}`), '');
}

/** Kills this process with SIGKILL, as a crash would, if it takes an order to die at this point. */
export function dieIfOrdered(folder: string, point: DeathPoint): void {
  if (!takeOrder(folder, `die-${point}`)) return;
  // Sent by another program: the guard around author code may refuse `process.kill`.
  execFileSync('kill', ['-KILL', String(process.pid)]);
}

/** Orders the first code that reaches this point to stay there until its worker is killed. */
export function orderStay(folder: string, point: DeathPoint): void {
  writeFileSync(join(folder, `stay-${point}`), '');
}

/** True if code stays at this point. Resets that mark, so that another order for the same point can be given. */
export function hasStayed(folder: string, point: DeathPoint): boolean {
  return takeOrder(folder, `stays-${point}`);
}

/** Called at every fault point: dies or stays there if it takes an order to do so. */
export async function obey(folder: string, point: DeathPoint): Promise<void> {
  dieIfOrdered(folder, point);
  if (!takeOrder(folder, `stay-${point}`)) return;
  writeFileSync(join(folder, `stays-${point}`), '');
  await new Promise(() => undefined);
}

/** Takes an order by removing its file: exactly one of all that try succeeds. */
function takeOrder(folder: string, name: string): boolean {
  try {
    unlinkSync(join(folder, name));
    return true;
  } catch {
    return false;
  }
}

/** Lets the tool `hold` end. */
export function release(folder: string): void {
  writeFileSync(join(folder, 'release'), '');
}

/** The system text of the prompt `consult`. */
const CONSULTED = 'You are consulted.';

export function isConsulted({ messages: [first] }: RecordedRequest): boolean {
  return first?.content === CONSULTED;
}

export interface FaultProject {
  /** Address of the scripted model's server. */
  readonly modelUrl: string;
  /** Holds the ledger and the orders. */
  readonly folder: string;
  /** Name of another build than the usual one: its tools append that name to each line. */
  readonly build?: string;
}

/**
 * Tools: `write` runs at most once, `set` is idempotent, `touch` is quick, `tap` is quick and runs at most once;
 * `linger` is like `write`, with time before and after its line in which it can be killed; `hold` waits until it is
 * released; `compute` runs an endless loop in the sandbox, whose code writes the line; `refund` and `hasty` need an
 * approval in threads of the agent `clerk`, which soon expires for `hasty`.
 * Agents: threads of `auditor` wait for a person if the outcome of `refund` or `hasty` is unknown; those of `keeper`
 * are summarised; the last answer of `typist` has a type; `looper` is guarded against loops; `careful` has guards of all these kinds; `guarded` has hooks that
 * refuse every `tap` and report the end of executions.
 * Effects: `fire` writes its line with the current time, then lingers; `speak` queues its line as a message; `call`
 * calls `write` with it. Subagents are in `fault-family.ts`, calls side by side in `fault-readers.ts`, tasks in `fault-tasks.ts`.
 */
export function faultRegistry(project: FaultProject): Registry {
  const { modelUrl, folder } = project;
  const tools = {
    write: ledgerTool(project, {}),
    set: ledgerTool(project, { idempotent: true }),
    touch: ledgerTool(project, { quick: true }),
    tap: ledgerTool(project, { quick: true, idempotent: false }),
    linger: ledgerTool(project, {}, { before: () => delay(100), after: () => delay(100) }),
    hold: ledgerTool(project, {}, { after: (signal) => untilReleased(folder, signal) }),
    compute: computeTool(folder),
    refund: ledgerTool(project, MONEY),
    hasty: ledgerTool(project, { ...MONEY, approvalTimeoutMs: 500 }),
  };
  return registryFrom({
    agents: [
      defineAgent({ name: 'helper', sideA: { prompt: 'main' } }),
      defineAgent({
        name: 'clerk',
        sideA: { prompt: 'main' },
        policy: { 'money.*': 'require_approval' },
      }),
      defineAgent({
        name: 'auditor',
        sideA: { prompt: 'main' },
        policy: { rules: { 'money.*': 'allow' }, onUncertain: 'wait' },
      }),
      defineAgent({
        name: 'keeper',
        sideA: { prompt: 'main' },
        guards: { compaction: { thresholdMessages: 8, retainRecentMessages: 4 } },
      }),
      defineAgent({
        name: 'careful',
        sideA: { prompt: 'main' },
        policy: { 'money.*': 'require_approval' },
        budget: { maxSteps: 1000, maxToolCalls: 1000 },
        guards: {
          compaction: { thresholdMessages: 19, retainRecentMessages: 4 },
          ...{ loops: true, rounds: {}, failures: { max: 6 } },
        },
      }),
      defineAgent({ name: 'typist', sideA: { prompt: 'main', output: z.object({ line: z.string() }) } }),
      defineAgent({ name: 'looper', sideA: { prompt: 'main' }, guards: { loops: true } }),
      defineAgent({ name: 'guarded', sideA: { prompt: 'main' }, hooks: ['no_taps', 'tell_end'] }),
      ...familyAgents(),
      ...readerAgents(),
    ],
    prompts: [
      definePrompt({
        name: 'main',
        toolDescription: 'the main prompt',
        prompt: 'You help.',
        model: 'scripted',
        includeChat: true,
        includePastTools: true,
        tools: [
          ...Object.keys(tools),
          'run_code',
          { name: 'consult', initUserMessageProperty: 'line' },
          'task:write',
          ...FAMILY_ENTRIES,
        ],
      }),
      definePrompt({
        name: 'consult',
        toolDescription: 'writes a line',
        prompt: CONSULTED,
        model: 'scripted',
        requiredSchema: z.object({ line: z.string() }),
        tools: ['write'],
      }),
      ...familyPrompts(),
      ...readerPrompts(AIDE),
    ],
    models: [
      defineModel({
        name: 'scripted',
        provider: openaiCompatible({ baseUrl: modelUrl, apiKey: 'x' }),
        model: 'scripted-1',
        capabilities: { maxOutputTokens: 100 },
      }),
    ],
    tools: { ...tools, ...familyTools(), ...readerTools(folder) },
    effects: { fire: fireEffect(folder), speak: speakEffect, call: callEffect },
    hooks: [noTaps(folder), tellEnd(folder)],
    tasks: faultTasks({ folder, obey, ...(project.build ? { build: project.build } : {}) }),
    manifests: { writer: faultManifest(project.build) },
  });
}

async function untilReleased(folder: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(join(folder, 'release'))) await delay(20, undefined, { signal });
}

interface Waits {
  readonly before?: () => Promise<void>;
  readonly after?: (signal: AbortSignal) => Promise<void>;
}

interface Kind {
  readonly idempotent?: boolean;
  readonly quick?: boolean;
  readonly capabilities?: string[];
  readonly prepareAction?: (args: { line: string }) => { description: string };
  readonly approvalTimeoutMs?: number;
}

/** Fields of tools that need a person's approval in threads of the agent `clerk`. */
const MONEY: Kind = {
  capabilities: ['money.move'],
  prepareAction: ({ line }) => ({ description: `Refunds ${line}` }),
};

function ledgerTool({ folder, build }: FaultProject, kind: Kind, waits: Waits = {}) {
  const behind = build ? ` by ${build}` : '';
  return defineTool({
    description: `writes a line${behind}`,
    args: z.object({ line: z.string() }),
    ...kind,
    execute: async (state, { line }) => {
      await waits.before?.();
      await obey(folder, 'body_before');
      appendFileSync(join(folder, 'ledger'), `${state.threadId} ${line}${behind}\n`);
      await obey(folder, 'body_after');
      await waits.after?.(state.execution?.abortSignal ?? AbortSignal.abort());
      return { status: 'success', result: `wrote ${line}` };
    },
  });
}

function fireEffect(folder: string) {
  return defineEffect('writes a line', z.object({ line: z.string() }), async (state, { line }) => {
    appendFileSync(join(folder, 'ledger'), `${state.threadId} ${line} ${Date.now()}\n`);
    await delay(150);
  });
}

/** A hook that refuses every `tap`. */
function noTaps(folder: string) {
  return defineHook({
    hook: 'before_tool_call',
    id: 'no_taps',
    async execute(_state, { function: { name } }) {
      await obey(folder, 'body_before');
      return name === 'tap' ? { block: true, reason: 'No taps.' } : undefined;
    },
  });
}

/** A hook that stores a message in the thread and writes a line at the end of an execution. */
function tellEnd(folder: string) {
  return defineHook({
    hook: 'on_agent_end',
    id: 'tell_end',
    async execute(state, { key, reason }) {
      await state.injectMessage({ role: 'system', content: `ended: ${reason}` });
      appendFileSync(join(folder, 'ledger'), `${state.threadId} ${key}\n`);
    },
  });
}

const speakEffect = defineEffect('queues a message', z.object({ line: z.string() }), (state, { line }) =>
  state.queueMessage({ role: 'user', content: line }),
);

const callEffect = defineEffect('invokes a tool', z.object({ line: z.string() }), async (state, { line }) => {
  await state.invokeTool('write', { line });
});

function computeTool(folder: string) {
  return defineTool({
    description: 'computes without end',
    args: z.object({ line: z.string() }),
    execute: async (state, { line }) => {
      const write = () => appendFileSync(join(folder, 'ledger'), `${state.threadId} ${line}\n`);
      const { status } = await state.runCode('await write(); for (;;);', { globals: { write } });
      return { status: 'success', result: status };
    },
  });
}

/**
 * `use <tool> <times>` makes that many steps of one call each, then a text; `use <tool> at once` makes two calls in one
 * step; `draft <times>` gives that many drafts, then JSON with the line that was asked for; `wait` is answered once `gate` resolves; a text that ends with `slowly` is answered as a stream of two seconds;
 * everything else is answered at once. The prompt `consult` writes the line that it receives, and says so.
 */
export function faultScript(gate?: () => Promise<void>): ScriptFunction {
  return async (request) => {
    const { text, results, turn } = lastTurn(request);
    if (isAide(request)) return beAide({ text, results });
    if (isConsulted(request)) return calls('write', { line: text }, { text: 'It shall be written.' });
    const led = leadFamily({ text, results });
    if (led) return led;
    const read = leadReaders(text, results);
    if (read) return read;
    const draft = giveDraft(request);
    if (draft) return draft;
    const [, tool, times] = /^use (\w+) (\d+)/.exec(text) ?? [];
    if (tool && results < Number(times)) {
      // All lines of a thread are different.
      const line = turn === 1 ? `${results + 1}` : `${turn}.${results + 1}`;
      return calls(tool, { line });
    }
    const [, twice] = /^use (\w+) at once/.exec(text) ?? [];
    if (twice && results === 0) return callsMany(['1', '2'].map((line) => ({ name: twice, args: { line } })));
    if (text === 'wait') await gate?.();
    const answer = `Answered "${text}" after ${results} tool results.`;
    return says(answer, text.endsWith('slowly') ? { chunks: 20, chunkDelayMs: 100 } : {});
  };
}

/** A model that is asked again sees its last draft behind the message. */
function giveDraft({ messages }: RecordedRequest) {
  const texts = messages.flatMap(({ role, content }) => (role === 'user' ? [String(content)] : []));
  const line = texts.findLast((text) => !text.startsWith('Your answer was not accepted')) ?? '';
  const [, times] = /^draft (\d+)/.exec(line) ?? [];
  if (times === undefined) return undefined;
  const [, given = 0] = /^Draft (\d+)/.exec(String(messages.at(-2)?.content)) ?? [];
  const next = Number(given) + 1;
  return says(next > Number(times) ? JSON.stringify({ line }) : `Draft ${next}, not JSON yet.`, {
    chunks: 4,
  });
}

function lastTurn({ messages }: RecordedRequest): { text: string; results: number; turn: number } {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const turn = messages.filter(({ role }) => role === 'user').length;
  const content = messages[last]?.content;
  const results = messages.slice(last).filter(({ role }) => role === 'tool').length;
  return { text: typeof content === 'string' ? content : '', results, turn };
}
