/**
 * What the gates cost when something is configured: a step of an agent without any of it, and of the same agent with a
 * policy, a budget, detection of loops, every guard of its turns, and all of these.
 * `node_modules/.bin/node bench/gates.ts [--json FILE] [--quick]`
 * A step is one model call and one tool call. All parts are real except the model, which answers at once. The kinds
 * alternate in one run.
 */
import { WORKFLOW_ID_PREFIX } from '../src/core/thread/start-input.ts';
import {
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../src/definitions/index.ts';
import { measureTurn } from './support/history.ts';
import { instantModel, type Watchers } from './support/project.ts';
import { type Line, median, readOptions, report, spread } from './support/report.ts';
import { openRig, quietRuntime, type Rig } from './support/rig.ts';
import { installMeter, type Meter } from './support/store-meter.ts';

const LOOPS = { loops: true } as const;
/** Guards that are checked at every step, and never take effect. */
const GUARDS = {
  ...LOOPS,
  ...{ rounds: { max: 120 }, failures: {}, team: {}, compaction: { thresholdMessages: 10_000 } },
} as const;
const POLICY = { 'nothing.*': 'allow' } as const;
const BUDGET = { maxSteps: 100_000, maxToolCalls: 100_000, maxInputTokens: 1e9 } as const;

/** Kinds of agents, each with what is configured for it. */
const KINDS = {
  plain: {},
  policy: { policy: POLICY },
  budget: { budget: BUDGET },
  loops: { guards: LOOPS },
  guards: { guards: GUARDS },
  all: { policy: POLICY, budget: BUDGET, guards: GUARDS },
} as const;
type Kind = keyof typeof KINDS;

const STEPS = 20;

/** Number of calls, which makes each call's arguments and result differ: otherwise they would count as a loop. */
let calls = 0;

function gatesRegistry(watchers: Watchers) {
  return registryFrom({
    agents: Object.entries(KINDS).map(([name, asked]) =>
      defineAgent({ name, sideA: { prompt: 'ask' }, ...asked }),
    ),
    prompts: [
      definePrompt({
        name: 'ask',
        toolDescription: 'measured',
        prompt: 'You are measured.',
        model: 'instant',
        includeChat: true,
        includePastTools: true,
        tools: ['nothing'],
      }),
    ],
    models: [
      defineModel({
        name: 'instant',
        provider: () => instantModel(watchers, () => `{"n":${++calls}}`),
        model: 'instant-1',
      }),
    ],
    tools: {
      nothing: defineTool({
        description: 'Does nothing, at most once.',
        capabilities: ['nothing.do'],
        execute: () => ({ status: 'success', result: `done ${calls}` }),
      }),
    },
  });
}

interface Sample {
  readonly ms: number;
  readonly events: number;
  readonly bytes: number;
  readonly rows: number;
  readonly statements: number;
  readonly commits: number;
}

async function sample({ client, turn: runTurn }: Rig, kind: Kind, meter: Meter): Promise<Sample> {
  const before = { ...meter };
  const threadId = await runTurn(kind, STEPS);
  await client.waitForIdle(threadId);
  const [statements, commits] = [meter.statements - before.statements, meter.commits - before.commits];
  const turn = await measureTurn(client.temporal, WORKFLOW_ID_PREFIX + threadId, { steps: STEPS });
  const { lastSeq, lastStep } = await client.getThread(threadId);
  await client.terminate(threadId);
  return {
    ms: turn.ms,
    events: turn.events,
    bytes: turn.bytes,
    rows: lastSeq / lastStep,
    statements: statements / lastStep,
    commits: commits / lastStep,
  };
}

const { json, quick } = readOptions();
const rounds = quick ? 2 : 12;
quietRuntime();
// The meter must be installed before the store is opened.
const meter = installMeter();
const rig = await openRig('file', undefined, gatesRegistry);
const names = Object.keys(KINDS) as Kind[];
const samples = new Map<Kind, Sample[]>(names.map((name) => [name, []]));
try {
  for (let round = -1; round < rounds; round++) {
    for (const [turn] of names.entries()) {
      const kind = names[(turn + round + names.length) % names.length] as Kind;
      const taken = await sample(rig, kind, meter);
      // The first round warms up.
      if (round >= 0) samples.get(kind)?.push(taken);
    }
  }
} finally {
  await rig.close();
}

const plain = median((samples.get('plain') ?? []).flatMap(({ ms }) => ms));
const lines = names.flatMap((kind): Line[] => {
  const taken = samples.get(kind) ?? [];
  const of = (read: (one: Sample) => number) => median(taken.map(read));
  const times = taken.flatMap(({ ms }) => ms);
  return [
    { what: `${kind}: time of a step`, value: median(times), unit: 'ms', note: spread(times) },
    { what: '  beside plain', value: median(times) / plain, unit: 'times' },
    { what: '  events of the history', value: of(({ events }) => events), unit: 'events' },
    { what: '  bytes of the history', value: Math.round(of(({ bytes }) => bytes)), unit: 'B' },
    { what: '  rows of the log', value: of(({ rows }) => rows), unit: 'rows' },
    { what: '  statements', value: of(({ statements }) => statements), unit: 'statements' },
    { what: '  commits', value: of(({ commits }) => commits), unit: 'commits' },
  ];
});
report('A step with what the gates are asked', lines, json);
