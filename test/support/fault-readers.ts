/**
 * The readers of the fault tests' project: threads of the agent `reader` make several calls in one answer, which run side
 * by side. `peek` runs as an activity of its own, `glance` within its step, `runner` is a subagent that peeks first. Each
 * body stands before and behind its line in the ledger until the test lets it go on.
 */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent, definePrompt, defineTool } from '../../src/definitions/index.ts';
import { callsMany, type ScriptStep } from '../../src/testing/index.ts';
import { eventually } from './eventually.ts';

/** The places of a body: it has begun, may write, has written, may end. */
type Place = 'begun' | 'enter' | 'wrote' | 'leave';

const mark = (folder: string, place: Place, line: string) => join(folder, `${place}-${line}`);
const set = (folder: string, place: Place, line: string) => writeFileSync(mark(folder, place, line), '');

function reading(folder: string, kind: { quick?: boolean; activity?: 'own' }) {
  const untilMarked = async (place: Place, line: string, signal: AbortSignal | undefined) => {
    while (!existsSync(mark(folder, place, line))) await delay(20, undefined, { signal });
  };
  return defineTool({
    description: 'reads a line',
    args: z.object({ line: z.string() }),
    parallel: true,
    idempotent: true,
    ...kind,
    execute: async ({ threadId, execution }, { line }) => {
      set(folder, 'begun', line);
      await untilMarked('enter', line, execution?.abortSignal);
      appendFileSync(join(folder, 'ledger'), `${threadId} ${line}\n`);
      set(folder, 'wrote', line);
      await untilMarked('leave', line, execution?.abortSignal);
      return { status: 'success', result: `read ${line}` };
    },
  });
}

export const readerTools = (folder: string) => ({
  peek: reading(folder, { activity: 'own' }),
  glance: reading(folder, { quick: true }),
});

export function readerAgents() {
  return [
    defineAgent({ name: 'reader', sideA: { prompt: 'reader_work' } }),
    defineAgent({
      name: 'runner',
      type: 'dual_ai',
      exposeAsTool: true,
      toolDescription: 'reads',
      sideA: { prompt: 'runner_work', sessionStop: { name: 'finish', messageProperty: 'line' } },
      sideB: { prompt: 'aide_check' },
    }),
  ];
}

/** `aide`: the system text of subagents. */
export function readerPrompts(aide: string) {
  const fields = { model: 'scripted', includeChat: true, includePastTools: true } as const;
  return [
    definePrompt({
      name: 'reader_work',
      toolDescription: 'reads',
      prompt: 'You read.',
      tools: ['peek', 'glance', { name: 'runner', parallel: true, initUserMessageProperty: 'line' }],
      ...fields,
    }),
    definePrompt({
      name: 'runner_work',
      toolDescription: 'runs',
      prompt: aide,
      requiredSchema: z.object({ line: z.string() }),
      tools: ['peek', 'write', 'jot', 'progress', 'finish'],
      ...fields,
    }),
  ];
}

/** `read <tool> <line>,<line>…` makes a call for each line in one answer; undefined for all other texts. */
export function leadReaders(text: string, results: number): ScriptStep | undefined {
  const [, name, lines] = /^read (\w+) (\S+)$/.exec(text) ?? [];
  if (name === undefined || results > 0) return undefined;
  return callsMany((lines as string).split(',').map((line) => ({ name, args: { line } })));
}

export interface Readers {
  /** Lets bodies write their lines; with `leave`, also end. */
  letEnter(...lines: string[]): void;
  letLeave(...lines: string[]): void;
  haveBegun(...lines: string[]): Promise<unknown>;
  haveWritten(...lines: string[]): Promise<unknown>;
}

export function readersOf({ folder }: { readonly folder: string }): Readers {
  const are =
    (place: Place) =>
    (...lines: string[]) =>
      eventually(`${lines.join(', ')}: ${place}`, async () =>
        lines.every((line) => existsSync(mark(folder, place, line))),
      );
  return {
    letEnter(...lines) {
      for (const line of lines) set(folder, 'enter', line);
    },
    letLeave(...lines) {
      for (const line of lines) set(folder, 'leave', line);
    },
    haveBegun: are('begun'),
    haveWritten: are('wrote'),
  };
}
