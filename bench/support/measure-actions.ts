/**
 * (d) Actions: what a user of Temporal Cloud pays for, as the dev server counts them in its own metrics. One each: a
 * workflow that starts, a signal, an activity, a heartbeat that reaches the server, an update of search attributes, a
 * timer.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Registry } from '../../src/core/author/registry.ts';
import {
  defineAgent,
  defineEffect,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { findFreePorts, LOOPBACK } from '../../src/temporal-service/free-port.ts';
import {
  calls,
  type RecordedRequest,
  type ScriptStep,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { type FamilyRig, openFamilyRig } from './family-rig.ts';
import type { Line } from './report.ts';

const STREAM_MS = 10_000;
const CHUNKS = 50;

/** Number of actions by kind. */
type Count = ReadonlyMap<string, number>;

export async function measureActions(): Promise<Line[]> {
  const [port = 0] = await findFreePorts(1);
  const rig = await openFamilyRig(actionsRegistry(), port);
  const read = () => readActions(port);
  try {
    const lines: Line[] = [];
    const add = (what: string, count: Count, atMost?: number) =>
      lines.push({ ...toLine(what, count), atMost });
    const begun = await counted(read, () => begin(rig));
    const threadId = begun.value;
    const told = async (content: string) => (await counted(read, () => tell(rig, threadId, content))).count;
    const answer = await told('say');
    add('a message and its answer', answer, 3);
    add('a new thread, beyond its message and answer', without(begun.count, answer), 2);
    const oneStep = await told('use 1');
    add('a step with a tool', without(oneStep, answer));
    add('a further step with a tool', without(await told('use 2'), oneStep));
    add('a step of 10 s, streamed, with a tool', without(await told('stream'), answer));
    add('an effect, scheduled by a tool', without(await told('later'), oneStep));
    // The first runs of a tool are activities of their own.
    await tell(rig, threadId, 'delegate');
    add('a subagent, waited for', without(await told('delegate'), answer), 10);
    return lines;
  } finally {
    await rig.close();
  }
}

function toLine(what: string, count: Count): Line {
  const kinds = [...count].map(([kind, value]) => `${kind.replace(/^(command|activity)_/, '')} ${value}`);
  const value = [...count.values()].reduce((sum, one) => sum + one, 0);
  return { what, value, unit: 'actions', note: kinds.join(', ') };
}

async function counted<Value>(read: () => Promise<Count>, work: () => Promise<Value>) {
  const before = await read();
  const value = await work();
  return { value, count: without(await read(), before) };
}

function without(count: Count, less: Count): Count {
  const kinds = new Set([...count.keys(), ...less.keys()]);
  const differences = [...kinds].map(
    (kind) => [kind, (count.get(kind) ?? 0) - (less.get(kind) ?? 0)] as const,
  );
  return new Map(differences.filter(([, value]) => value !== 0));
}

async function readActions(port: number): Promise<Count> {
  // Includes what follows the last answer: the thread's status, set for lists of threads.
  await delay(1000);
  const text = await (await fetch(`http://${LOOPBACK}:${port}/metrics`)).text();
  const count = new Map<string, number>();
  for (const [, labels = '', value] of text.matchAll(/^action\{(.*)\} ([\d.e+]+)$/gm)) {
    const [, kind = ''] = /action_type="([^"]*)"/.exec(labels) ?? [];
    // Excludes the server's own work, and queries of the status, which only the bench makes.
    const counts = labels.includes('namespace="default"') && kind !== 'grpc_QueryWorkflow';
    if (counts) count.set(kind, (count.get(kind) ?? 0) + Number(value));
  }
  return count;
}

async function begin(rig: FamilyRig): Promise<string> {
  const threadId = await rig.begin('main', 'say');
  await rig.client.waitForIdle(threadId);
  return threadId;
}

async function tell({ client }: FamilyRig, threadId: string, content: string): Promise<void> {
  await client.queueMessage(threadId, { content });
  await client.waitForIdle(threadId, { timeoutMs: 60_000 });
}

function actionsRegistry(): Registry {
  const { provider } = scriptedModel(script);
  const prompt = { prompt: 'measured', model: 'scripted', includeChat: true, includePastTools: true };
  return registryFrom({
    agents: [
      defineAgent({ name: 'main', sideA: { prompt: 'main_desk' } }),
      defineAgent({
        name: 'helper',
        type: 'dual_ai',
        exposeAsTool: true,
        toolDescription: 'helps',
        sideA: { prompt: 'helper_desk', sessionStop: { name: 'finish', messageProperty: 'line' } },
        sideB: { prompt: 'checker_desk' },
      }),
    ],
    prompts: [
      definePrompt({
        ...prompt,
        name: 'main_desk',
        toolDescription: 'main',
        tools: ['work', 'schedule', { name: 'helper', initUserMessageProperty: 'task' }],
      }),
      definePrompt({
        ...prompt,
        name: 'helper_desk',
        toolDescription: 'helper',
        requiredSchema: z.object({ task: z.string() }),
        tools: ['finish'],
      }),
      definePrompt({ ...prompt, name: 'checker_desk', toolDescription: 'checker', tools: [] }),
    ],
    models: [defineModel({ name: 'scripted', provider, model: 'scripted-1' })],
    tools: {
      work: defineTool({ description: 'works', execute: () => ({ status: 'success' }) }),
      schedule: defineTool({
        description: 'schedules',
        async execute(state) {
          await state.scheduleEffect('done', {}, 0);
          return { status: 'success' };
        },
      }),
      finish: defineTool({
        description: 'hands in',
        args: z.object({ line: z.string() }),
        execute: () => ({ status: 'success' }),
      }),
    },
    effects: { done: defineEffect('does nothing', async () => {}) },
  });
}

function script({ messages, tools = [] }: RecordedRequest): ScriptStep {
  if (tools.some(({ function: { name } }) => name === 'finish')) return calls('finish', { line: 'done' });
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const [verb, times] = String(messages[asked]?.content).split(' ');
  const done = messages.slice(asked).filter(({ role }) => role === 'tool').length;
  if (verb === 'use' && done < Number(times)) return calls('work');
  if (done > 0 || verb === 'say' || verb === 'use') return says('Done.');
  if (verb === 'later') return calls('schedule');
  if (verb === 'delegate') return calls('helper', { task: 'go' });
  const streamed = { text: 'word '.repeat(CHUNKS), chunks: CHUNKS, chunkDelayMs: STREAM_MS / CHUNKS };
  return calls('work', {}, streamed);
}
