/**
 * (b) Milliseconds per step beside a bare workflow: alternating in one run, in changing order, so that other load of
 * the machine affects all alike. The median of all turns counts.
 */
import { WORKFLOW_ID_PREFIX } from '../../src/core/thread/start-input.ts';
import { measureTurn } from './history.ts';
import { AGENTS } from './project.ts';
import { type Line, median, spread } from './report.ts';
import type { Rig, ServerKind } from './rig.ts';

const STEPS = 20;
const KINDS = ['bare', 'bareQuick', ...AGENTS] as const;
type Kind = (typeof KINDS)[number];

/** Most time of a step, as a multiple of the bare workflow's. */
const GOALS = { once: 0.6, quick: 0.4, quick_once: 0.4 } as const;

export async function measureTime(rig: Rig, server: ServerKind, quick: boolean): Promise<Line[]> {
  const rounds = quick ? 3 : 15;
  const samples: Record<Kind, number[]> = { bare: [], once: [], bareQuick: [], quick: [], quick_once: [] };
  for (let round = -2; round < rounds; round++) {
    for (let turn = 0; turn < KINDS.length; turn++) {
      const kind = KINDS[(turn + round + KINDS.length) % KINDS.length] as Kind;
      const time = await stepTime(rig, kind);
      // The first rounds warm up: JIT, caches, connections.
      if (round >= 0) samples[kind].push(time);
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

/** Milliseconds of a step, over a whole turn. */
async function stepTime({ client, turn, bare }: Rig, kind: Kind): Promise<number> {
  if (kind === 'bare' || kind === 'bareQuick')
    return (await measureTurn(client.temporal, await bare(kind, STEPS), { steps: STEPS })).ms;
  const threadId = await turn(kind, STEPS);
  await client.waitForIdle(threadId);
  const { ms } = await measureTurn(client.temporal, WORKFLOW_ID_PREFIX + threadId, { steps: STEPS });
  await client.terminate(threadId);
  return ms;
}
