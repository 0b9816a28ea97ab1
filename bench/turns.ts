/**
 * Chat turns beside the simplest stream of the same lines, and the steps of a task beside a bare workflow with as many
 * empty activities.
 * `node_modules/.bin/node bench/turns.ts [--json FILE] [--quick] [--only turns|tasks]...`
 * Counts are exact: a turn with missing lines ends the bench. The time to a first event counts from the call; lines of
 * a turn come from a store in a file.
 */
import { randomUUID } from 'node:crypto';
import { serveApi } from '../src/cli/serve/serve-api.ts';
import type { ProviderStreamChunk } from '../src/core/message/provider.ts';
import {
  defineAgent,
  defineModel,
  definePrompt,
  defineTask,
  registryFrom,
} from '../src/definitions/index.ts';
import {
  type Box,
  type BoxEvent,
  type ChatTurnHooks,
  clientBox,
  handleChatTurn,
  remoteBox,
} from '../src/faces/tangle/index.ts';
import { createApi } from '../src/server/api/create-api.ts';
import { type Line, median, readOptions, report, spread } from './support/report.ts';
import { openRig, quietRuntime, type Rig } from './support/rig.ts';

const { json, quick, only } = readOptions();
const asked = (part: string) => only.length === 0 || only.includes(part);
const LINES = quick ? 200 : 2000;
const ROUNDS = quick ? 3 : 15;
const STEPS = quick ? 10 : 40;
/** Number of rounds that warm up. */
const COLD = 2;

quietRuntime();
const rig = await openRig('file', {}, project);
try {
  const lines = [
    ...(asked('turns') ? await measureTurns(rig) : []),
    ...(asked('tasks') ? await measureTasks(rig) : []),
  ];
  report('Chat turns and tasks', lines, json);
} finally {
  await rig.close();
}

function project() {
  return registryFrom({
    agents: [defineAgent({ name: 'talker', sideA: { prompt: 'talk' } })],
    prompts: [
      definePrompt({
        name: 'talk',
        toolDescription: 'measured',
        prompt: 'You are measured.',
        model: 'instant',
      }),
    ],
    models: [
      defineModel({
        name: 'instant',
        model: 'instant-1',
        provider: () => ({
          name: 'instant',
          specificationVersion: '1',
          generate: () => Promise.reject(new Error('Everthread streams where it can.')),
          stream: async () => talk(),
        }),
      }),
    ],
    tasks: {
      count: defineTask<{ count: number }, string>({
        observe: ({ history }) => ({ count: history.length }),
        validate: ({ state, task }) => [{ id: 'counted', passed: state.count >= Number(task.inputs?.to) }],
        decide: () => ({ kind: 'act', action: 'add' }),
        act: () => 'added',
      }),
    },
  });
}

function piece(n: number): string {
  return `${n} `;
}

async function* talk(): AsyncGenerator<ProviderStreamChunk> {
  for (let n = 0; n < LINES; n++) yield { type: 'content-delta', delta: piece(n) };
  const usage = { promptTokens: 1, completionTokens: LINES, totalTokens: LINES + 1 };
  yield { type: 'finish', finishReason: 'stop', usage };
}

async function* produce() {
  for (let n = 0; n < LINES; n++)
    yield { type: 'message.part.updated', data: { delta: piece(n), part: { type: 'text' } } };
}

interface Reading {
  readonly firstMs: number;
  readonly firstPieceMs: number;
  readonly wholeMs: number;
  readonly lines: number;
  readonly text: string;
}

async function measureTurns({ client }: Rig): Promise<Line[]> {
  const served = await serveApi(createApi({ client }), { host: '127.0.0.1', port: 0 });
  const near = clientBox(client, { agent: 'talker' });
  const far = remoteBox({ url: served.url, agent: 'talker' });
  const closure: ChatTurnHooks = { produce: () => ({ stream: produce(), finalText: () => 'Done.' }) };
  const kinds: Readonly<Record<string, () => ReadableStream<Uint8Array>>> = {
    'plain NDJSON in this process': plain,
    'a closure’s turn': () => turn(near, closure),
    'an agent’s turn': () => turn(near),
    'an agent’s turn over HTTP': () => turn(far),
  };
  const found = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, [] as Reading[]]));
  for (let round = -COLD; round < ROUNDS; round++)
    for (const [kind, begin] of Object.entries(kinds)) {
      const reading = await readAll(begin);
      expectWhole(kind, reading);
      if (round >= 0) found[kind]?.push(reading);
    }
  await served.close();
  return Object.entries(found).flatMap(([kind, readings]) => toLines(kind, readings));
}

