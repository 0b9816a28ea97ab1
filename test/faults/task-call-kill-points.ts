/**
 * A worker dies at each place between an agent's call of a task and its result: one task, which does its work once, and
 * one answer.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Doom, type DoomedCluster, type Manner, startDoomed } from '../support/doomed-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';

const doomOf = (point: DeathPoint): Doom => ({ content: 'use task__write 1', point });

const PLACES: [string, Doom][] = [
  ['before the task is made', doomOf('subagent_begun')],
  ['after the task was made, before its workflow starts', doomOf('subagent_created')],
  ['as the task begins to think', doomOf('task_thinking')],
  ['as the task would end', doomOf('task_ending')],
  ['after the task has ended, before its report is looked for', doomOf('task_ended')],
  ['before its report is delivered', doomOf('report_due')],
  ['after its report was delivered, before the thread hears of it', doomOf('report_delivered')],
  ['before the result of the call is stored', doomOf('subagent_reported')],
];

export function describeTaskCalls(manner: Manner): void {
  describe('a worker process killed with SIGKILL between an agent’s call of a task and its result', () => {
    let doomed: DoomedCluster;
    beforeAll(async () => {
      doomed = await startDoomed({ manner, dooms: PLACES.map(([, doom]) => doom) });
    });
    afterAll(() => doomed?.close());

    it.each(PLACES)('[TG-20] %s: one task, its acts once, one answer', async (_when, doom) => {
      const thread = await doomed.threadOf(doom);
      const { client, store, ledger } = doomed.cluster;
      await client.waitForIdle(thread);
      const made = await store.children.list(thread);
      expect(made).toHaveLength(1);
      const threadId = made[0]?.threadId ?? '';
      const taskId = threadId.slice('task/'.length);
      const { messages } = await client.getMessages(thread, { limit: 100 });
      expect(messages.map(({ role, content }) => [role, content])).toEqual([
        ['user', 'use task__write 1'],
        ['assistant', null],
        ['tool', expect.stringContaining(`"taskId":"${taskId}","status":"completed"`)],
        ['assistant', 'Answered "use task__write 1" after 1 tool results.'],
      ]);
      expect(ledger(taskId)).toEqual(['0', '1']);
      const kinds = async (id: string, ...named: string[]) =>
        (await store.events.read(id, 0, 1_000_000))
          .map(({ type }) => type)
          .filter((type) => named.includes(type));
      expect(await kinds(threadId, 'task.created', 'task.acted', 'task.ended')).toEqual([
        'task.created',
        'task.acted',
        'task.acted',
        'task.ended',
      ]);
      expect(await kinds(thread, 'subagent.created', 'subagent.returned', 'subagent.failed')).toEqual([
        'subagent.created',
        'subagent.returned',
      ]);
    });
  });
}
