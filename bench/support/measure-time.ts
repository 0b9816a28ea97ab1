/**
 * (b) Milliseconds per step beside a bare workflow: alternating in one run, in changing order, so that other load of
 * the machine affects all alike. The median of all steps counts.
 */
import { WORKFLOW_ID_PREFIX } from '../../src/core/thread/start-input.ts';
import { measureSteps } from './history.ts';
import { AGENTS } from './project.ts';
import { type Line, median, spread } from './report.ts';
import type { Rig, ServerKind } from './rig.ts';

const STEPS = 20;
const KINDS = ['bare', 'bareQuick', ...AGENTS] as const;
type Kind = (typeof KINDS)[number];

/** Most time of a step, as a multiple of the bare workflow's. */
const GOALS = { once: 1.15, quick: 0.7, quick_once: 0.7 } as const;

export async function measureTime(rig: Rig, server: ServerKind, quick: boolean): Promise<Line[]> {
  const rounds = quick ? 3 : 15;
  const samples: Record<Kind, number[]> = { bare: [], once: [], bareQuick: [], quick: [], quick_once: [] };
  for (let round = -2; round < rounds; round++) {
    for (let turn = 0; turn < KINDS.length; turn++) {
      const kind = KINDS[(turn + round + KINDS.length) % KINDS.length] as Kind;
      const times = await stepTimes(rig, kind);
      // The first rounds warm up: JIT, caches, connections.
      if (round >= 0) samples[kind].push(...times);
    }
  }
  const bare = median(samples.bare);
  const where = `server in ${server}`;
  return [
    { what: `bare step, ${where}`, value: bare, unit: 'ms', note: spread(samples.bare) },
    {
      what: `bare step, tool as local activity, ${where}`,
      value: median(samples.bareQuick),
      unit: 'ms',
      note: spread(samples.bareQuick),
    },
    ...AGENTS.flatMap((kind): Line[] => {
      const value = median(samples[kind]);
      return [
        { what: `step with ${kind} tool, ${where}`, value, unit: 'ms', note: spread(samples[kind]) },
        { what: `  beside bare, ${where}`, value: value / bare, unit: 'times', atMost: GOALS[kind] },
      ];
    }),
  ];
}

async function stepTimes({ client, turn, bare }: Rig, kind: Kind): Promise<number[]> {
  if (kind === 'bare' || kind === 'bareQuick') {
    const workflowId = await bare(kind, STEPS);
    return (await measureSteps(client.temporal, workflowId)).map(({ ms }) => ms);
  }
  const threadId = await turn(kind, STEPS);
  await client.waitForIdle(threadId);
  const steps = await measureSteps(client.temporal, WORKFLOW_ID_PREFIX + threadId);
  await client.terminate(threadId);
  return steps.map(({ ms }) => ms);
}