function turn(box: Box<BoxEvent>, hooks: ChatTurnHooks = {}): ReadableStream<Uint8Array> {
  const identity = { tenantId: 'acme', userId: 'ada', sessionId: randomUUID(), turnIndex: 0 };
  return handleChatTurn({ box, identity, message: 'go', hooks }).body;
}

function plain(): ReadableStream<Uint8Array> {
  const lines = produce();
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
    },
  });
}

async function readAll(begin: () => ReadableStream<Uint8Array>): Promise<Reading> {
  const begun = performance.now();
  const since = () => performance.now() - begun;
  let [firstMs, firstPieceMs, lines, text, rest] = [0, 0, 0, '', ''];
  for await (const bytes of begin().pipeThrough(new TextDecoderStream())) {
    const parts = (rest + bytes).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const { type, data } = JSON.parse(part);
      firstMs ||= since();
      lines += 1;
      if (type === 'message.discarded') text = '';
      if (type !== 'message.part.updated') continue;
      firstPieceMs ||= since();
      text += data.delta;
    }
  }
  return { firstMs, firstPieceMs, wholeMs: since(), lines, text };
}

function expectWhole(kind: string, { text, lines }: Reading): void {
  const whole = Array.from({ length: LINES }, (_, n) => piece(n)).join('');
  // The closure's lines are passed on unchanged, between two of ours.
  const exact = kind.includes('closure') ? lines === LINES + 2 : true;
  if (text !== whole || !exact) throw new Error(`${kind}: ${lines} lines with ${text.length} characters.`);
}

function toLines(kind: string, readings: readonly Reading[]): Line[] {
  const of = (field: keyof Omit<Reading, 'text'>) => readings.map((reading) => reading[field]);
  const rates = readings.map(({ wholeMs }) => (LINES / wholeMs) * 1000);
  return [
    { what: `${kind}: first event`, value: median(of('firstMs')), unit: 'ms', note: spread(of('firstMs')) },
    {
      what: '  first piece of the answer',
      value: median(of('firstPieceMs')),
      unit: 'ms',
      note: spread(of('firstPieceMs')),
    },
    {
      what: '  pieces told',
      value: median(rates),
      unit: '/s',
      note: `${LINES} pieces in ${median(of('lines'))} lines, all of them; ${spread(rates)}`,
    },
  ];
}

async function measureTasks({ client, bare }: Rig): Promise<Line[]> {
  const samples: Record<'task' | 'bare', number[]> = { task: [], bare: [] };
  let events = 0;
  for (let round = -COLD; round < ROUNDS; round++) {
    const { id } = await client.tasks.start({
      task: 'count',
      intent: 'count',
      inputs: { to: STEPS },
      budget: { maxSteps: STEPS + 1 },
    });
    for await (const _ of client.tasks.events(id, { openWithinMs: 60_000 }));
    const { steps } = await client.tasks.get(id);
    if (steps !== STEPS) throw new Error(`The task has ${steps} steps.`);
    const task = await lengthOf(client.temporal.workflow.getHandle(`task/${id}`));
    // Each step of the bare workflow is two activities.
    const floor = await lengthOf(client.temporal.workflow.getHandle(await bare('bare', STEPS / 2)));
    if (round < 0) continue;
    samples.task.push(task.ms / STEPS);
    samples.bare.push(floor.ms / STEPS);
    events = task.events;
  }
  const [task, floor] = [median(samples.task), median(samples.bare)];
  return [
    { what: 'an empty activity of a bare workflow', value: floor, unit: 'ms', note: spread(samples.bare) },
    { what: 'a step of a task', value: task, unit: 'ms', note: spread(samples.task) },
    { what: '  beside bare', value: task / floor, unit: 'times' },
    {
      what: '  events of history',
      value: events / STEPS,
      unit: 'a step',
      note: `${events} for ${STEPS} steps`,
    },
  ];
}

/** Measures a workflow from its start to its end, by the server's own times. */
async function lengthOf(handle: ReturnType<Rig['client']['temporal']['workflow']['getHandle']>) {
  await handle.result();
  const { closeTime, startTime, historyLength } = await handle.describe();
  return { ms: Number(closeTime) - Number(startTime), events: historyLength };
}
