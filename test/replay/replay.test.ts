/** Every recorded history replays with today's workflow, and so does one that was recorded a moment ago. */
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { liveScenario } from './live.ts';
import '../once/replays.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

const FOLDER = new URL('./histories/', import.meta.url);
const recorded = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));

type History = Awaited<ReturnType<typeof liveScenario>>[number];

const startOf = (history: History) => history.events?.[0]?.workflowExecutionStartedEventAttributes;
/** The workflow reads its own id, so the replay needs the id under which the history was recorded. */
const idOf = (history: History) => startOf(history)?.workflowId ?? '';

const replay = (history: History) => Worker.runReplayHistory(options, history, idOf(history));

function read(file: string, alter: (text: string) => string = (text) => text) {
  return historyFromJSON(JSON.parse(alter(readFileSync(new URL(file, FOLDER), 'utf8'))));
}

const options = { workflowBundle: { codePath: process.env.EVERTHREAD_TEST_BUNDLE as string } };

const runOf = (history: History) => startOf(history)?.originalExecutionRunId ?? '';

/**
 * One worker replays all histories, since creating one takes longer than a replay. Errors by run id; undefined for a
 * run that was replayed to its end.
 */
async function replayAll(histories: readonly History[]): Promise<Map<string, unknown>> {
  const all = histories.map((history) => ({ workflowId: idOf(history), history }));
  const errors = new Map<string, unknown>();
  for await (const { runId, error } of Worker.runReplayHistories(options, all)) errors.set(runId, error);
  return errors;
}

describe('the replay of recorded histories', () => {
  let errors: Map<string, unknown>;
  let runs: Map<string, string>;
  beforeAll(async () => {
    const histories = recorded.map((file) => [file, read(file)] as const);
    runs = new Map(histories.map(([file, history]) => [file, runOf(history)]));
    errors = await replayAll(histories.map(([, history]) => history));
  });

  it('covers every scenario', () => {
    for (const name of Object.keys(SCENARIOS)) {
      expect(recorded.some((file) => file.startsWith(`thread-${name}-`))).toBe(true);
    }
  });

  it.each(recorded)('[AX-102] replays %s', (file) => {
    const run = runs.get(file) as string;
    expect(errors.has(run)).toBe(true);
    if (errors.get(run)) throw errors.get(run);
  });

  it.each([
    'tools',
    'calls-become-short',
    'calls-within-a-step',
    'calls-within-a-subprompt',
    'subprompt',
    'handoff',
    'behind-a-step',
    'beyond-bounds',
    'stopped-and-terminated',
    'two-sides',
    'subagent-blocking',
    'subagent-parallel',
    'subagent-stopped',
    'starts-tasks',
    'approvals',
    'question-continued',
  ])('replays %s right after running it', async (name) => {
    const histories = await liveScenario(SCENARIOS[name] as Scenario);
    const errors = await replayAll(histories);
    expect([...errors.keys()].sort()).toEqual(histories.map(runOf).sort());
    for (const history of histories) {
      if (errors.get(runOf(history))) throw errors.get(runOf(history));
      // Nothing in the history depends on when a query or an overdue task came (docs/sdk-local-activities.md).
      const markers = history.events?.map((event) => event.markerRecordedEventAttributes?.markerName);
      expect(markers).not.toContain('core_local_activity');
    }
  });

  it("refuses a history that today's workflow would not produce", async () => {
    const file = recorded.find((name) => name.includes('conversation')) as string;
    const altered = read(file, (text) => text.replaceAll('"modelStep"', '"anotherStep"'));
    await expect(replay(altered)).rejects.toThrow(/TMPRL1100/);
  });
});
