/** (a) Events and bytes of a step, exactly as the server has them, in threads of 10, 100 and 1,000 messages. */
import { WORKFLOW_ID_PREFIX } from '../../src/core/thread/start-input.ts';
import { measureTurn } from './history.ts';
import { AGENTS, type AgentName } from './project.ts';
import type { Line } from './report.ts';
import type { Rig } from './rig.ts';

const STEPS = 20;
const SIZES = [10, 100, 1000] as const;
/** Most events of a step: those of a turn are one or two activities, and a timer, whatever its number of steps. */
const MAX_EVENTS: Readonly<Record<AgentName, number>> = { once: 1.5, quick: 0.8, quick_once: 0.8 };
/** Most that a step's bytes may grow with the thread: event ids and step numbers gain digits, nothing else may grow. */
const GROWTH = 1.02;

export async function measureHistory(rig: Rig): Promise<Line[]> {
  const lines: Line[] = [];
  for (const agent of AGENTS) {
    let first = 0;
    for (const messages of SIZES) {
      const { events, bytes, ms } = await stepAt(rig, agent, messages);
      const where = `${agent} tool, ${messages} messages`;
      first ||= bytes;
      lines.push(
        {
          what: `events per step, ${where}`,
          value: events,
          unit: 'events',
          atMost: MAX_EVENTS[agent],
        },
        {
          what: `bytes per step, ${where}`,
          value: Math.round(bytes),
          unit: 'B',
          atMost: Math.round(first * GROWTH),
        },
        { what: `time per step, ${where}`, value: ms, unit: 'ms' },
      );
    }
  }
  return lines;
}

async function stepAt({ client, store, turn, nextTurn }: Rig, agent: AgentName, messages: number) {
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
  const { historyLength: after } = await client.temporal.workflow
    .getHandle(WORKFLOW_ID_PREFIX + threadId)
    .describe();
  await nextTurn(threadId, STEPS);
  await client.waitForIdle(threadId);
  const step = await measureTurn(client.temporal, WORKFLOW_ID_PREFIX + threadId, { after, steps: STEPS });
  await client.terminate(threadId);
  return step;
}
