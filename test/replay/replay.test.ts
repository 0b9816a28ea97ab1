/** Every recorded history replays with today's workflow, and so does one that was lived a moment ago. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { liveScenario } from './live.ts';
import '../once/replays.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

const FOLDER = new URL('./histories/', import.meta.url);
const recorded = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
/** The workflow reads its own id, so the replay must bear the one that the history was lived under. */
function replay(history: Awaited<ReturnType<typeof liveScenario>>[number]): Promise<void> {
  const workflowId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId ?? '';
  return Worker.runReplayHistory(options, history, workflowId);
}

function read(file: string, alter: (text: string) => string = (text) => text) {
  return historyFromJSON(JSON.parse(alter(readFileSync(new URL(file, FOLDER), 'utf8'))));
}

const options = { workflowBundle: { codePath: process.env.EVERTHREAD_TEST_BUNDLE as string } };

describe('replay', () => {
  it('keeps a recorded history of every scenario', () => {
    for (const name of Object.keys(SCENARIOS)) {
      expect(recorded.some((file) => file.startsWith(`thread-${name}-`))).toBe(true);
    }
  });

  it.each(recorded)('replays %s', async (file) => {
    await replay(read(file));
  });

  it.each([
    'tools',
    'subprompt',
    'handoff',
    'behind-a-step',
    'beyond-bounds',
    'stopped-and-terminated',
    'two-sides',
    'subagent-blocking',
    'subagent-parallel',
    'subagent-stopped',
  ])('replays %s right after living it', async (name) => {
    for (const history of await liveScenario(SCENARIOS[name] as Scenario)) {
      await replay(history);
      // Nothing in it depends on when a query or an overdue task came (docs/sdk-local-activities.md).
      const markers = history.events?.map((event) => event.markerRecordedEventAttributes?.markerName);
      expect(markers).not.toContain('core_local_activity');
    }
  });

  it("refuses a history that today's workflow would not have made", async () => {
    const file = recorded.find((name) => name.includes('conversation')) as string;
    const altered = read(file, (text) => text.replaceAll('"modelStep"', '"anotherStep"'));
    await expect(replay(altered)).rejects.toThrow(/TMPRL1100/);
  });
});
