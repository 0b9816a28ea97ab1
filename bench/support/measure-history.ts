/** (a) Events and bytes of a step, exactly as the server has them, in threads of 10, 100 and 1,000 messages. */
import { WORKFLOW_ID_PREFIX } from '../../src/core/thread/start-input.ts';
import { measureSteps } from './history.ts';
import { AGENTS, type AgentName } from './project.ts';
import { type Line, median } from './report.ts';
import type { Rig } from './rig.ts';

const STEPS = 20;
const SIZES = [10, 100, 1000] as const;
/**
 * Events of a step: an activity scheduled, started and completed, and three of the workflow task after it. Two steps of
 * quick tools are one activity.
 */
const EVENTS: Readonly<Record<AgentName, number>> = { once: 6, quick: 3.5, quick_once: 3.5 };
/** Most that a step's bytes may grow with the thread: event ids and step numbers gain digits, nothing else may grow. */
const GROWTH = 1.02;

export async function measureHistory(rig: Rig): Promise<Line[]> {
  const lines: Line[] = [];
  for (const agent of AGENTS) {
    let first = 0;
    for (const messages of SIZES) {
      const steps = await stepsAt(rig, agent, messages);
      const bytes = mean(steps.map((step) => step.bytes));
      const where = `${agent} tool, ${messages} messages`;
      first ||= bytes;
      lines.push(
        {
          what: `events per step, ${where}`,
          value: mean(steps.map(({ events }) => events)),
          unit: 'events',
          atMost: EVENTS[agent],
        },
        {
          what: `bytes per step, ${where}`,
          value: Math.round(bytes),
          unit: 'B',
          atMost: Math.round(first * GROWTH),
        },
        { what: `time per step, ${where}`, value: median(steps.map(({ ms }) => ms)), unit: 'ms' },
      );
    }
  }
  return lines;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

async function stepsAt({ client, store, turn, nextTurn }: Rig, agent: AgentName, messages: number) {
  const threadId = await turn(agent, 0);
  await client.waitForIdle(threadId);
  const { total } = await store.messages.list(threadId);
  for (let i = total; i < messages; i++) {
    const role = i % 2 === 0 ? 'user' : 'assistant';
    await store.messages.inject(threadId, {
      id: `m${i}`,
      role,
      content: `Message ${i}. ${'x'.repeat(200)}`,
      executionId: null,
    });
  }
  await nextTurn(threadId, STEPS);
  await client.waitForIdle(threadId);
  const steps = await measureSteps(client.temporal, WORKFLOW_ID_PREFIX + threadId);
  await client.terminate(threadId);
  // The first pair includes the thread's rest between the two turns.
  return steps.slice(1);
}
