/** Tasks of the fault tests: each act writes its step to the ledger, with fault points before and after it. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineManifest, defineTask } from '../../src/definitions/index.ts';

interface FaultTasks {
  readonly folder: string;
  /** Name of another build than the usual one: its acts append that name to each line. */
  readonly build?: string;
  readonly obey: (folder: string, point: 'body_before' | 'body_after') => Promise<void>;
}

/**
 * Each task makes `inputs.acts` acts, at a cost of 1 each; with `inputs.asks` it asks a question before the last.
 * `repeated` repeats an act whose worker was lost.
 */
export function faultTasks({ folder, build, obey }: FaultTasks) {
  const behind = build ? ` by ${build}` : '';
  const ledger = (idempotent: boolean) =>
    defineTask<{ acted: number; asked: boolean }, { step: number }>({
      idempotent,
      observe: ({ history }) => ({
        acted: history.filter(({ decision }) => decision.kind === 'act').length,
        asked: history.some(({ decision }) => decision.kind === 'ask'),
      }),
      decide({ state, task, history }) {
        const { acts = 2, asks = false } = task.inputs ?? {};
        const left = Number(acts) - state.acted;
        if (asks && left === 1 && !state.asked) return { kind: 'ask', question: 'Go on?' };
        if (left > 0) return { kind: 'act', action: { step: state.acted } };
        return {
          kind: 'stop',
          pass: true,
          reason: 'written',
          outcome: history.at(-1)?.actionOutcome?.result,
        };
      },
      async act({ step }, { task }) {
        await obey(folder, 'body_before');
        appendFileSync(join(folder, 'ledger'), `${task.id} ${step}${behind}\n`);
        await obey(folder, 'body_after');
        return step;
      },
      getActionCostUsd: () => 1,
      projectRunRecords: ({ steps }) => [{ steps }],
    });
  return { write: ledger(false), repeated: ledger(true) };
}

/** The manifest of the task "write"; every build has a different one. */
export function faultManifest(build = 'usual') {
  return defineManifest({
    id: 'writer',
    repoRoot: import.meta.dirname,
    surfaces: {},
    rubric: { dimensions: [], judges: [{ id: 'reader', model: build, dimensions: [] }] },
    run: 'write',
  });
}
